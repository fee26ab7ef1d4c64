# Answers questions about a mean whose coefficients it has integrated out (kernel-mean.R).

# Returns their posterior means (generalised least squares) and standard errors in units of the
# response, or NULL: of the constant, which is the mean's value at the average of the inputs, and of
# the slopes for one standard deviation of an input.
mean_estimates <- function(fit) {
  trend <- fit$posterior$trend
  if (is.null(trend)) return(NULL)
  found <- mean_coefficients(trend)
  unit <- fit$response$unit
  names <- trend$terms
  components <- fit$response$components[seq_len(trend$width)]
  if (trend$width > 1L) names <- paste(rep(names, trend$width),
                                       rep(components, each = length(names)), sep = ".")
  constant <- rep(trend$vars == 0L, trend$width)
  centre <- rep(fit$response$centre[seq_len(trend$width)], each = length(trend$vars))
  if (isFALSE(trend$vague)) centre <- centre + latent_bias(fit)
  data.frame(estimate = found$mean * unit + ifelse(constant, centre, 0),
             se = sqrt(diag(found$cov)) * unit, row.names = names)
}

# Returns the response of a fit as print() describes it: with the estimated constant if it was
# integrated out.
described_response <- function(fit) {
  response <- fit$response
  table <- mean_estimates(fit)
  if (!is.null(table)) {
    response$constant <- table[rep(fit$posterior$trend$vars == 0L, fit$posterior$trend$width), ]
  }
  response
}

# Returns words for a bias that was integrated out.
bias_words <- function(fit) {
  if (!isFALSE(fit$posterior$trend$vague)) return(NULL)
  found <- mean_estimates(fit)
  paste0("bias, integrated out: ", signif(found$estimate, 3L), " (SE ", signif(found$se, 2L), ")")
}

# Does the mean depend on inputs?
has_mean_slopes <- function(fit) any(fit$posterior$trend$vars > 0L)

# Refuses effects of the parts of a kernel where the mean depends on inputs, too.
refuse_mean_slopes <- function(fit) {
  if (!has_mean_slopes(fit)) return(invisible())
  stop_sparsegp("type", "is of the kernel, and the prior mean of this fit depends on inputs, too",
                "Put kernel_linear(vars = ) into the kernel in the place of `mean`")
}
