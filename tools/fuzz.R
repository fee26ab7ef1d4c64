# Random cases of the public functions: rows of all shapes, types and scales, likelihoods, kernels
# and methods that fit them or not, and what is then asked of the fit, also after it was tampered
# with; saved fits and values that were changed inside their shapes (fuzz-saved.R). What comes of a
# case is a result, whose predictions are numbers, or a sparsegp_error; anything else is a finding:
# another error, a prediction that is none, a case that takes too long.
#
#   Rscript tools/fuzz.R CASES SEED [FIRST [FILE]]
#
# A case depends on the seed and its own number alone: with CASES and FIRST the same it is done by
# itself. The number of the case under way is written to FILE. Ends with status 1 where anything
# was found.
args <- commandArgs(TRUE)
library(sparsegp)
cases <- as.integer(args[1L])
seed <- as.integer(args[2L])
first <- if (length(args) > 2L) as.integer(args[3L]) else 1L
log <- if (length(args) > 3L) args[4L]

LONG <- 60 # seconds of a core that a case may take; the longest takes some 15

source(file.path("tools", "fuzz-saved.R")) # from the top of a checkout

# ---- Draws ----

# Only the one that is drawn is evaluated.
one_of <- function(...) ...elt(sample.int(...length(), 1L))

chance <- function(p) stats::runif(1) < p

# In some cases most of what is drawn fits nothing else; in the others all but few things do.
wild <- FALSE

# `usual`, but for wild cases and a few others: there what is drawn of the rest
mostly <- function(usual, ..., rate = 0.02) {
  if (chance(if (wild) 0.3 else rate)) one_of(...) else usual
}

scale_of_numbers <- function() if (chance(0.7)) 1 else 10^stats::runif(1, -9, 9)

# Numbers, now and then with what is no number, all the same, or in jumps
numbers <- function(n) {
  x <- switch(sample.int(5L, 1L), stats::rnorm(n), stats::runif(n), stats::rcauchy(n), rep(1, n),
              sample(-2:2, n, TRUE))
  x <- x * scale_of_numbers() + if (chance(0.1)) 10^stats::runif(1, 0, 12) else 0
  if (n > 0L) x[sample.int(n, 1L)] <- mostly(x[n], NA, Inf, -Inf, NaN, 1e300)
  x
}

column <- function(n) {
  if (chance(0.03)) return(odd_column(n))
  x <- switch(sample.int(8L, 1L), factor(sample(letters[1:3], n, TRUE)),
              sample(c("u", "v"), n, TRUE), stats::runif(n) < 0.5,
              as.Date("2020-01-01") + sample.int(99L, n, TRUE))
  if (is.null(x)) numbers(n) else x
}

# Columns of classes that are seldom met
odd_column <- function(n) {
  switch(sample.int(6L, 1L), structure(stats::runif(n), class = "integer64"),
         as.POSIXct("2020-01-01", tz = "UTC") + seq_len(n) * 3600, as.list(stats::rnorm(n)),
         complex(n, 1, 1), as.raw(sample.int(9L, n, TRUE)),
         as.difftime(stats::runif(n), units = "hours"))
}

inputs <- function(n, D) {
  d <- data.frame(row.names = seq_len(n))
  names <- if (chance(0.05)) c("a b", "if", "1x", "a`b") else c("a", "b", "c", "d")
  for (name in names[seq_len(D)]) d[[name]] <- column(n)
  d
}

# The rows of a case, in chunks
source_of <- function(case, count = one_of(1L, 3L)) {
  n <- nrow(case$rows)
  part <- rep_len(seq_len(count), n)
  row_source(function(i) case$rows[part == i, , drop = FALSE], chunks = count)
}

labels_of <- function(n) {
  k <- one_of(1L, 2L, 2L, 3L, 3L, 6L)
  y <- factor(sample(LETTERS[seq_len(k)], n, TRUE), LETTERS[seq_len(k)])
  if (n > 0L && chance(0.1)) y[sample.int(n, 1L)] <- NA
  one_of(y, y, y, as.character(y), factor(y, ordered = TRUE))
}

