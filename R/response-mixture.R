# Responses that are mixtures: of each row a few parts, one of which is meant. Kept as a matrix with
# a row for each row of the data, of weights, means and covariances part after part, and behind them
# the distribution that all are divided by, if there is one.

#' Ambiguous measurements of vectors
#'
#' A response for [sparsegp()] whose rows mean "this vector or that": each row has a few possible
#' values, each with a weight and an error. A scatterometer cannot distinguish the wind from its
#' opposite; a tracker may have followed something else; a network gives a density with several
#' modes. The likelihood is [lik_mixture()].
#'
#' With parts \eqn{j}{j} of weight \eqn{w_j}{w_j}, mean \eqn{m_j}{m_j} and covariance \eqn{S_j}{S_j}
#' a row's likelihood of the vector \eqn{z}{z} at its inputs is \deqn{\sum_j w_j N(z; m_j,
#' S_j),}{sum_j w_j N(z; m_j, S_j),} divided by \eqn{N(z; m_0, S_0)}{N(z; m_0, S_0)} where a `prior`
#' is given: parts that come from the posterior of another model, such as a mixture density network,
#' contain its prior already ("scaled likelihoods"). Give the prior that they were made with, not
#' one that is to be learned.
#'
#' The object is a matrix of numbers and can be a column of a data frame: `wind$z <- mixture(...)`.
#' Its rows can be taken (`z[1:3]`) and bound by `rbind(z1, z2)` (not with data frames around them:
#' base R's method makes a plain matrix of it); a row with a missing number is missing as a whole.
#'
#' `lik_mixture()` has no hyperparameters: weights, means and covariances are the observations' own.
#' It is not log-concave. An observation whose parts compete widens the posterior, and EP finds one
#' of several [modes()]; it starts from online passes ([method_ep()], `starts`). Residuals and
#' leave-one-out predictions are about the part to which the fit assigns an observation.
#' `simulate()` draws vectors without errors, because the parts of a new observation are unknown.
#'
#' @param weights Weights of the parts: a matrix with a row for each row and a column for each of J
#'   parts, or J numbers for all rows. At least 0; those of a row are divided by their sum, and a
#'   part of weight 0 is ignored.
#' @param means Their means: a list of J matrices with a row for each row and a column for each of
#'   the 2 to 8 components, or an array of rows x components x J. Names of columns are names of the
#'   components, else `y1`, `y2`. In units of the response.
#' @param variances Their variances, greater than 0, the same in all directions: one number, J
#'   numbers, or a matrix as `weights`; or a list of J covariance matrices. In squared units of the
#'   response.
#' @param prior `NULL`, or `list(mean, covariance)` of what the parts are divided by: a number for
#'   each component (or one), and a covariance matrix (or a variance).
#' @return `lik_mixture()`: a value of class `sparsegp_likelihood`. `mixture()`: a matrix of class
#'   `sparsegp_mixture`. `is.na()` of it has an entry for each row. Errors of class
#'   `sparsegp_error`: sizes that do not agree, negative weights, rows without any weight, variances
#'   that are not positive.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD
#'   thesis, Aston University, eqs 5.32-5.33. Cornford, D., Csató, L., Evans, D. J. and Opper, M.
#'   (2004). Bayesian analysis of the scatterometer wind retrieval inverse problem. *Journal of the
#'   Royal Statistical Society B* 66, 609-626.
#' @concept wind field
#' @concept multimodal
#' @seealso [modes()] for the modes of such a fit.
#' @examples
#' set.seed(1)
#' d <- expand.grid(x = 1:5, y = 1:5)
#' wind <- cbind(u = sin(d$y / 2), v = cos(d$x / 2)) + 0.1 * rnorm(50)
#' # the wind or its opposite, the former a little more likely
#' d$z <- mixture(c(0.55, 0.45), list(wind, -wind), 0.01)
#' d[1:2, ]
#' fit <- sparsegp(z ~ x + y, d, kernel = kernel_helmholtz())
#' modes(fit)
#' predict(fit, d[1:2, ])
#' @export
mixture <- function(weights, means, variances, prior = NULL) {
  means <- part_means(means)
  n <- dim(means)[1L]
  w <- dim(means)[2L]
  parts <- dim(means)[3L]
  weights <- part_weights(weights, n, parts)
  covariances <- part_covariances(variances, n, w, parts)
  numbers <- do.call(cbind, lapply(seq_len(parts), function(j) {
    cbind(weights[, j], matrix(means[, , j], n, w),
          matrix(covariances[, , j], n, dim(covariances)[2L]))
  }))
  if (!is.null(prior)) numbers <- cbind(numbers, prior_numbers(prior, n, w))
  first <- matrix(means[, , 1L], n, w, dimnames = dimnames(means)[1:2])
  new_mixture(unname(numbers), column_names(first, "y"), parts)
}

