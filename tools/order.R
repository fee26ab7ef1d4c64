# Attaches the package before and after others that have methods of the same generics, or functions
# of the same names: its methods have to be found, and its answers the same, either way. Run by
# tools/matrix; a difference fails. Packages that are not installed are left out.
#
#   Rscript tools/order.R

OTHERS <- c("broom", "caret", "generics", "ggplot2", "kernlab", "lmtest", "loo", "MASS", "Matrix",
            "mgcv", "randomForest", "ranger", "survival")

# Calls as a user writes them, without the name of a package.
ANSWERS <- alist(
  predict = predict(numbers, mtcars[1:3, ], interval = "prediction"),
  "predicted probabilities" = predict(classes, iris[c(1, 51, 101), ], type = "prob"),
  coef = coef(numbers), fitted = fitted(numbers), residuals = residuals(numbers),
  logLik = c(logLik(numbers)), vcov = vcov(numbers), confint = confint(numbers),
  simulate = simulate(numbers, 2L, seed = 1), terms = deparse(terms(numbers)),
  importance = importance(numbers), calibration = calibration(classes),
  loo = loo(numbers), anova = anova(numbers, linear), update = coef(update(numbers, mpg ~ wt)),
  plot = class(plot(numbers)), draws = draws(numbers, mtcars[1:2, ], 3L),
  print = utils::capture.output(print(numbers)), summary = utils::capture.output(summary(classes))
)

# Of each method that the package registers, the function that its generic would call.
methods_found <- function() {
  registered <- getNamespaceInfo("sparsegp", "S3methods")
  apply(registered, 1L, function(row) {
    from <- if (is.na(row[4L])) "sparsegp" else row[4L]
    if (!from %in% loadedNamespaces()) return("not loaded")
    method <- utils::getS3method(row[1L], row[2L], optional = TRUE, envir = asNamespace(from))
    if (is.null(method)) "missing" else environmentName(environment(method))
  })
}

# Answers to one call; an error is an answer, too.
answer_to <- function(call, fits) {
  tryCatch(eval(call, fits, globalenv()), error = function(e) paste("Error:", conditionMessage(e)))
}

# Run in an R of its own: attaches, asks, and saves what was found.
attach_and_ask <- function(packages, file) {
  for (package in packages) {
    suppressPackageStartupMessages(library(package, character.only = TRUE, warn.conflicts = FALSE))
  }
  set.seed(1)
  fits <- list(numbers = sparsegp(mpg ~ wt + hp, mtcars),
               linear = sparsegp(mpg ~ wt + hp, mtcars, kernel = kernel_linear()),
               classes = sparsegp(Species ~ Petal.Width, iris))
  grDevices::pdf(NULL)
  found <- list(methods = methods_found(), answers = lapply(ANSWERS, answer_to, fits),
                masks = conflicts(detail = TRUE)[["package:sparsegp"]])
  saveRDS(found, file)
}

in_new_session <- function(packages) {
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  status <- system2(file.path(R.home("bin"), "Rscript"),
                    c("--no-init-file", "tools/order.R", file, packages))
  if (status != 0L) stop("R ended with status ", status, " with ", toString(packages))
  readRDS(file)
}

# The names of what is wrong in one session, or differs between the two.
findings <- function(first, last) {
  registered <- loadNamespace("sparsegp")$.__NAMESPACE__.$S3methods
  names <- paste(registered[, 1L], registered[, 2L], sep = ".")
  bad <- function(found) !found$methods %in% c("sparsegp", "not loaded")
  differ <- !mapply(identical, first$answers, last$answers)
  errors <- vapply(first$answers, function(x) is.character(x) && any(grepl("^Error: ", x)), NA)
  c(sprintf("method %s is not found", names[bad(first) | bad(last)]),
    sprintf("%s() differs", names(ANSWERS)[differ]),
    sprintf("%s() fails: %s", names(ANSWERS)[errors], vapply(first$answers[errors], `[`, "", 1L)))
}

main <- function() {
  others <- Filter(function(x) requireNamespace(x, quietly = TRUE), OTHERS)
  if (!length(others)) stop("none of these packages is installed: ", toString(OTHERS))
  first <- in_new_session(c("sparsegp", others))
  last <- in_new_session(c(rev(others), "sparsegp"))
  wrong <- findings(first, last)
  writeLines(wrong)
  cat(length(others), "packages,", length(first$masks), "functions of the same names,",
      length(first$methods), "methods,", length(ANSWERS), "answers:", length(wrong), "wrong\n")
  quit(status = length(wrong) > 0L)
}

args <- commandArgs(TRUE)
if (length(args)) attach_and_ask(args[-1L], args[1L]) else main()
