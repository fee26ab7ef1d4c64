# Writes tests/testthat/fits-<version>.rds: fits of every kind by the installed package, with their
# predictions, log evidences and updates, so that each later version can be tested to read them and
# to answer the same. It is run when a version is released or FIT_FORMAT has counted on, and never
# again for an old version. At the top of the checkout:
#
#   Rscript tools/saved.R [VERSION]   VERSION: to come; without it that of the package
#
# The library to take the package from is R_LIBS, as ever.
library(sparsegp)

set.seed(20)
d <- data.frame(a = rnorm(24), b = rnorm(24))
d$y <- sin(2 * d$a) + d$b / 2 + 0.2 * rnorm(24)
d$v <- cos(d$a) + 0.2 * rnorm(24)
d$two <- factor(d$y + 0.5 * rnorm(24) > 0, labels = c("no", "yes"))
d$g <- cut(d$y, c(-Inf, -0.4, 0.4, Inf), c("low", "mid", "high"))
d$h <- rep(c("p", "q", "r"), 8)
d$o <- factor(rep(c("low", "mid", "high"), each = 8), c("low", "mid", "high"), ordered = TRUE)
d$n <- rpois(24, exp(d$a / 2))
d$bent <- mixture(c(0.7, 0.3), list(cbind(d$y, d$v), -cbind(d$y, d$v)), 0.05)
new <- data.frame(a = c(-0.9, 0.2, 1.6), b = c(2, -1.2, 1.6), h = c("p", "r", "q"),
                  o = c("low", "high", "mid"))
rows <- d[20:24, ]

many <- data.frame(a = 2 * sin(3 * seq_len(150)), b = cos(seq_len(150)^2 / 7))
many$y <- sin(2 * many$a) + many$b / 2

fit <- function(formula, ...) sparsegp(formula, d, ..., learn = FALSE)
field <- kernel_helmholtz()
source <- row_source(function(i) d[seq(8 * i - 7, 8 * i), ], chunks = 3)
fits <- list(
  full = fit(y ~ a + b, kernel = kernel_rbf(ard = TRUE) + kernel_constant()),
  basis = fit(y ~ a + b, lik_student(), basis = 1:8),
  two = fit(two ~ a), margin = fit(two ~ a + b, lik_margin(), basis = 1:6),
  classes = fit(g ~ a, lik_mprobit(), basis = 1:6), softmax = fit(g ~ a, lik_softmax()),
  own = fit(g ~ a, lik_mprobit(shared = FALSE), method = method_ivm(5)),
  rest = fit(g ~ a, basis = 1:5), ordered = fit(factor(g, ordered = TRUE) ~ a),
  counts = fit(n ~ a, lik_poisson(), method = method_ivm(6, refine = "none")),
  spread = fit(y ~ a, lik_heteroscedastic()),
  field = fit(cbind(y, v) ~ a + b, kernel = field, basis = 1:5),
  modes = fit(bent ~ a + b, kernel = field),
  stream = fit(y ~ a, method = method_online(6, pilot = 10)),
  waiting = fit(y ~ a, method = method_online(6, pilot = 100)),
  source = sparsegp(y ~ a, source, lik_laplace(), basis = d[1:5, ], learn = FALSE),
  levels = fit(y ~ a + h + o), contrasts = fit(y ~ a + h,
                                               control = gp_control(coding = "contrasts")),
  levels_basis = fit(two ~ a + h, basis = 1:8),
  levels_stream = fit(y ~ a + h + o, method = method_online(6, pilot = 10)),
  copies = fit(two ~ a + b, control = gp_control(augment = jitter_rows(0.1, 2, 1)),
               method = method_ivm(6)),
  logs = fit(y ~ exp(2 * a) + b, scale = "log", basis = 1:8),
  packed = sparsegp(y ~ a + b, many, basis = 1:130, learn = FALSE,
                    control = gp_control(keep_x = FALSE)),
  chosen = sparsegp(y ~ a + b, d), labels = sparsegp(two ~ a + b, d)
)
latent <- function(fit) unlist(predict(fit, new, type = "latent", se.fit = TRUE), use.names = FALSE)
evidence <- function(fit) {
  tryCatch(as.numeric(logLik(fit)), sparsegp_error = function(e) NA_real_)
}
# What takes more rows, after it has: its latent moments and log evidence.
updated <- function(fit) {
  tryCatch({
    more <- update(fit, rows)
    c(latent(more), evidence(more))
  }, sparsegp_error = function(e) NULL)
}
found <- list(fits = fits, new = new, rows = rows, latent = lapply(fits, latent),
              logLik = lapply(fits, evidence), updated = lapply(fits, updated))
version <- c(commandArgs(TRUE), as.character(utils::packageVersion("sparsegp")))[1L]
file <- file.path("tests", "testthat", paste0("fits-", version, ".rds"))
saveRDS(found, file, version = 2L, compress = "xz")
cat(file, ": ", length(fits), " fits, ", file.size(file), " bytes\n", sep = "")
