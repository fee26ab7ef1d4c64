# Random rows, marginals and hyperparameters, of all sizes that numbers have, for every likelihood
# of the catalogue: no NaN, no crash, no loop without end. The suite takes 500 for each (100 of
# classes, whose integrals take longest), its quick tier a fifth of that; SPARSEGP_FUZZ=100000 in
# the environment asks for more.

fuzz_count <- function(lik) {
  asked <- Sys.getenv("SPARSEGP_FUZZ")
  if (nzchar(asked)) return(as.integer(asked))
  (if (lik_traits(lik)$response == "classes") 100L else 500L) %/% (if (whole_suite()) 1L else 5L)
}

PER_BLOCK <- 25L # under one theta

# n numbers: half of moderate size, then wide ones, then some of `special`
some_of <- function(n, moderate, wide, special) {
  kind <- stats::runif(n)
  ifelse(kind < 0.5, moderate(n), ifelse(kind < 0.9, wide(n), sample(special, n, TRUE)))
}

# Latent values and biases, and variances. absurd: as far out as doubles go.
some_latents <- function(n, absurd) {
  far <- c(1e100, -1e100, 1e150, -1e150)
  some_of(n, function(n) stats::rnorm(n, sd = 3),
          function(n) sample(c(-1, 1), n, TRUE) * 10^stats::runif(n, -10, 8),
          c(0, -1e-300, if (absurd) far))
}

some_variances <- function(n, absurd) {
  some_of(n, stats::rexp, function(n) 10^stats::runif(n, -14, 9),
          c(0, 1e-300, 1e-200, if (absurd) c(1e100, 1e300)))
}

# On C's scale; what constructors accept are logarithms up to 690, what learning reaches is less.
some_theta <- function(lik, latents, absurd) {
  one <- function(about) {
    if (!about$log) return(some_latents(1L, absurd))
    some_of(1L, function(n) stats::rnorm(n, sd = 2), function(n) stats::runif(n, -30, 30),
            if (absurd) c(-690, -100, 100, 690) else c(-20, 20))
  }
  abouts <- lik_traits(lik)$about[names(lik$params)]
  as.double(unlist(lapply(seq_len(latents), function(class) lapply(abouts, one))))
}

# Responses that are drawn, and what else the likelihood calls legal.
some_rows <- function(lik, n, theta, latents) {
  traits <- lik_traits(lik)
  if (traits$response == "classes") return(traits$data_rows(sample(latents, n, TRUE), NULL))
  value <- natural_values(lik, pmax(pmin(theta, 3), -3))
  weights <- if (traits$weighted) ceiling(10^stats::runif(n, 0, 6)) else rep(1, n)
  y <- traits$draw(stats::rnorm(n, sd = 3), value, weights)
  if (!lik_codec(lik)$labelled && !inherits(lik_codec(lik), "response_times")) {
    other <- some_of(n, function(n) 0 * n, function(n) round(10^stats::runif(n, 0, 12)),
                     c(0, 1, 1e15, 1e-3, -1e8))
    legal <- function(y, weights) is.null(lik_codec(lik)$refuse(y, weights))
    taken <- stats::runif(n) < 0.3 & mapply(legal, other, weights)
    y[taken] <- other[taken]
  }
  traits$data_rows(y, weights)
}

fuzz_block <- function(lik, absurd, n = PER_BLOCK) {
  latents <- if (lik_traits(lik)$response == "classes") sample(2:4, 1L) else 1L
  theta <- some_theta(lik, latents, absurd)
  list(type = lik["type"], theta = theta, rows = some_rows(lik, n, theta, latents),
       mu = matrix(some_latents(n * latents, absurd), n),
       s2 = matrix(some_variances(n * latents, absurd), n))
}

# Everything C says of a block: matrices with a row per row.
fuzz_answer <- function(block) {
  lik <- c_lik(block$type, block$theta)
  tilt <- .Call(sg_lik_tilt, lik, block$theta, block$rows, block$mu, block$s2, FALSE)
  new <- .Call(sg_lik_predict, lik, block$theta, block$mu, block$s2, FALSE)
  at <- .Call(sg_lik_eval, lik, block$theta, block$rows, block$mu)
  tilt$dpar <- t(tilt$dpar)
  answer <- c(tilt, list(new_mean = new$mean, new_var = new$var), at["logp"])
  lapply(answer, matrix, nrow(block$mu))
}

# good(answer, block): per row, is it as it should be? Shows the first row that is not.
fuzz <- function(seed, absurd, good) {
  for (type in likelihood_names()) {
    set.seed(seed)
    lik <- get(paste0("lik_", type))()
    wrong <- NULL
    for (i in seq_len(ceiling(fuzz_count(lik) / PER_BLOCK))) {
      block <- fuzz_block(lik, absurd)
      answer <- fuzz_answer(block)
      at <- which(!good(answer, block))[1L]
      if (!is.na(at) && is.null(wrong)) {
        wrong <- list(theta = block$theta, y = block$rows[, at], mu = block$mu[at, ],
                      s2 = block$s2[at, ], answer = lapply(answer, `[`, at, ))
      }
    }
    expect_null(wrong, label = paste(type, "at", deparse1(wrong)))
  }
}

