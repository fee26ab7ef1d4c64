# What predict() offers for each kind of response (response-offers.R): what the table has is
# answered, and all else refused in words that name the argument.

r_code_alone()

ASKED <- list(se.fit = list(se.fit = TRUE), confidence = list(interval = "confidence"),
               prediction = list(interval = "prediction"), covariance = list(covariance = TRUE))

# A function for each kind of response, that fits it
KINDS <- local({
  set.seed(1)
  d <- data.frame(x = seq(0, 3, length.out = 24))
  d$number <- sin(d$x) + rnorm(24) / 9
  d$count <- rpois(24, 3)
  d$amount <- exp(d$number)
  d$part <- stats::plogis(d$number)
  d$label <- d$number > 0.4
  d$class <- factor(rep(c("a", "b", "c"), each = 8))
  d$rank <- factor(rep(c("a", "b", "c"), each = 8), ordered = TRUE)
  d$other <- cos(d$x) + rnorm(24) / 9
  d$either <- mixture(c(0.6, 0.4), list(cbind(d$number, d$other), -cbind(d$number, d$other)), 0.01)
  fit <- function(formula, ...) function() sparsegp(formula, d, learn = FALSE, ...)
  list(numbers = fit(number ~ x), counts = fit(count ~ x, likelihood = "poisson"),
       positive = fit(amount ~ x, likelihood = "gamma"),
       proportions = fit(part ~ x, likelihood = "beta"),
       trials = fit(cbind(count, 9 - count) ~ x), labels = fit(label ~ x),
       classes = fit(class ~ x, likelihood = lik_mprobit(coupled = FALSE)),
       coupled = fit(class ~ x), rest = fit(class ~ x, likelihood = "probit"),
       ordered = fit(rank ~ x),
       classes.ordered = fit(rank ~ x, likelihood = lik_mprobit(coupled = FALSE)),
       coupled.ordered = fit(rank ~ x, likelihood = "mprobit"),
       rest.ordered = fit(rank ~ x, likelihood = "probit"),
       vectors = fit(cbind(number, other) ~ x), mixtures = fit(either ~ x),
       spreads = fit(number ~ x, likelihood = "heteroscedastic"))
})

# The fit of a kind, made once
fit_of_kind <- local({
  made <- list()
  function(kind) {
    if (is.null(made[[kind]])) made[[kind]] <<- KINDS[[kind]]()
    made[[kind]]
  }
})

# Medians of several classes are simulated, which takes seconds.
kinds_of_tier <- function() {
  if (whole_suite()) return(names(KINDS))
  c("numbers", "labels", "ordered")
}

test_that("predict() answers what a kind of response offers, and refuses all else by name", {
  for (kind in kinds_of_tier()) {
    fit <- fit_of_kind(kind)
    codec <- codec_of(fit)
    expect_identical(codec$name, kind)
    expect_s3_class(codec, paste0("response_", kind))
    for (type in TYPES) {
      asked <- list(fit, type = type)
      offered <- codec$offers[[type]]
      if (is.null(offered)) {
        expect_error(do.call(predict, asked), "`type`", class = "sparsegp_error")
        next
      }
      expect_silent(do.call(predict, asked))
      for (extra in names(ASKED)) {
        more <- c(asked, ASKED[[extra]])
        label <- paste(kind, type, extra)
        if (extra %in% offered) expect_no_error(do.call(predict, more))
        else expect_error(do.call(predict, more), paste0("`", names(ASKED[[extra]]), "`"),
                          class = "sparsegp_error", label = label)
      }
    }
  }
})

test_that("a refusal says what to ask for instead", {
  slow_tier()
  refusal <- function(kind, ...) {
    conditionMessage(expect_error(predict(fit_of_kind(kind), ...), class = "sparsegp_error"))
  }
  expect_match(refusal("numbers", type = "prob"), "not defined for a response of numbers")
  expect_match(refusal("labels", interval = "prediction"), "Use interval = \"confidence\"")
  expect_match(refusal("classes", se.fit = TRUE), "Use type = \"link\", \"latent\" or \"terms\"")
  expect_match(refusal("numbers", type = "terms", interval = "confidence"), "Use se.fit = TRUE")
  expect_match(refusal("counts", covariance = TRUE), "Use type = \"link\" or \"latent\"")
  expect_match(refusal("classes", interval = "confidence"), "type = \"prob\"")
  expect_match(refusal("labels", type = "prob", interval = "prediction"), "type = \"prob\" alone")
  for (kind in c("vectors", "spreads")) expect_no_match(refusal(kind, type = "zero"), "slope")
})

test_that("the kind of a response is a class of its codec, from which its answers follow", {
  slow_tier()
  for (name in names(REGISTRY$codecs)) {
    codec <- codec_named(name)
    expect_identical(codec$name, name)
    expect_identical(class(codec)[c(1L, length(class(codec)))],
                     c(paste0("response_", name), "response"))
    expect_true(all(names(codec$offers) %in% c(TYPES, "slope")), label = name)
    expect_true(all(unlist(codec$offers) %in% names(EXTRAS)), label = name)
  }
})
