# Responses of likelihoods that are R functions: their moments, probabilities and quantiles, from
# the user's functions or by sums and integrals of the density over responses. Under N(mean, var) of
# the latent values all of these are means over equidistant nodes.

# Mean and variance of a new response under N(mean, var), and the variance of its mean given f.
predict_custom <- function(custom, theta, mean, var, weights = NULL) {
  own <- asked_with(custom, theta, needed_constants(custom, weights, count_means(custom, mean)))
  moments <- by_blocks(custom, mean, 3L, function(at) {
    nodes <- latent_nodes(custom, some_means(custom, mean, at), some_vars(custom, var, at))
    given <- moments_given(asked_at(own, at), nodes$f)
    centre <- c(given$mean %*% nodes$weight)
    spread <- c((given$mean - centre)^2 %*% nodes$weight)
    rbind(centre, c(given$var %*% nodes$weight) + spread, spread, deparse.level = 0L)
  })
  list(mean = moments[1L, ], var = moments[2L, ], spread = moments[3L, ])
}

# Log density of data rows, where there are some, and moments of a new response, at latent values: a
# vector, or a matrix with a column for each latent function.
evaluate_custom <- function(custom, theta, f, rows, weights = NULL) {
  f <- latent_columns(custom, f)
  n <- nrow(f[[1L]])
  own <- asked_with(custom, theta, needed_constants(custom, weights, n))
  given <- moments_given(own, f)
  list(logp = if (!is.null(rows)) c(custom_log_density(custom, own$value, rows, f)) else numeric(),
       mean = c(given$mean), var = c(given$var))
}

# Mean and variance of a response at each of the latent values, each in the shape of a matrix of f.
moments_given <- function(own, f) {
  custom <- own$custom
  if (is.null(custom$mean)) {
    m <- ncol(f[[1L]])
    flat <- lapply(f, function(x) matrix(x, ncol = 1L))
    at <- rep(seq_len(nrow(f[[1L]])), m)
    given <- CUSTOM_SUMS[[custom$response]]$moments(asked_at(own, at), flat)
    return(lapply(given, matrix, ncol = m))
  }
  list(mean = user_moments(own, "mean", f), var = user_moments(own, "variance", f))
}

user_moments <- function(own, name, f) {
  custom <- own$custom
  answer <- call_user(custom[[name]], name,
                      latent_arguments(custom, custom[[name]], f, own$value, own$constants))
  check_answer(answer, f[[1L]], name)
}

# ---- Labels and ordered categories ----

# Probabilities of each category, which are the same set for all rows.
category_table <- function(own, f) {
  y <- if (own$custom$response == "label") c(-1, 1) else seq_len(own$custom$categories)
  p <- mixed_density(own, outer(rep(1, nrow(f[[1L]])), y), f, 1)
  total <- rowSums(p)
  list(y = y, p = p / total, total = total)
}


# For two labels the mean is the probability of the second.
label_moments <- function(own, f) {
  p <- category_table(own, f)$p[, 2L]
  list(mean = p, var = p * (1 - p))
}

ordered_moments <- function(own, f) table_moments(category_table(own, f))

# ---- Counts ----

# Probabilities of 0, 1, ... at nodes f: enough counts that less than 1e-10 of all is beyond them.
# Large ones stand for some of their neighbours each: to a thousandth of them.
count_table <- function(own, f, weight = 1) {
  LARGEST <- 2^24
  ones <- rep(1, nrow(f[[1L]]))
  y <- NULL
  p <- matrix(0, length(ones), 0L)
  end <- 64
  more <- list(at = 0:63, size = 1)
  repeat {
    p <- cbind(p, more$size * mixed_density(own, outer(ones, more$at), f, weight))
    y <- c(y, more$at)
    total <- rowSums(p)
    if (all(p[, length(y)] * end < 1e-10 * total * more$size)) break
    if (end > LARGEST) stop_without_table(LARGEST)
    more <- counts_from(end)
    end <- 2 * end
  }
  list(y = y, p = p / total, total = total)
}

# Returns counts from a power of 2 to the next, at most a thousand of them, and of how many each is
# the middle one.
counts_from <- function(from) {
  size <- max(1, from / 1024)
  list(at = seq(from, 2 * from - 1, by = size) + if (size > 1) size / 2 else 0, size = size)
}

stop_without_table <- function(largest) {
  raise_sparsegp(paste0("`likelihood` has responses beyond ", largest, ", too many to sum over"),
                 "likelihood",
                 paste("Use type = \"latent\" or \"link\", or give lik_custom(mean = ,",
                       "variance = ); counts as large as these may be fitted as numbers"),
                 "sparsegp_without_responses")
}

count_moments <- function(own, f) table_moments(count_table(own, f))

count_tails <- function(own, y, nodes) table_tails(count_table(own, nodes$f, nodes$weight), y)

count_quantile <- function(own, p, nodes) {
  table_quantile(count_table(own, nodes$f, nodes$weight), p)
}

# ---- By the kind of response ----

NUMBER_SUMS <- list(moments = number_moments, tails = number_tails, quantile = number_quantile)
CUSTOM_SUMS <- list(
  label = list(moments = label_moments),
  ordered = list(moments = ordered_moments),
  count = list(moments = count_moments, tails = count_tails, quantile = count_quantile),
  number = NUMBER_SUMS, positive = NUMBER_SUMS, share = NUMBER_SUMS
)

# A random response for each latent value.
draw_custom <- function(custom, f, value, weights) {
  f <- latent_columns(custom, f)
  n <- nrow(f[[1L]])
  own <- list(custom = custom, value = value, constants = needed_constants(custom, weights, n))
  if (!is.null(custom$draw)) return(c(user_moments(own, "draw", f)))
  c(by_blocks(custom, unlist(f), 1L, function(at) {
    CUSTOM_DRAWS[[custom$response]](asked_at(own, at), lapply(f, function(x) x[at, , drop = FALSE]))
  }))
}

draw_categories <- function(own, f) draw_of_table(category_table(own, f))

draw_counts <- function(own, f) draw_of_table(count_table(own, f))

draw_of_table <- function(table) {
  apply(table$p, 1L, function(p) table$y[sample.int(length(p), 1L, prob = p)])
}

# Draws by inversion, at probabilities that are tabulated for each latent value.
draw_numbers <- function(own, f) {
  goal <- stats::qnorm(stats::runif(nrow(f[[1L]])))
  number_at(own, list(f = f, weight = 1), goal)
}

CUSTOM_DRAWS <- list(label = draw_categories, ordered = draw_categories, count = draw_counts,
                     number = draw_numbers, positive = draw_numbers, share = draw_numbers)
