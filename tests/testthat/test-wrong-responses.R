# Responses of a wrong type are refused in words, by every likelihood and method: nothing ends in an
# error of R's own.

wrong_responses <- function(n) {
  list(text = rep(c("a", "b", "c"), length.out = n), labels = paste0("w", seq_len(n)),
       factor = factor(rep(c("a", "b", "c"), length.out = n)),
       ordered = factor(rep(c("a", "b", "c"), length.out = n), ordered = TRUE),
       logical = rep(c(TRUE, FALSE), length.out = n), date = as.Date("2020-01-01") + seq_len(n),
       time = as.POSIXct("2020-01-01", tz = "UTC") + 3600 * seq_len(n),
       list = as.list(seq_len(n) + 0.5), lists = rep(list(letters[1:2]), n),
       functions = rep(list(mean), n), text_matrix = matrix(letters[1:2], n, 2),
       list_matrix = matrix(as.list(seq_len(2 * n)), n), logical_matrix = matrix(TRUE, n, 2),
       frame = I(data.frame(a = seq_len(n), b = rep(letters[1:2], length.out = n))),
       complex = complex(real = seq_len(n), imaginary = 1), raw = as.raw(seq_len(n)),
       missing = rep(NA_real_, n), missing_text = rep(NA_character_, n),
       missing_labels = factor(rep(NA, n)), missing_matrix = matrix(NA_real_, n, 2),
       no_columns = matrix(0, n, 0), array = array(seq_len(4 * n), c(n, 2, 2)))
}

METHODS_TRIED <- list(default = NULL, ep = method_ep(), sparse = method_ep(5), ivm = method_ivm(5),
                      online = method_online(5), waiting = method_online(5, pilot = 1000),
                      markov = method_markov(), neighbours = method_neighbours(5))

LIKELIHOODS_TRIED <- c("default", "full", "custom",
                       "gaussian", "student", "laplace", "heteroscedastic", "probit", "logit",
                       "step", "mprobit", "softmax", "ordinal", "poisson", "negbin", "binomial",
                       "zip", "gamma", "beta", "weibull", "mixture", "density", "nullcat")

likelihood_tried <- function(name) {
  switch(name, default = NULL, full = lik_gaussian(covariance = "full"),
         custom = lik_custom(function(y, f) stats::dnorm(y, f, log = TRUE)),
         get(paste0("lik_", name))())
}

# Returns the message of an error that is not of class sparsegp_error, or NULL.
raw_error <- function(code) {
  tryCatch({
    suppressMessages(suppressWarnings(code))
    NULL
  }, sparsegp_error = function(e) NULL, error = conditionMessage)
}

test_that("a response of a wrong type is an error in words, whatever likelihood and method", {
  slow_tier()
  n <- 12L
  frame <- data.frame(x = seq(-1, 1, length.out = n), shift = 0.1)
  wrong <- wrong_responses(n)
  try_one <- function(name, type, method, rows) {
    y <- wrong[[type]]
    frame <- frame[rows, ]
    frame$y <- if (length(dim(y)) == 3L) y else if (length(dim(y))) y[rows, , drop = FALSE]
               else y[rows]
    raw_error(sparsegp(y ~ x + offset(shift), frame, likelihood_tried(name), kernel = kernel_rbf(),
                       method = METHODS_TRIED[[method]], learn = FALSE))
  }
  cases <- expand.grid(name = LIKELIHOODS_TRIED, type = names(wrong), method = names(METHODS_TRIED),
                       stringsAsFactors = FALSE)
  # streams check their rows in a place of their own; of other methods each has its turn
  turn <- as.integer(factor(cases$name)) + match(cases$type, names(wrong)) +
    match(cases$method, names(METHODS_TRIED))
  cases <- cases[turn %% 16L == 0L | cases$method == "online" & turn %% 2L == 0L |
                   cases$method == "online" & cases$name == "full", ]
  for (i in seq_len(nrow(cases))) {
    said <- try_one(cases$name[i], cases$type[i], cases$method[i], seq_len(n))
    expect_null(said, label = toString(cases[i, ]))
  }
  for (type in setdiff(names(wrong), "array")) {
    for (name in c("default", "full", "probit")) {
      for (method in c("default", "online", "waiting")) {
        expect_null(try_one(name, type, method, integer()), label = paste(name, type, method))
      }
    }
  }
})

test_that("text beside an offset is refused where a stream reads it, and raw bytes everywhere", {
  frame <- data.frame(x = 1:12, shift = 0.1, y = rep(c("a", "b", "c"), 4))
  full <- lik_gaussian(covariance = "full")
  refused(sparsegp(y ~ x + offset(shift), frame, full, method = method_online(5)), "y")
  frame$y <- as.raw(1:12)
  for (lik in list(NULL, lik_probit(), lik_gaussian(), lik_ordinal())) {
    refused(sparsegp(y ~ x, frame, lik), "y")
  }
})
