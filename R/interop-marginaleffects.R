# Package marginaleffects asks a model for coefficients and their covariance matrix, predicts with
# each coefficient moved a little, and propagates the covariance (the delta method). A Gaussian
# process has a value at every point in the place of coefficients. Its values f at all points that
# one call of marginaleffects predicts at are
#   f = E f + L z,   z ~ N(0, I),   L L' = Cov f,
# and 1 + z are the coefficients, 1 in the fit itself, from which steps of differences have a size:
# as many as the numerical rank of Cov f, for each latent function. Moving z moves the mean of f by L z, and predictions accordingly, so the standard
# error of any function of predictions is that of its best linear approximation, exact for the
# latent function. The points become known as they are predicted, before coefficients are asked for:
# MARGINS remembers
#   fit      the fit whose points these are
#   points   their scaled inputs
#   root     L of each latent function, once it was asked for
#   used     have coefficients been moved? The next predictions are those of another call
MARGINS <- new.env(parent = emptyenv())

MOST_MARGINS <- 2000L # coefficients

margin_names <- function(count) paste0("z", seq_len(count), recycle0 = TRUE)

margin_coefs <- function(count) stats::setNames(rep(1, count), margin_names(count))

#' @exportS3Method marginaleffects::get_vcov
get_vcov.sparsegp <- function(model, vcov = NULL, ...) {
  if (isFALSE(vcov)) {
    forget_margins()
    return(NULL)
  }
  if (!is.null(vcov) && !isTRUE(vcov)) {
    stop_sparsegp("vcov", "is no choice for a Gaussian process, whose posterior has its own",
                  "Leave it out, or say vcov = FALSE")
  }
  refuse_margins(ready(model))
  names <- margin_names(MOST_MARGINS)
  structure(diag(MOST_MARGINS), dimnames = list(names, names))
}

forget_margins <- function(model = NULL) {
  MARGINS$fit <- model
  MARGINS$points <- MARGINS$root <- NULL
  MARGINS$used <- FALSE
}

refuse_margins <- function(model) {
  if (!has_components(model)) return(invisible())
  stop_sparsegp("model", "has several components, of which marginaleffects knows nothing",
                "Use slopes(), predict(se.fit = TRUE) or draws()")
}

#' @exportS3Method marginaleffects::get_coef
get_coef.sparsegp <- function(model, ...) {
  known <- MARGINS$points
  if (is.null(known) || !is_margin_of(model)) {
    return(margin_coefs(MOST_MARGINS))
  }
  if (is.null(MARGINS$root)) MARGINS$root <- margin_roots(MARGINS$fit, known)
  count <- sum(vapply(MARGINS$root, ncol, 0L))
  if (count > MOST_MARGINS) {
    stop_sparsegp("newdata", paste0("has ", nrow(known), " different points, of which ", count,
                                    " are independent"),
                  paste("Give fewer rows, or use slopes(average = TRUE) of this package, which",
                        "takes any number"))
  }
  margin_coefs(count)
}

#' @exportS3Method marginaleffects::set_coef
set_coef.sparsegp <- function(model, coefs, ...) {
  model[["margin"]] <- unname(coefs) - 1
  model
}

# Returns a root of the posterior covariance of each latent function at the points, by Cholesky
# factors with pivots, which end at the numerical rank.
margin_roots <- function(model, points) {
  functions <- seq_len(processes(model))
  lapply(functions, function(class) {
    cov <- joint_moments(model, points, class)$var
    root <- suppressWarnings(chol(cov, pivot = TRUE, tol = 1e-14 * max(diag(cov))))
    rank <- attr(root, "rank")
    t(root[seq_len(rank), order(attr(root, "pivot")), drop = FALSE])
  })
}

#' @exportS3Method marginaleffects::get_predict
get_predict.sparsegp <- function(model, newdata, type = "response", ...) {
  moved <- model[["margin"]]
  model[["margin"]] <- NULL
  model <- ready(model)
  newdata <- as.data.frame(newdata)
  if (is.null(moved)) remember_points(model, newdata)
  answer <- if (is.null(moved)) predict.sparsegp(model, newdata, type = type)
            else moved_prediction(model, newdata, type, moved)
  rowid <- newdata$rowid %||% seq_len(nrow(newdata))
  if (!is.matrix(answer)) return(data.frame(rowid = rowid, estimate = unname(answer)))
  data.frame(rowid = rep(rowid, ncol(answer)),
             group = factor(rep(colnames(answer), each = nrow(answer)), colnames(answer)),
             estimate = c(answer))
}

# Is this the fit whose points are remembered?
is_margin_of <- function(model) identical(MARGINS$fit$posterior, model$posterior)

remember_points <- function(model, newdata) {
  if (isTRUE(MARGINS$used) || !is_margin_of(model)) forget_margins(model)
  MARGINS$points <- unique(rbind(MARGINS$points, complete_inputs(model, newdata)$x))
  MARGINS$root <- NULL
}

# Returns a key for each point, equal where all numbers are.
point_keys <- function(x) {
  do.call(paste, lapply(seq_len(ncol(x)), function(j) sprintf("%a", x[, j])))
}

# Predicts with the latent functions moved by L z.
moved_prediction <- function(model, newdata, type, z) {
  MARGINS$used <- TRUE
  latent <- new_latent(model, newdata)
  at <- match(point_keys(complete_inputs(model, newdata)$x), point_keys(MARGINS$points))
  if (anyNA(at)) stop_sparsegp("newdata", "has points that were not predicted before", "Call again")
  first <- cumsum(c(0L, vapply(MARGINS$root, ncol, 0L)))
  by <- vapply(seq_along(MARGINS$root), function(class) {
    root <- MARGINS$root[[class]][at, , drop = FALSE]
    drop(root %*% z[first[class] + seq_len(ncol(root))])
  }, numeric(length(at)))
  latent$mean <- latent$mean + c(by)
  latent$members <- if (!is.null(latent$members)) {
    Map(function(own, k) {
      unit <- model$response$unit / as_member(model, k)$response$unit
      replace(own, "mean", list(own$mean + c(by) * unit))
    }, latent$members, seq_along(latent$members))
  }
  request <- list(type = type, se.fit = FALSE, interval = "none", level = 0.95, reject = 0)
  predicted(model, latent, request)
}
