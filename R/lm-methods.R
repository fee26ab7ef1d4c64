#' Methods familiar from lm()
#'
#' Family, terms, model frame, model matrix, residual standard deviation and degrees of freedom of a
#' fit.
#'
#' `family()` is a family object, as for [stats::glm()], with the link from mean responses to the
#' linear predictor: `family(fit)$linkinv(predict(fit, new, type = "link"))` are mean responses (at
#' the median of the latent function). For a response on another scale the link is that scale
#' (`"log"`, `"sqrt"`, `"logit"`, or with its parameter) and these are medians. `terms()` and
#' `weights()` are those of the fit.
#'
#' `model.frame()` is the frame of the rows used. Full EP keeps it; other fits evaluate the first
#' call again, which is an error if `data` no longer exists. `model.matrix()` is the matrix of
#' inputs, in their units and without an intercept, as Gaussian processes need none; with `data`
#' that of other rows. `labels()` names the terms and `variable.names()` the inputs, the columns of
#' that matrix.
#'
#' `sigma()` is the standard deviation of a response about the latent function, in the units of the
#' response, for likelihoods of numbers (for several components with their own noise a named vector;
#' with `weights` that of a row of weight 1). `df.residual()` is the number of rows minus the
#' effective number of parameters, the sum of [hatvalues()][influence]: for Gaussian noise the trace
#' of the smoother matrix. `deviance()` is an error, as no likelihood is maximised.
#'
#' @param object,formula,x A fit of [sparsegp()].
#' @param data `NULL` or other rows, as `newdata` of [predict][predict.sparsegp].
#' @param ... Not used.
#' @return `model.frame()`: a data frame; `model.matrix()`: a numeric matrix; `labels()`,
#'   `variable.names()`: character vectors; `sigma()`, `df.residual()`: numbers. A value that is not
#'   defined for a fit is an error of class `sparsegp_error`.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' head(model.matrix(fit), 3)
#' c(sigma = sigma(fit), df.residual = df.residual(fit))
#' @name frames
NULL

#' @rdname frames
#' @export
model.frame.sparsegp <- function(formula, ...) {
  fit <- ready(formula)
  refuse_if(is.null(fit$terms), "formula", "is a fit of a matrix, which has no model frame",
            "Use model.matrix()")
  if (!is.null(fit$frame)) return(fit$frame)
  frame <- frame_again(fit)
  if (!is.null(frame) && nrow(frame) == fit$n) return(frame)
  stop_sparsegp("formula", "is a fit whose rows are not where its formula was written",
                "Make the frame from them: model.frame(terms(fit), data)")
}

#' @rdname frames
#' @export
model.matrix.sparsegp <- function(object, data = NULL, ...) {
  if (!is.null(data)) {
    new <- blaming("data", new_inputs(ready(object), data))
    return(plain_matrix(new$x, new$names))
  }
  object <- with_rows(object)
  x <- if (!is.null(object[["x"]])) object[["x"]]
       else if (is.null(object$terms)) with_constants(object, training_inputs(object))
       else code_rows(recipe_of(object), list(x = model.frame.sparsegp(object)))$x
  plain_matrix(x, object$row_names)
}

plain_matrix <- function(x, names) {
  attr(x, "contrasts") <- NULL
  rownames(x) <- names
  x
}

# Returns scaled inputs in the user's units, with the constant ones.
with_constants <- function(object, x) {
  scaling <- object$scaling
  out <- matrix(0, nrow(x), length(scaling$kept), dimnames = list(NULL, scaling$names))
  out[, scaling$kept] <- unscale_kept(x, scaling)
  out[, !scaling$kept] <- rep(scaling$constant, each = nrow(x))
  out
}

#' @rdname frames
#' @export
labels.sparsegp <- function(object, ...) {
  if (is.null(object$terms)) variable.names(object) else attr(object$terms, "term.labels")
}

#' @rdname frames
#' @importFrom stats variable.names
#' @export
variable.names.sparsegp <- function(object, ...) {
  ready(object)$scaling$names
}

