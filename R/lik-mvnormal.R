# Gaussian noise of several responses: the twin of src/lik_mvnormal.c. lik_gaussian() makes it; the
# covariance is spherical, diagonal or full, which C sees by how many parameters there are.

gaussian_of_vectors <- function(variance, covariance, correlation = NULL) {
  full <- covariance == "full"
  refuse_if(!full && !is.null(correlation), "correlation", "is for a full covariance",
            "Use covariance = \"full\"")
  params <- c(list(noise = variance), list(correlation = correlation)[full])
  lik <- new_likelihood("mvnormal", params)
  lik$covariance <- covariance
  lik
}

# A likelihood as given, for a response of several columns.
for_vectors <- function(lik) {
  refuse_if((lik$transform$name %||% "identity") != "identity", "transform",
            "is for responses of one number, and this one has several components",
            "Transform the columns: cbind(log(u), log(v)) ~ x")
  refuse_if(has_variances(lik),
            "variance", "has known variances of rows, which are for one response",
            "Use covariance = \"diagonal\" for a variance of each component")
  gaussian_of_vectors(lik$params$noise, "spherical")
}

# Numbers of C's parameters.
count_noise <- function(lik, width) {
  switch(lik$covariance, spherical = 1L, diagonal = width,
         full = width + nrow(correlated_pairs(width)))
}

mvnormal_traits <- function() c(lik_code(
  response = "vectors", density = TRUE, weighted = FALSE, label = "gaussian",
  data_rows = function(y, weights) t(unname(y)),
  alone = function(rows, theta) {
    weight <- rep_len(exp(-theta[seq_len(min(length(theta), nrow(rows)))]), nrow(rows))
    list(lik = list(type = "gaussian"), theta = 0, rows = rbind(c(rows), rep(weight, ncol(rows))))
  }
), lik_hyper(
  about = list(
    noise = list(
      argument = "variance", log = TRUE, unit_power = 2,
      each = function(lik, components) if (lik$covariance != "spherical") components,
      start = function(rows, offset, own = NULL) {
        spread <- pmax(rowMeans(rows^2, na.rm = TRUE), 1e-4)
        log(0.1 * if (is.null(own)) mean(spread) else spread)
      },
      around = function(start) default_lognormal(start - log(0.1) - 2, 2)
    ),
    correlation = list(
      argument = "correlation", log = TRUE, range = c(-1, 1), unit_power = 0,
      each = function(lik, components) pair_names(components),
      start = function(rows, offset, own = NULL) 0,
      prior = function(unit, offset) prior_normal(0, 0.5)
    )
  )
), lik_sample(
  draw = function(f, value, weights) {
    f + matrix(stats::rnorm(length(f)), nrow(f), ncol(f)) %*% chol(noise_covariance(value, ncol(f)))
  },
  noise = noise_covariance
))

# The covariance from a fit's values (lik_values()), as correlation.h makes it.
noise_covariance <- function(value, w) {
  sd <- sqrt(rep_len(value[grepl("^noise", names(value))], w))
  z <- value[grepl("^correlation", names(value))]
  pairs <- correlated_pairs(w)
  L <- diag(w)
  for (k in seq_along(z)) {
    at <- pairs[k, 2L]
    L[at, pairs[k, 1L]] <- z[[k]] * L[at, at]
    L[at, at] <- L[at, at] * sqrt(1 - z[[k]]^2)
  }
  tcrossprod(sd * L)
}