every_row <- function(test, answer) {
  Reduce(`&`, lapply(answer, function(x) apply(test(x), 1L, all)))
}

test_that("answers are finite wherever learning and predictions go", {
  slow_tier()
  fuzz(41, absurd = FALSE, function(answer, block) {
    # 1 + s2 d2 is the tilted variance in units of the marginal's: nothing, but for the rounding of
    # log Z, of which it is made
    rounding <- 1e-9 + 1e-11 * abs(c(answer$logz))
    tilted <- apply(1 + block$s2 * answer$d2 >= -rounding, 1L, all)
    every_row(is.finite, answer) & tilted & apply(answer$new_var >= 0, 1L, all)
  })
})

test_that("answers are numbers wherever numbers go", {
  memory_tier()
  # of log p = -1e310 there is only -Inf
  fuzz(42, absurd = TRUE, function(answer, block) every_row(function(x) !is.nan(x), answer))
})

test_that("C returns from rows that R refuses", {
  memory_tier()
  bad <- c(NaN, NA, Inf, -Inf, -1, 0.5, 0, 1e300, -1e300)
  for (type in likelihood_names()) {
    set.seed(43)
    lik <- get(paste0("lik_", type))()
    # a class is a place in memory, and checked before it is used
    if (lik_traits(lik)$response == "classes") next
    for (i in seq_len(ceiling(fuzz_count(lik) / PER_BLOCK / 10))) {
      block <- fuzz_block(lik, absurd = TRUE)
      at <- sample(length(block$rows), PER_BLOCK / 2)
      block$rows[at] <- sample(bad, length(at), TRUE)
      block$mu[1:2] <- sample(bad, 2L)
      block$s2[2:3] <- sample(bad, 2L)
      expect_length(fuzz_answer(block)$logz, PER_BLOCK)
    }
  }
})

test_that("quantiles of a new response are numbers, and in order", {
  slow_tier()
  for (type in likelihood_names()) {
    set.seed(45)
    lik <- get(paste0("lik_", type))()
    if (!catalogue()$likelihoods[[type]]$ordered) next
    for (i in of_tier(1:12, 2L)) {
      theta <- some_theta(lik, 1L, absurd = FALSE)
      mean <- some_latents(4L, FALSE)
      var <- some_variances(4L, FALSE)
      low <- response_quantile_at(lik, theta, 0.025, mean, var)
      high <- response_quantile_at(lik, theta, 0.975, mean, var)
      expect_true(all(is.finite(c(low, high)) & low <= high),
                  label = paste(type, "at", deparse1(list(theta, mean, var))))
    }
  }
})

# A response of eight rows, of which `one` is something else
response_with <- function(lik, one) {
  traits <- lik_traits(lik)
  if (lik_codec(lik)$labelled) {
    y <- rep(c("a", "b"), 4L)
    if (!is.na(one)) y[3L] <- format(one)
    return(if (is.na(one)) factor(y) else y)
  }
  y <- c(1, 0, 1, 1, 0, 1, 0, 1)
  y[3L] <- one
  y
}

test_that("what cannot be is refused in words, or gives a fit of finite numbers", {
  memory_tier()
  fit_or_words <- function(code, label) {
    fit <- tryCatch(suppressWarnings(code), sparsegp_error = function(e) NULL)
    if (is.null(fit)) return(succeed())
    answer <- predict(fit, type = "latent", se.fit = TRUE)
    expect_true(all(is.finite(unlist(answer))) && all(is.finite(fitted(fit))), label = label)
  }
  x <- c(1, 2, 4, 3, 6, 5, 7, 8)
  for (type in of_tier(likelihood_names(), 4L, memory = 1L)) {
    set.seed(44)
    lik <- get(paste0("lik_", type))()
    for (one in c(NA, NaN, Inf, -Inf, -1, 0.5, 2, 1e15, 1e300, -1e-300)) {
      y <- response_with(lik, one)
      fit_or_words(sparsegp(x, y, lik, learn = FALSE, na.action = na.omit), paste(type, "of", one))
      weights <- if (lik_traits(lik)$weighted) sample(c(1, 3, 0, -1, NA, 1e-300, 1e300), 8L, TRUE)
      fit_or_words(sparsegp(x, y, lik, learn = FALSE, weights = weights), paste(type, "of", one))
    }
    for (argument in names(formals(paste0("lik_", type)))) {
      for (value in list(NaN, NA, Inf, -1, 0, 1e-300, 1e300, -1e300, 0.5, 2, "a", list(), TRUE,
                         c(1, 2), numeric())) {
        given <- stats::setNames(list(value), argument)
        fit_or_words(sparsegp(x, response_with(lik, 1), do.call(paste0("lik_", type), given),
                              learn = FALSE), paste(type, argument, deparse1(value)))
      }
    }
  }
})