#' @rdname frames
#' @importFrom stats sigma
#' @export
sigma.sparsegp <- function(object, ...) {
  object <- ready(object)
  noise_sds(object) %||% refuse_sigma(object)
}

# Stops with the reason why errors have no one standard deviation.
refuse_sigma <- function(object) UseMethod("refuse_sigma", codec_of(object))

#' @export
refuse_sigma.response <- function(object) {
  stop_sparsegp("object", paste("has the likelihood", lik_label(object$likelihood),
                                "under which the variance depends on the mean"),
                "See predict() with interval = \"prediction\" for the spread at each row")
}

#' @export
refuse_sigma.response_numbers <- function(object) {
  stop_sparsegp("object", "has an error variance for each row, so there is no single sigma",
                "Take the roots of their variances, or predict(fit, type = \"latent\")")
}

#' @rdname frames
#' @importFrom stats df.residual
#' @export
df.residual.sparsegp <- function(object, ...) {
  free_rows(with_rows(object))
}

# Returns the degrees of freedom, by the kind of response.
free_rows <- function(object) UseMethod("free_rows", codec_of(object))

#' @export
free_rows.response <- function(object) object$n - sum(leverages(object))

#' @export
free_rows.response_classes <- function(object) {
  stop_sparsegp("object", "has a latent function for each class",
                "Use loo(), which needs no degrees of freedom")
}

#' @export
free_rows.response_spreads <- function(object) {
  stop_sparsegp("object", "has a mean and a spread, whose parameters are of different kinds",
                "Fit Gaussian noise for degrees of freedom")
}

# Nothing is known of what is missing, and nothing of it is free.
#' @export
free_rows.response_vectors <- function(object) {
  block_traces(object$latent$var, object$cavity$var, object$response$width) - sum(is.na(object$y))
}

#' @rdname frames
#' @importFrom stats deviance
#' @export
deviance.sparsegp <- function(object, ...) {
  stop_sparsegp("object", "has no deviance, as no likelihood is maximised",
                "Use logLik(), the log evidence, or -2 * sum(loo_lpd(object))")
}

#' @rdname frames
#' @importFrom stats family
#' @export
family.sparsegp <- function(object, ...) {
  object <- ready(object)
  named <- FAMILIES[[object$likelihood$type]]
  link <- link_of(object, named[2L])
  structure(c(list(family = named[1L], link = link$name),
              link[c("linkfun", "linkinv", "mu.eta", "valideta")]), class = "family")
}

# Returns the link that takes responses to the linear predictor, as stats::make.link() gives it.
link_of <- function(object, name) UseMethod("link_of", codec_of(object))

#' @export
link_of.response <- function(object, name) stats::make.link(name)

# The scale of the response itself; the logarithm of times is that of their likelihoods.
#' @export
link_of.response_transformed <- function(object, name) {
  scale <- codec_of(object)$scale
  if (scale %in% c("log", "sqrt", "logit")) return(stats::make.link(scale))
  own <- SCALES[[scale]]
  at <- object$response$scale
  list(name = scale_label(object), linkfun = function(mu) own$to(mu, at),
       linkinv = function(eta) own$from(eta, at),
       mu.eta = function(eta) exp(-own$log_slope(own$from(eta, at), at)),
       valideta = function(eta) all(is.finite(own$from(eta, at))))
}

# Returns the name of a scale with its parameter.
scale_label <- function(object) {
  at <- object$response$scale
  shown <- function(x) format(x, digits = 3L)
  switch(codec_of(object)$scale,
         boxcox = paste0("Box-Cox (lambda = ", shown(at[["value"]]), ")"),
         paste0("asinh((mu - ", shown(at[["middle"]]), ") / ", shown(at[["value"]]), ")"))
}

#' @rdname frames
#' @importFrom stats terms
#' @export
terms.sparsegp <- function(x, ...) {
  x <- check_fit_or_waiting(x, "x")
  if (!is.null(x$terms)) return(x$terms)
  stop_sparsegp("x", "was fitted to a matrix and has no terms",
                "Fit by a formula, or use model.matrix() for the inputs")
}

#' @export
free_rows.response_pairs <- free_rows.response_spreads