response <- function(n) {
  switch(sample.int(7L, 1L), numbers(n), numbers(n), labels_of(n), labels_of(n),
         stats::rpois(n, 10^stats::runif(1, -1, 4)), stats::runif(n) < stats::runif(1),
         matrix(numbers(2L * n), n))
}

value <- function() {
  mostly(one_of(NULL, NULL, exp(stats::rnorm(1)), fixed(exp(stats::rnorm(1)))),
         -1, 0, NA, "x", c(1, 2), 1e-30, 1e30)
}

likelihood_of_labels <- function(y) {
  count <- nlevels(factor(y))
  if (is.ordered(y)) one_of(NULL, lik_ordinal(), lik_ordinal(value()), lik_probit(), lik_mprobit())
  else if (count > 2L) one_of(NULL, lik_mprobit(), lik_softmax(), lik_mprobit(shared = FALSE),
                              "probit", lik_squares())
  else one_of(NULL, "probit", lik_probit(flip = mostly(0.1, value())), lik_logit(),
              lik_mackay(fixed(0)), lik_flip(), lik_step(), lik_nullcat(), stats::binomial(),
              lik_softmax(), lik_squares(noise = value()))
}

likelihood_of_numbers <- function(y) {
  if (is.matrix(y)) one_of(NULL, lik_gaussian(), lik_gaussian(covariance = "full"))
  else if (is.integer(y)) one_of(NULL, lik_poisson(), lik_negbin(), "poisson", stats::poisson())
  else one_of(NULL, lik_gaussian(variance = value()), lik_laplace(), lik_student(),
              lik_student(df = value()))
}

likelihood <- function(y) {
  labels <- is.factor(y) || is.character(y) || is.logical(y)
  mostly(if (labels) likelihood_of_labels(y) else likelihood_of_numbers(y),
         "nothing", 7, lik_poisson(), lik_binomial(), lik_density(), lik_mixture(), lik_softmax(),
         lik_nullcat(), lik_ordinal(), lik_step(), lik_gaussian(covariance = "full"))
}

leaf <- function() {
  vars <- mostly(one_of(NULL, NULL, "a"), c("a", "b"), "none", 1)
  one_of(kernel_rbf(value(), value(), ard = chance(0.5), vars = vars), kernel_matern12(vars = vars),
         kernel_matern32(ard = TRUE), kernel_matern52(value()), kernel_rq(), kernel_linear(value()),
         kernel_poly(mostly(one_of(1, 2, 3), 0, 2.5)), kernel_constant(),
         kernel_periodic(vars = vars, period = value()),
         mostly(kernel_rbf(), kernel_factor(vars), kernel_trig(one_of(0, 3, 20))))
}

kernel <- function() {
  mostly(switch(sample.int(5L, 1L), NULL, NULL, leaf(), leaf() + leaf(), leaf() * leaf()),
         "rbf", "none", 3, kernel_divfree(), kernel_coregion())
}

# A kernel of a process of one input that is Markov, and what fits by it
markov_kernel <- function() {
  part <- function() {
    one_of(kernel_matern12(value()), kernel_matern32(), kernel_matern52(lengthscale = value()),
           kernel_linear(), kernel_poly(2), kernel_trig(2), kernel_periodic(period = value()))
  }
  mostly(one_of(part(), part() + part(), part() + kernel_constant(),
                kernel_matern32() * kernel_periodic(), part() * kernel_linear()),
         part() * part(), kernel_rbf())
}

markov_method <- function() {
  method_markov(sweeps = one_of(20, 200), mixing = one_of(0, 3),
                window = mostly(one_of(NULL, 1, 3, 20), 0))
}

method <- function() {
  size <- mostly(one_of(1, 2, 5, 20), 1000, 0, NA)
  sweeps <- one_of(1, 20, 200)
  mostly(one_of(NULL, NULL, method_ep(sweeps = sweeps), method_ep(damping = 0.5, mixing = 0),
                method_ep(size, projection = one_of("moment", "kl"),
                          score = one_of("kl", "mean", "error")),
                method_ep(pool = 1, starts = mostly(NULL, 2)),
                method_ivm(size, select = one_of("information", "entropy", "random"),
                           refine = one_of("basis", "active", "none"), exchange = one_of(0, 3)),
                method_online(size, pilot = one_of(1, 5, 50, 500),
                              order = one_of("given", "random"))),
         "ep", 5, method_ep(damping = 0.01))
}

