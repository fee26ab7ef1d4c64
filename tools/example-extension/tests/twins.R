# The kernel and the likelihood of this package have twins in sparsegp: fits have to be the same.
if (!requireNamespace("sparsegp", quietly = TRUE)) quit()
library(sparsegp)

set.seed(1)
rows <- data.frame(a = rnorm(80), b = rnorm(80))
rows$y <- sin(2 * rows$a) + rows$b + 0.1 * rt(80, 3)
package <- "sparsegpexample"

same <- function(one, other, tolerance) {
  difference <- max(abs(one - other))
  if (!(difference <= tolerance)) stop("twins differ by ", signif(difference, 3))
}
error_of <- function(expr) tryCatch(expr, sparsegp_error = conditionMessage)

# The kernel has the same formula: the same numbers.
for (ard in c(FALSE, TRUE)) {
  for (method in list(method_ep(), method_ep(size = 20))) {
    twin <- sparsegp(y ~ a + b, rows, kernel = kernel_rq(ard = ard), method = method)
    own <- sparsegp(y ~ a + b, rows, kernel = kernel_extension(package, "rq", ard = ard),
                    method = method)
    same(coef(own), coef(twin), 1e-10)
    same(predict(own, rows), predict(twin, rows), 1e-10)
  }
}

# The likelihood has another log gamma function, correct to 1e-12.
student <- function(...) {
  lik_extension(package, "student", start = c(scale = 0.2, df = 5), range = list(df = c(2, Inf)),
                unit = c(scale = 1), ...)
}
given <- list(scale = 0.3, df = fixed(4))
for (method in list(method_ep(), method_ep(size = 20), method_online(size = 20))) {
  fit_by <- function(likelihood) {
    sparsegp(y ~ a + b, rows, likelihood, kernel_rbf(lengthscale = 1), method = method,
             learn = FALSE)
  }
  twin <- fit_by(lik_student(scale = 0.3, df = fixed(4)))
  own <- fit_by(student(theta = given))
  same(logLik(own), logLik(twin), 1e-9)
  same(predict(own, rows), predict(twin, rows), 1e-9)
  # quantiles: the trapezoidal rule of the example is correct to some 1e-6
  same(predict(own, rows[1:3, ], interval = "prediction"),
       predict(twin, rows[1:3, ], interval = "prediction"), 1e-4)
}
learned <- sparsegp(y ~ a + b, rows, student(), kernel_extension(package, "rq"))
stopifnot(learned$learning$converged, is.finite(logLik(learned)))

# A saved fit has names, and finds the package again in a session that has not loaded it.
file <- tempfile(fileext = ".rds")
saveRDS(list(fit = learned, expected = predict(learned, rows), rows = rows), file)
code <- paste0("library(sparsegp); s <- readRDS('", file, "'); stopifnot(!isNamespaceLoaded('",
               package, "'), identical(predict(s$fit, s$rows), s$expected))")
status <- system2(file.path(R.home("bin"), "Rscript"), c("-e", shQuote(code)))
stopifnot(status == 0L)

# Errors name what is wrong. A package that does not link to sparsegp is not loaded, not even by a
# saved fit, and of one that does nothing is called whose name is without the prefix.
stopifnot(
  grepl("has not registered", error_of(kernel_extension(package, "none"))),
  grepl("has not registered", error_of(kernel_extension(package, "fatal"))),
  grepl("built for another version", error_of(kernel_extension(package, "later"))),
  grepl("no sparsegp_kernel or", error_of(kernel_extension(package, "foreign"))),
  grepl("no sparsegp_kernel or", error_of(kernel_extension(package, "nothing"))),
  grepl("not a complete kernel", error_of(kernel_extension(package, "half"))),
  grepl("not a complete kernel", error_of(kernel_extension(package, "student"))),
  grepl("not a complete likelihood", error_of(lik_extension(package, "many"))),
  grepl("has 1 value", error_of(lik_extension(package, "student", start = c(scale = 1)))),
  grepl("cannot be loaded", error_of(kernel_extension("noSuchPackage", "rq"))),
  grepl("does not link", error_of(kernel_extension("splines", "rq"))),
  !isNamespaceLoaded("splines")
)
attacked <- function(package, name) {
  fit <- sparsegp(y ~ a, rows, kernel = kernel_extension("sparsegpexample", "rq"), learn = FALSE)
  fit$kernel$extension <- fit$spec$extension <- c(package = package, name = name)
  error_of(predict(fit, rows))
}
stopifnot(
  grepl("does not link", attacked("splines", "spline_basis")), !isNamespaceLoaded("splines"),
  grepl("has not registered", attacked(package, "fatal")),
  grepl("not a complete kernel", attacked(package, "half")),
  grepl("built for another version", attacked(package, "later")),
  grepl("no sparsegp_kernel or", attacked(package, "nothing")),
  grepl("is damaged", attacked("../sparsegpexample", "rq")),
  grepl("is damaged", attacked(package, "rq\n"))
)
cat("extension: the example package equals its twins\n")