# numbers: n x (J (1 + w + w (w + 1) / 2) + those of the prior without a weight)
new_mixture <- function(numbers, components, parts) {
  structure(numbers, components = components, parts = parts, class = "sparsegp_mixture")
}

# ---- The arguments of mixture() ----

# rows x components x parts
part_means <- function(means) {
  if (is.list(means) && length(means) && all(vapply(means, is.matrix, NA))) {
    sizes <- vapply(means, dim, integer(2L))
    if (any(sizes != sizes[, 1L])) stop_sparsegp("means", "are matrices of different sizes")
    names <- colnames(means[[1L]])
    means <- array(unlist(means), c(sizes[, 1L], length(means)), list(NULL, names, NULL))
  }
  refuse_if(!is.numeric(means) || length(dim(means)) != 3L,
            "means", "must be a list of numeric matrices, or an array of three dimensions",
            "Give a matrix of rows x components for each part")
  refuse_if(dim(means)[2L] < 2L || dim(means)[2L] > MAX_COMPONENTS,
            "means", paste("must be of 2 to", MAX_COMPONENTS, "components"))
  if (any(is.infinite(means))) stop_not_finite("means")
  means
}

# A matrix of a number for each row and part, from one that all rows or all have in common.
per_part <- function(values, n, parts, argument) {
  refuse_if(is.matrix(values) && !all(dim(values) == c(n, parts)), argument,
            paste0("is a matrix of ", nrow(values), " x ", ncol(values),
                   " numbers for ", n, " rows and ", parts, " parts"))
  refuse_if(!is.numeric(values) || !length(values) %in% c(1L, parts, n * parts), argument,
            paste("must be numbers: one for each of", parts,
                  "parts, or a matrix with a row for each row"))
  if (is.matrix(values)) values else matrix(rep(rep_len(values, parts), n), n, parts, byrow = TRUE)
}

part_weights <- function(weights, n, parts) {
  weights <- per_part(weights, n, parts, "weights")
  known <- weights[!is.na(weights)]
  refuse_if(any(known < 0 | is.infinite(known)), "weights", "must be finite and not negative")
  total <- rowSums(weights)
  if (any(total == 0, na.rm = TRUE)) stop_sparsegp("weights", "of a row are all 0")
  weights / total
}

# rows x entries of the lower triangle x parts
part_covariances <- function(variances, n, w, parts) {
  lower <- lower.tri(diag(w), diag = TRUE)
  if (is.list(variances)) {
    refuse_if(length(variances) != parts,
              "variances", paste("must be one for each of", parts, "parts"))
    each <- lapply(variances, function(S) rep(check_covariance(S, w, "variances")[lower], each = n))
    return(array(unlist(each), c(n, sum(lower), parts)))
  }
  variances <- per_part(variances, n, parts, "variances")
  refuse_if(any(variances <= 0 | is.infinite(variances), na.rm = TRUE),
            "variances", "must be finite and greater than 0")
  aperm(array(c(variances) %o% diag(w)[lower], c(n, parts, sum(lower))), c(1L, 3L, 2L))
}

# A covariance matrix, or one variance of all components.
check_covariance <- function(S, w, argument) {
  if (is.numeric(S) && length(S) == 1L) S <- diag(c(S), w)
  good <- is.numeric(S) && identical(dim(S), c(w, w)) && all(is.finite(S)) &&
    isSymmetric(unname(S)) && !inherits(try(chol(S), silent = TRUE), "try-error")
  if (good) return(S)
  stop_sparsegp(argument, paste0("has a covariance that is no positive definite matrix of ", w,
                                 " x ", w))
}

prior_numbers <- function(prior, n, w) {
  refuse_if(!is.list(prior) || !setequal(names(prior), c("mean", "covariance")),
            "prior", "must be list(mean = , covariance = )")
  mean <- prior$mean
  refuse_if(!is.numeric(mean) || !length(mean) %in% c(1L, w) || !all(is.finite(mean)),
            "prior", paste("has a mean that is not", w, "numbers"))
  covariance <- check_covariance(prior$covariance, w, "prior")
  numbers <- c(rep_len(mean, w), covariance[lower.tri(covariance, diag = TRUE)])
  matrix(rep(numbers, n), n, length(numbers), byrow = TRUE)
}

# ---- What is in it ----

mixture_width <- function(y) length(attr(y, "components"))