learning <- function() {
  if (chance(0.8)) return(FALSE)
  mostly(one_of(learn_control(inner = 2, outer = 1),
                learn_control(inner = 2, outer = 1, restarts = 1)),
         NA, TRUE, learn_control("ivm", inner = 2, outer = 1))
}

basis_for <- function(n) {
  mostly(one_of(NULL, NULL, seq_len(min(n, 4L))), c(1, 1), -1, n + 5, 10, matrix(numbers(4), 2))
}

# Copies of rows of D inputs, or what is none
copying <- function(D) {
  mostly(one_of(jitter_rows(10^stats::runif(1, -3, 1), one_of(1, 4)), shift_images(1, max(D, 2)),
                shift_images(D, 1 + (D == 1), directions = 8), function(rows) -rows,
                function(rows) structure(rows[1L, , drop = FALSE], row = 1L)),
         "x", function(rows) NULL, function(rows) stop("no"), function(rows) rows[0L, ],
         function(rows) replace(rows, 1L, NA), function(rows) rows, jitter_rows(1e300))
}

# ---- A case ----

fitted_case <- function() {
  n <- mostly(one_of(5L, 8L, 15L, 30L, 60L), 0L, 1L, 2L, 3L)
  series <- chance(0.15)
  D <- if (series) mostly(1L, 2L) else one_of(1L, 1L, 2L, 3L)
  d <- if (series) data.frame(a = numbers(n), b = numbers(n))[seq_len(D)] else inputs(n, D)
  y <- response(n)
  weights <- mostly(NULL, abs(numbers(n)), stats::runif(n))
  with_y <- d
  with_y$y <- y
  by_matrix <- chance(0.3) && all(vapply(d, is.numeric, NA))
  arguments <- list(likelihood = likelihood(y), kernel = kernel(), method = method(),
                    learn = learning(), basis = basis_for(n))
  if (series) {
    arguments[c("kernel", "method")] <- list(markov_kernel(), markov_method())
    arguments["basis"] <- mostly(list(NULL), list(1:2))
  }
  settings <- list(effort = mostly("normal", "low", "high", "x", NA))
  settings$prior <- mostly(NULL, list(lengthscale = prior_gamma(2, 1)), 3, list(no = 1))
  settings$augment <- if (chance(0.15)) copying(D)
  arguments$control <- do.call(gp_control, settings)
  arguments$scale <- mostly(NULL, TRUE, FALSE, "common", "x")
  if (!is.null(weights)) arguments$weights <- weights
  fit <- if (by_matrix) do.call(sparsegp, c(list(as.matrix(d), y), arguments))
         else do.call(sparsegp, c(list(y ~ ., with_y), arguments))
  list(fit = fit, x = d, rows = with_y, by_matrix = by_matrix)
}

# Numbers of rows drawn anew; of none, where there are none
rows_of <- function(case, count) {
  n <- nrow(case$x)
  sample.int(n, if (n > 0L) count else 0L, TRUE)
}

new_rows <- function(case) {
  at <- rows_of(case, one_of(0L, 1L, 3L, 9L))
  new <- if (chance(if (wild) 0.5 else 0.95)) case$x[at, , drop = FALSE]
         else inputs(one_of(0L, 1L, 4L), ncol(case$x))
  if (case$by_matrix) as.matrix(new) else new
}

prediction <- function(case) {
  new <- new_rows(case)
  type <- one_of("response", "response", "link", "latent",
                 mostly("response", "median", "prob", "class", "terms", "x", rate = 0.5))
  p <- predict(case$fit, new, type = type, se.fit = chance(0.2),
               interval = mostly("none", "confidence", "prediction", rate = 0.2),
               level = mostly(0.95, 0.5, 1, 0), reject = mostly(0, 0.6),
               covariance = mostly(FALSE, TRUE))
  asked <- is.data.frame(new) && stats::complete.cases(new) || !anyNA(new)
  list(value = p, rows = nrow(new), whole = all(asked))
}

