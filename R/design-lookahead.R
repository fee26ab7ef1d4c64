# The posterior expected once some rows have labels, by which the rows of a batch avoid redundancy.
# A lookahead is
#   fit, x       scaled inputs of all rows, a point for each latent value
#   latent       their moments (design-information.R) as they are expected to be
#   model        the information model of labels, from its first use on
#   covariances  of each latent function with the points (posterior.R), from the first label on
#   downdate     of each a matrix D: its covariance with the rows is that of the fit less D D'
#   roots        of each label B with B B' its curvature, one for each latent function
#   aim          of score = "improvement": list(sign, best)
#   target       of score = "integrated": the points elsewhere (design-integrated.R), with moments
#                and downdates as they are expected to be, too
#   cross        of each latent function the fit's covariances of all rows with the target

new_lookahead <- function(fit, given, aim = NULL) {
  list(fit = fit, x = given$x, latent = given$latent, aim = aim, model = NULL, covariances = NULL,
       downdate = rep(list(matrix(0, NROW(given$x), 0L)), processes(fit)), roots = list(),
       target = NULL, cross = NULL)
}

# Returns the expected moments of some rows.
latent_of <- function(lookahead, rows) {
  some_latent(lookahead$latent, rows, n_outputs(lookahead$fit))
}

# Returns the lookahead once a row has its label, in O(n (d + w k)) for each latent function.
condition_on <- function(lookahead, row) {
  fit <- lookahead$fit
  if (is.null(lookahead$model)) lookahead$model <- information_model(fit)
  own <- latent_of(lookahead, row)
  aim <- lookahead$aim
  if (!is.null(aim)) { # as if the row had come out at its mean (kriging believer)
    lookahead$aim$best <- aim$sign * max(aim$sign * c(aim$best, improved_mean(fit, own)))
  }
  roots <- lapply(lookahead$model$curvature(own), function(B) root_of(matrix(B, n_outputs(fit))))
  with_label(lookahead, row, roots)
}

with_label <- function(lookahead, row, roots) {
  lookahead <- with_covariances(lookahead)
  at <- stacked_rows(row, n_outputs(lookahead$fit))
  for (class in seq_along(roots)) {
    label <- list(known = some_covariances(lookahead$covariances[[class]], at),
                  downdate = lookahead$downdate[[class]][at, , drop = FALSE],
                  root = roots[[class]])
    lookahead <- with_downdate(lookahead, label, class)
    if (!is.null(lookahead$target)) {
      lookahead$target <- with_downdate(lookahead$target, label, class)
    }
  }
  lookahead$roots <- c(lookahead$roots, list(roots))
  lookahead
}

# Adds the covariances of each latent function with the points.
with_covariances <- function(points) {
  if (is.null(points$covariances)) {
    points$covariances <- lapply(seq_len(processes(points$fit)), function(class) {
      covariances_with(points$fit, points$x, class)
    })
  }
  points
}

# Moves the moments of points, a lookahead's or its target's, by a label elsewhere.
with_downdate <- function(points, label, class) {
  before <- points$downdate[[class]]
  now <- covariances_between(points$covariances[[class]], label$known) -
    tcrossprod(before, label$downdate)
  new <- now %*% label$root
  points$downdate[[class]] <- cbind(before, new)
  points$latent$var <- downdated(points$latent$var, new, class, n_outputs(points$fit))
  points
}

# Returns the lookahead at other points, given the labels of all rows of a batch.
beside <- function(batch, given) {
  after <- new_lookahead(batch$fit, given, batch$aim)
  after$model <- batch$model
  after$target <- batch$target
  if (length(batch$roots)) after <- with_covariances(after)
  for (class in seq_along(batch$downdate)) {
    D <- batch_downdate(batch, after$covariances[[class]], class)
    if (is.null(D)) next
    after$downdate[[class]] <- D
    after$latent$var <- downdated(after$latent$var, D, class, n_outputs(batch$fit))
  }
  after
}

# Returns the downdate of points, or of derivatives there, by the labels of all rows of a batch, in
# their order; NULL without labels. known: as covariances_with() has it.
batch_downdate <- function(batch, known, class) {
  if (length(batch$roots) == 0L) return(NULL)
  columns <- covariances_between(known, batch$covariances[[class]])
  D <- matrix(0, nrow(columns), 0L)
  for (row in seq_along(batch$roots)) {
    at <- stacked_rows(row, n_outputs(batch$fit))
    own <- batch$downdate[[class]][at, seq_len(ncol(D)), drop = FALSE]
    now <- columns[, at, drop = FALSE] - tcrossprod(D, own)
    D <- cbind(D, now %*% batch$roots[[row]][[class]])
  }
  D
}

# Subtracts the blocks of D D' from variances; of a variance a rounding unit stays.
downdated <- function(var, D, class, w) {
  at <- (class - 1L) * nrow(D) * w + seq_len(nrow(D) * w) # blocks of this latent function
  before <- matrix(var[at], w * w)
  after <- before - own_products(D, w)
  own <- seq(1L, w * w, w + 1L)
  after[own, ] <- pmax(after[own, ], .Machine$double.eps * before[own, ])
  var[at] <- after
  var
}

# Returns the linear predictor, as users see it: its order is that of the mean response.
improved_mean <- function(fit, latent) to_link(fit, latent$mean, latent$offset)