mixture_parts <- function(y) attr(y, "parts")

# Numbers of a part but its weight, or of the prior.
moment_count <- function(w) w + w * (w + 1L) / 2L

is_scaled_mixture <- function(y) {
  ncol(y) > mixture_parts(y) * (1L + moment_count(mixture_width(y)))
}

# weight (n), mean (n x w) and covariance (n x entries of the lower triangle) of part j; part
# number J + 1 is the prior, without a weight.
mixture_part <- function(y, j) {
  w <- mixture_width(y)
  at <- (j - 1L) * (1L + moment_count(w))
  prior <- j > mixture_parts(y)
  numbers <- unclass(y)
  first <- at + !prior
  list(weight = if (!prior) numbers[, at + 1L],
       mean = numbers[, first + seq_len(w), drop = FALSE],
       covariance = numbers[, first + w + seq_len(moment_count(w) - w), drop = FALSE])
}

# The same in other units: z / unit. A density of z has units, and so have its log evidence and that
# of the fit; what is divided by another density has no moments, and gets those by its weights.
in_mixture_units <- function(y, unit) {
  w <- mixture_width(y)
  scaled <- is_scaled_mixture(y)
  moments <- c(rep(1 / unit, w), rep(1 / unit^2, moment_count(w) - w))
  weight <- if (scaled) unit^w else 1
  factors <- c(rep(c(weight, moments), mixture_parts(y)), if (scaled) moments)
  y[] <- sweep(unclass(y), 2L, factors, "*", check.margin = FALSE)
  y
}

# Second moments of the means, n x w, each part by its weight.
mixture_squares <- function(y) {
  Reduce(`+`, lapply(seq_len(mixture_parts(y)), function(j) {
    part <- mixture_part(y, j)
    part$weight * part$mean^2
  }))
}

# Means of one part of each row, and its variances, with names.
part_values <- function(y, part) part_numbers(y, part, seq_len(mixture_width(y)))

part_variances <- function(y, part) {
  w <- mixture_width(y)
  part_numbers(y, part, w + cumsum(c(1L, rev(seq_len(w))[-w])))
}

# Numbers of one part of each row, counted behind its weight.
part_numbers <- function(y, part, which) {
  first <- (part - 1L) * (1L + moment_count(mixture_width(y))) + 1L
  numbers <- unclass(y)
  values <- vapply(which, function(k) numbers[cbind(seq_along(part), first + k)],
                   numeric(length(part)))
  matrix(values, length(part), dimnames = list(NULL, attr(y, "components")))
}

# Means of the heaviest part of each row
likeliest_values <- function(y) {
  weights <- vapply(seq_len(mixture_parts(y)), function(j) mixture_part(y, j)$weight,
                    numeric(nrow(y)))
  part_values(y, max.col(matrix(weights, nrow(y)), "first"))
}

# ---- As a column of a data frame ----

#' @export
`[.sparsegp_mixture` <- function(x, i, j, ..., drop = FALSE) {
  if (!missing(j)) return(unclass(x)[i, j, drop = drop])
  numbers <- unclass(x)
  if (!missing(i)) numbers <- numbers[i, , drop = FALSE]
  new_mixture(matrix(numbers, ncol = ncol(x)), attr(x, "components"), attr(x, "parts"))
}

# One column.
#' @export
as.data.frame.sparsegp_mixture <- function(x, ...) as.data.frame.model.matrix(x, ...)

#' @export
is.na.sparsegp_mixture <- function(x) rowSums(is.na(unclass(x))) > 0

#' @export
anyNA.sparsegp_mixture <- function(x, recursive = FALSE) any(is.na(x))

#' @export
rbind.sparsegp_mixture <- function(..., deparse.level = 1) {
  each <- list(...)
  first <- each[[1L]]
  what <- function(y) list(class(y), ncol(y), mixture_parts(y), mixture_width(y))
  refuse_if(length(unique(lapply(each, what))) > 1L,
            "...", "is not a mixture of as many parts and components as the rows before",
            "Give missing parts the weight 0")
  new_mixture(do.call(rbind, lapply(each, function(y) matrix(unclass(y), ncol = ncol(y)))),
              attr(first, "components"), attr(first, "parts"))
}

#' @export
format.sparsegp_mixture <- function(x, digits = NULL, ...) {
  check_mixture(x, "x")
  if (is.null(digits)) digits <- 3L
  each <- lapply(seq_len(mixture_parts(x)), function(j) {
    part <- mixture_part(x, j)
    mean <- apply(part$mean, 1L, function(m) toString(signif(m, digits)))
    paste0(format(part$weight, digits = digits), " (", mean, ")")
  })
  if (nrow(x) == 0L) return(character())
  ifelse(is.na(x), NA_character_, do.call(paste, c(each, sep = " | ")))
}