# Are these predictions?
flaw_of_prediction <- function(p) {
  value <- p$value
  if (is.list(value) && !is.data.frame(value)) value <- value[[1L]]
  count <- NROW(value)
  if (count != p$rows) return(paste(count, "predictions for", p$rows, "rows"))
  if (p$whole && is.numeric(value) && any(is.nan(value))) return("a prediction that is no number")
}

count_asked <- function() mostly(1, 2, 5, 0, 1000, NA, rate = 0.4)

score_of_rows <- function() {
  mostly("information", "variance", "entropy", "improvement", "x", rate = 0.7)
}

# Which of the rows there are: a flaw of a choice among `rows`, whose gains are numbers
flaw_of_choice <- function(chosen, rows) {
  if (anyDuplicated(chosen) || !all(chosen %in% seq_len(rows))) return("rows that there are not")
  if (anyNA(attr(chosen, "gain"))) return("a gain that is no number")
  utils::capture.output(print(chosen))
  NULL
}

chosen_rows <- function(case) {
  new <- new_rows(case)
  n <- nrow(new)
  chosen <- next_rows(case$fit, new, count_asked(), score_of_rows(),
                      cost = mostly(NULL, stats::rexp(n), numbers(n)),
                      allowed = mostly(NULL, stats::runif(n) < 0.8, rep(NA, n), "x"),
                      goal = one_of("min", "max"), best = mostly(NULL, numbers(1), "x"))
  flaw_of_choice(chosen, n)
}

# The box of the rows, or another
box_of <- function(case) {
  box <- lapply(case$x, function(x) if (is.numeric(x)) range(x[is.finite(x)]) else unique(x))
  box <- mostly(box, lapply(box, rev), box[-1L], unname(box), list(a = c(0, Inf)), 1:3)
  if (case$by_matrix && chance(0.5)) do.call(cbind, box) else box
}

chosen_points <- function(case) {
  points <- next_points(case$fit, box_of(case), one_of(1, 2), score_of_rows(), n = one_of(3, 20),
                        goal = one_of("min", "max"))
  if (anyNA(points) || anyNA(attr(points, "gain"))) "a point that is none"
}

# Twice, the second time with what the first returned
asked_rows <- function(case) {
  budget <- mostly(0.3, 0.01, 1, 5, 0, NA, rate = 0.4)
  rows <- mostly(NULL, 10, 0, rate = 0.3)
  score <- score_of_rows()
  asked <- NULL
  for (time in 1:2) {
    new <- new_rows(case)
    asked <- ask(case$fit, new, budget, rows, mostly(asked, TRUE), score)
    if (length(asked) != nrow(new) || anyNA(asked)) return("rows neither asked for nor not")
  }
}

USES <- list(
  predict = function(case) flaw_of_prediction(prediction(case)),
  predict = function(case) flaw_of_prediction(prediction(case)),
  print = function(case) utils::capture.output(print(case$fit), print(summary(case$fit))),
  accessors = function(case) {
    list(coef(case$fit), logLik(case$fit), nobs(case$fit), formula(case$fit), sites(case$fit))
  },
  loo = function(case) loo(case$fit),
  residuals = function(case) residuals(case$fit, one_of("response", "pearson", "quantile", "x")),
  simulate = function(case) simulate(case$fit, one_of(1, 3, 0)),
  draws = function(case) draws(case$fit, new_rows(case), n = one_of(1, 2)),
  update = function(case) {
    at <- rows_of(case, one_of(1L, 2L, 5L))
    if (case$by_matrix) update(case$fit, as.matrix(case$x)[at, , drop = FALSE], case$rows$y[at])
    else update(case$fit, case$rows[at, ])
  },
  merge = function(case) merge(case$fit, case$fit),
  merge = function(case) {
    other <- sparsegp(control = gp_control(like = case$fit), data = case$rows[rows_of(case, 9L), ])
    merge(case$fit, other, onto = one_of("x", "both"))
  },
  chunks = function(case) predict(case$fit, source_of(case)),
  feed = function(case) update(case$fit, source_of(case)),
  resume = function(case) {
    file <- tempfile()
    on.exit(unlink(file, recursive = TRUE))
    for (time in 1:2) update(case$fit, source_of(case, 2L), checkpoint = file)
  },
  plot = function(case) drawn(case$fit),
  like = function(case) sparsegp(control = gp_control(like = case$fit), data = case$rows),
  kl = function(case) kl(case$fit, case$fit),
  next_rows = chosen_rows, next_points = chosen_points, ask = asked_rows,
  file = function(case) {
    back <- unserialize(serialize(case$fit, NULL))
    if (!identical(unclass(back)$posterior, unclass(case$fit)$posterior)) "changed in a file"
  }
)

