# mean = "constant" of labels, counts and positive numbers: the bias is integrated out.

r_code_alone()

refused <- function(expr, pattern) expect_error(expr, pattern, class = "sparsegp_error")

biased <- function(n = 30L) {
  set.seed(3)
  d <- data.frame(x = runif(n), e = runif(n) + 0.5)
  f <- 2 * sin(5 * d$x) + 1
  d$l <- factor(runif(n) < pnorm(f))
  d$k <- rpois(n, exp(f))
  d$g <- rgamma(n, 3, 3 / exp(f))
  d$p <- plogis(f + rnorm(n))
  d$s <- rbinom(n, 5, plogis(f))
  d
}

AT_MODE <- gp_control(integrate = "none")

NEW <- data.frame(x = c(0.1, 0.5, 4), e = 1)

# A constant part of the kernel is the same model where the bias is known.
expect_as_kernel <- function(formula, lik, sd, prior = NULL, centre = 0) {
  d <- biased()
  kernel <- kernel_rbf(fixed(2), fixed(1))
  one <- sparsegp(formula, d, lik(NULL), kernel, mean = "constant",
                  control = gp_control(integrate = "none", prior = prior))
  other <- sparsegp(formula, d, lik(fixed(centre)),
                    kernel + kernel_constant(variance = fixed(sd^2)), control = AT_MODE)
  # both end at the fixed point of EP, to 1e-6 of its sites' changes
  expect_equal(one$log_evidence, other$log_evidence, tolerance = 1e-7)
  expect_equal(loo_lpd(one), loo_lpd(other), tolerance = 1e-6)
  for (type in c("link", "response")) {
    expect_equal(predict(one, NEW, type = type, se.fit = type == "link"),
                 predict(other, NEW, type = type, se.fit = type == "link"), tolerance = 1e-6)
  }
  expect_identical(coef(one)[["bias"]], centre)
  expect_false(one$hyper$free[one$hyper$base == "bias"])
}

test_that("the bias integrated out is a constant with its prior", {
  slow_tier()
  expect_as_kernel(l ~ x, lik_probit, 5)
  expect_as_kernel(k ~ x + offset(log(e)), lik_poisson, 10, centre = -mean(log(biased()$e)))
  expect_as_kernel(g ~ x, function(bias) lik_gamma(bias, fixed(3)), 10,
                   centre = with(biased(), log(sum(g / max(g))) + log(max(g)) - log(length(g))))
  expect_as_kernel(cbind(s, 5 - s) ~ x, lik_binomial, 5)
  expect_as_kernel(p ~ x, function(bias) lik_beta(bias, fixed(3)), 5)
  expect_as_kernel(k ~ x, function(bias) lik_negbin(bias, fixed(3)), 2, centre = 1,
                   prior = list(bias = prior_normal(1, 2)))
})

test_that("predictions beyond the data carry the constant's uncertainty", {
  slow_tier()
  d <- biased()
  far <- data.frame(x = 10)
  sd_of <- function(...) {
    fit <- sparsegp(k ~ x, d, "poisson", "rbf", control = AT_MODE, ...)
    unname(predict(fit, far, type = "link", se.fit = TRUE)$se.fit)
  }
  fit <- sparsegp(k ~ x, d, "poisson", "rbf", mean = "constant", control = AT_MODE)
  at <- summary(fit)$mean
  expect_identical(rownames(at), "constant")
  expect_equal(sd_of(mean = "constant"), sqrt(coef(fit)[["variance"]] + at$se^2), tolerance = 1e-6)
  expect_gt(sd_of(mean = "constant"), 1.1 * sd_of())
  expect_equal(unname(predict(fit, far, type = "link")), at$estimate, tolerance = 1e-6)
  expect_output(print(fit), "bias, integrated out: .* \\(SE ")
})

test_that("fits with an integrated bias are saved, checked, updated and integrated", {
  slow_tier()
  d <- biased()
  on_basis <- sparsegp(k ~ x, d, "poisson", kernel_rbf(2, 0.3), mean = "constant", learn = FALSE,
                       basis = data.frame(x = seq(0, 1, 0.1)), control = gp_control(keep_x = TRUE))
  file <- tempfile(fileext = ".rds")
  on.exit(unlink(file))
  saveRDS(on_basis, file)
  again <- readRDS(file)
  expect_identical(predict(again, NEW), predict(on_basis, NEW))
  expect_identical(nobs(update(again, d[1:3, ])), 33L)
  again$posterior$trend$vague <- "no"
  refused(predict(again, NEW), "posterior")
  fit <- sparsegp(l ~ x, d, kernel = "rbf", mean = "constant",
                  control = gp_control(integrate = "ccd"))
  expect_identical(length(fit$ensemble$made$effects), 2L) # variance and length scale
  expect_true(all(is.finite(predict(fit, NEW, interval = "confidence"))))
})

test_that("a bias that cannot be integrated out is refused", {
  d <- biased()
  refused(sparsegp(l ~ x, d, lik_probit(fixed(0)), mean = "constant"), "is fixed.*\n.*`mean` out")
  refused(sparsegp(l ~ x, d, mean = "constant",
                   control = gp_control(prior = list(bias = prior_flat()))), "not normal")
  refused(sparsegp(cut(x, 3) ~ e, d, mean = "constant"), "one latent function")
  refused(sparsegp(l ~ x, d, mean = "constant", method = method_online(10)),
          "each observation once")
})