#' @export
print.sparsegp_mixture <- function(x, ...) {
  check_mixture(x, "x")
  cat("<mixture> ", counted(nrow(x), "row"), ", ", counted(mixture_parts(x), "part"), " of ",
      toString(attr(x, "components")), if (is_scaled_mixture(x)) ", divided by a prior", "\n",
      sep = "")
  if (nrow(x)) print(utils::head(format(x, ...)), quote = FALSE)
  invisible(x)
}

# ---- The codec ----

# The response is not centred: the part that a row belongs to is unknown. `given` and codes are
# mixtures.
mixtures_codec <- function() {
  codec_like(vectors_codec(), c("mixtures", "vectors", "components", "numbers"),
             missing = FALSE, called = "a response of ambiguous measurements",
             measures = character(),
             offers = offers_without(offers_of_components(), "prediction", "quantile"),
             measures = "modes", gather = gather_mixtures, moments = moments_of_mixture,
             read = read_mixtures,
             again = read_more_mixtures,
             codes = function(y, response) in_mixture_units(y, response$unit),
             back = function(codes, response) codes * response$unit,
             series = likeliest_values, observed = likeliest_values,
             words = function(response) paste0("components: ", toString(response$components)),
             constant = function(codes) NULL,
             values = function(y) rep(mixture_width(y), nrow(y)))
}

gather_mixtures <- function(chunk) {
  check_mixture(chunk$y, "y")
  if (!is.null(chunk$offset)) {
    chunk$offset <- wide_offset(chunk$offset, c(nrow(chunk$y), mixture_width(chunk$y)))
  }
  chunk
}

# No constant is removed, and m2 is about 0.
moments_of_mixture <- function(chunk) {
  squares <- mixture_squares(chunk$y)
  list(n = rep(nrow(squares), ncol(squares)), mean = numeric(ncol(squares)), m2 = colSums(squares),
       weight = nrow(squares), weighted = 0, size = sqrt(max(squares, 0)), few = NULL)
}

read_mixtures <- function(codec, y, lik, offset, weights, streams) {
  check_mixture(y, "y")
  unit <- unit_of(1, sqrt(mean(mixture_squares(y))))
  out <- new_response(codec, in_mixture_units(y, unit), y, centre = numeric(mixture_width(y)),
                      unit = unit)
  out$width <- mixture_width(y)
  out$components <- attr(y, "components")
  out
}

check_mixture <- function(y, argument) {
  refuse_if(!inherits(y, "sparsegp_mixture"), argument,
            "is not a mixture(), and the likelihood is lik_mixture()",
            "Write mixture(weights, means, variances) ~ x + y, or leave the likelihood out")
  refuse_if(!holds(is_mixture(y)), argument,
            "was not made by mixture(), or was changed afterwards", "Make it again")
}

# Users can write to its numbers, and it may come from a file.
is_mixture <- function(y) {
  numbers <- unclass(y)
  w <- mixture_width(y)
  parts <- mixture_parts(y)
  weights <- function() numbers[, (seq_len(parts) - 1L) * (1L + moment_count(w)) + 1L]
  !isS4(y) && !is.object(dim(y)) && is.double(numbers) &&
    identical(setdiff(oldClass(y), "AsIs"), "sparsegp_mixture") &&
    is_one(parts, 1, ncol(numbers)) && are_words(attr(y, "components")) && w > 1L &&
    ncol(numbers) %in% (parts * (1L + moment_count(w)) + c(0L, moment_count(w))) &&
    all(weights() >= 0, na.rm = TRUE)
}

read_more_mixtures <- function(codec, y, lik, weights, response) {
  check_mixture(y, "newdata")
  refuse_if(mixture_width(y) != response$width,
            "newdata", paste0("has ", mixture_width(y), " components for ", response$width))
  y
}

# ---- Stored values (response-check.R) ----

# A matrix of whole parts
#' @export
are_right_size.response_mixtures <- function(codec, y, n, fit) {
  w <- fit$response$width
  size <- 1L + moment_count(w)
  parts <- mixture_parts(y) %||% 0L
  parts > 0L && nrow(y) == n && mixture_width(y) == w && NROW(fit$data_rows) == parts * size &&
    ncol(y) %in% (parts * size + c(0L, size - 1L))
}

#' @export
are_right_values.response_mixtures <- function(codec, y, response) {
  is.numeric(y) && are_finite(unclass(y))
}