# Those that say what is wrong with an answer
CHECKED <- c("predict", "file", "next_rows", "next_points", "ask")

# A number, name, shape or kind somewhere in what a fit is made of, changed
tampered <- function(x, depth = 0L) {
  inner <- is.list(x) && length(x) > 0L && (depth == 0L || chance(0.7))
  if (inner) {
    at <- sample.int(length(x), 1L)
    changed <- tampered(unclass(x)[[at]], depth + 1L)
    kind <- attributes(x)
    x <- unclass(x)
    x[at] <- list(changed)
    attributes(x) <- kind
    return(x)
  }
  one_of(NULL, NA, "x", -1, 1e9, integer(0), list(), x[-1L], rep(x, 2), as.character(x),
         suppressWarnings(-as.numeric(unlist(x))), t(as.matrix(unlist(x))), function() 1,
         quote(a + b))
}

# A fit that nobody has touched is not damaged.
flaw_of_refusal <- function(e) {
  if (grepl("is damaged", conditionMessage(e))) structure(conditionMessage(e), class = "refusal")
}

run_case <- function() {
  kind <- stats::runif(1)
  if (kind < 0.4) return(damaged_fit_case())
  if (kind < 0.5) return(damaged_value_case())
  wild <<- chance(0.3)
  case <- fitted_case()
  fits <<- fits + 1L
  if (chance(0.3)) {
    changed <- tryCatch(tampered(case$fit), error = function(e) NULL)
    if (!is.null(changed)) case$fit <- changed
    uses <- c("predict", "draws", "update", "merge", "like", "kl", "next_rows")
    use <- sample(which(names(USES) %in% uses), 1L)
    tryCatch(USES[[use]](case), sparsegp_error = function(e) NULL)
    return(NULL) # numbers that are others make other answers
  }
  for (use in sample(length(USES), 3L)) {
    flaw <- tryCatch(USES[[use]](case), sparsegp_error = flaw_of_refusal)
    found <- inherits(flaw, "refusal") || is.character(flaw) && names(USES)[use] %in% CHECKED
    if (found) return(flaw)
  }
}

# What was found in a case, in words, or NULL.
finding <- function(number) {
  set.seed(seed)
  set.seed(sample.int(.Machine$integer.max, 1L) %/% 2L + number)
  begin <- proc.time()[[1L]]
  said <- tryCatch({
    setTimeLimit(cpu = LONG, transient = TRUE)
    suppressMessages(suppressWarnings(run_case()))
  }, sparsegp_error = function(e) NULL, error = function(e) {
    where <- paste(deparse(conditionCall(e), nlines = 1L), collapse = "")
    paste0(class(e)[1L], ": ", conditionMessage(e), " in ", substr(where, 1L, 120L))
  })
  setTimeLimit()
  took <- proc.time()[[1L]] - begin
  if (is.character(said)) as.character(said)
  else if (took > LONG) paste("took", round(took), "seconds")
}

found <- fits <- 0L
for (number in seq.int(first, cases)) {
  if (!is.null(log)) writeLines(as.character(number), log)
  said <- finding(number)
  if (is.null(said)) next
  found <- found + 1L
  cat("case ", number, ": ", said, "\n", sep = "")
}
cat("fuzz: ", cases - first + 1L, " cases of seed ", seed, ", ", fits, " of them fits, ", found,
    " findings\n", sep = "")
quit(status = found > 0L)
