# From what users hand over to numbers: model frames and matrices, the basis they give, the
# response, the scaling of inputs.

# The part of the call that model.frame() understands, evaluated where the user called. Known
# variances of the likelihood go along as weights, rows without a label only where it takes them.
model_frame <- function(call, env, drop = TRUE, likelihood = NULL) {
  refuse_two_weights(likelihood, !is.null(call$weights))
  keep <- match(c("formula", "data", "subset", "weights", "na.action"), names(call), 0L)
  call <- call[c(1L, keep)]
  call$drop.unused.levels <- drop
  if (has_variances(likelihood)) call$weights <- weights_of_variances(likelihood)
  if (takes_unlabelled(likelihood)) call$na.action <- but_for_labels(eval(call$na.action, env))
  call[[1L]] <- quote(stats::model.frame)
  frame <- tryCatch(eval(call, env), error = function(e) {
    if (has_variances(likelihood) && grepl("(weights)", conditionMessage(e), fixed = TRUE)) {
      call$weights <- call$subset <- NULL
      call$na.action <- quote(stats::na.pass)
      refuse_wrong_count(likelihood$variances, nrow(eval(call, env)))
    }
    stop_sparsegp("formula", paste0("and data do not make a model frame: ", conditionMessage(e)),
                  "Check the variables in `formula`, `data`, `subset` and `weights`")
  })
  check_per_row(stats::model.weights(frame), nrow(frame), "weights", 1, positive = TRUE)
  frame
}

# A na.action for model frames that does what na.action says, but as if the response were known.
but_for_labels <- function(na.action) {
  force(na.action)
  function(frame) {
    response <- attr(attr(frame, "terms"), "response")
    labels <- frame[[response]]
    frame[[response]] <- seq_along(labels)
    frame <- apply_na_action(frame, na.action)
    frame[[response]] <- labels[frame[[response]]]
    frame
  }
}

# Model matrix without the intercept column, coded as if there were one, and for each column the
# variable or term it came from.
model_inputs <- function(terms, frame, contrasts = NULL, xlev = NULL) {
  terms <- stats::delete.response(terms)
  # only at the fit: later data may well have one level of several, and xlev keeps the others
  if (is.null(xlev)) check_factor_levels(used_inputs(terms, frame))
  x <- stats::model.matrix(terms, frame, contrasts.arg = contrasts, xlev = xlev)
  assign <- attr(x, "assign")
  coding <- attr(x, "contrasts")
  x <- x[, assign > 0L, drop = FALSE]
  if (ncol(x) == 0L) {
    stop_sparsegp("formula", "has no inputs", "Write it as response ~ inputs")
  }
  rownames(x) <- NULL
  attr(x, "contrasts") <- coding
  list(x = x, terms = attr(terms, "term.labels")[assign[assign > 0L]])
}

# The variables of a model frame that the terms use as inputs.
used_inputs <- function(terms, frame) {
  terms <- stats::delete.response(terms)
  as.list(frame)[intersect(rownames(attr(terms, "factors")), names(frame))]
}

# Levels of each variable; 2 for numbers, which need none.
factor_levels <- function(variables) {
  vapply(variables, function(column) {
    if (is.factor(column)) nlevels(column)
    else if (is.character(column)) length(unique(column)) else 2L
  }, 0L)
}

check_factor_levels <- function(variables) {
  levels <- factor_levels(variables)
  if (all(levels > 1L)) return(invisible())
  stop_sparsegp("formula", paste0("has a factor with a single level: ",
                                  toString(names(variables)[levels < 2L])), "Leave it out")
}

# ---- The basis a user gives: row numbers, or points in the inputs' space ----

# Points as a data frame of the formula's variables become model-matrix columns.
formula_basis <- function(basis, terms, frame, x) {
  if (!is.data.frame(basis)) return(matrix_basis(basis, x))
  terms <- stats::delete.response(terms)
  refuse_workspace(terms, basis, "basis")
  points <- tryCatch(
    stats::model.frame(terms, basis, na.action = stats::na.fail,
                       xlev = stats::.getXlevels(terms, frame)),
    error = function(e) stop_sparsegp("basis", paste0("does not fit the formula: ",
                                                      conditionMessage(e)))
  )
  model_inputs(terms, points, attr(x, "contrasts"), stats::.getXlevels(terms, frame))$x
}

matrix_basis <- function(basis, x) {
  if (is.logical(basis)) {
    stop_sparsegp("basis", "is logical", "Give row numbers, as which() does, or points")
  }
  if (is.null(basis) || (is.numeric(basis) && is.null(dim(basis)))) return(basis)
  given <- colnames(basis)
  points <- check_inputs(basis, "basis")
  if (all(colnames(x) %in% given)) return(points[, colnames(x), drop = FALSE])
  invented <- identical(colnames(x), paste0("x", seq_len(ncol(x))))
  if (!is.null(given) && !invented && !identical(colnames(points), colnames(x))) {
    stop_sparsegp("basis", paste0("lacks ", toString(setdiff(colnames(x), given))),
                  paste0("The inputs are ", toString(colnames(x))))
  }
  if (ncol(points) != ncol(x)) {
    stop_sparsegp("basis", paste0("has ", ncol(points), " columns for ", ncol(x), " inputs"),
                  "Give row numbers, or a matrix with the inputs' columns")
  }
  points
}

# Scaled points, and which training rows they are. A point given twice counts once: the second
# would make the basis's kernel matrix singular.
resolve_basis <- function(basis, x, scaling) {
  if (is.null(basis)) return(list(x = NULL, rows = seq_len(nrow(x))))
  if (is.matrix(basis)) {
    if (nrow(basis) == 0L || !all(is.finite(basis))) {
      stop_sparsegp("basis", "must be a matrix of finite numbers with at least one row")
    }
    return(list(x = unique(scaled_inputs(basis, scaling)), rows = NULL))
  }
  inside <- length(basis) > 0L && all(basis %in% seq_len(nrow(x)))
  if (!inside) {
    stop_sparsegp("basis", paste0("must be row numbers from 1 to ", nrow(x), ", of the rows used"),
                  "Or give a matrix of points")
  }
  rows <- as.integer(basis)
  rows <- rows[!duplicated(x[rows, , drop = FALSE])]
  list(x = x[rows, , drop = FALSE], rows = rows)
}

# ---- Response ----

# Reads y as the likelihood needs it, in units in which C works: two classes as -1 and 1, more from
# 1; numbers less their mean (after the offset) and divided by their standard deviation.
read_response <- function(y, lik, offset, weights, streams) {
  if (lik_traits(lik)$response != "numeric") return(read_classes(y, lik, streams))
  y <- as_numbers(y, lik)
  if (!all(is.finite(y))) stop_sparsegp("y", "has values that are not finite")
  if (is.null(weights)) weights <- rep(1, length(y))
  check_legal(y, lik, weights)
  if (!lik_traits(lik)$scales) return(unscaled_response(y, weights))
  # divided first: a sum of values near the largest double must not overflow
  size <- max(abs(y), abs(offset), 0)
  if (size == 0) size <- 1
  shifted <- y / size - offset / size
  centre <- sum(shifted * (weights / sum(weights)))
  spread <- sqrt(mean((shifted - centre)^2))
  unit <- if (spread > 1e-14) spread else 1
  if (!is.finite((unit * size)^2) || (unit * size)^2 < .Machine$double.xmin) {
    stop_sparsegp("y", "is so large or small that its square is no number",
                  "Fit the response in other units")
  }
  list(y = (y / size - centre) / unit, weights = weights, centre = centre * size,
       unit = unit * size, levels = NULL, given = y, latents = 1L)
}

unscaled_response <- function(y, weights) {
  list(y = y, weights = weights, centre = 0, unit = 1, levels = NULL, given = y, latents = 1L)
}

# What a likelihood for numbers may be given as such.
as_numbers <- function(y, lik) {
  if (is.numeric(y) || is.logical(y)) return(as.double(y))
  stop_sparsegp("y", paste0("is of class ", class(y)[1L], ", but the ", lik$type,
                            " likelihood is for numbers"),
                if (isTRUE(lik_traits(lik)$trials)) {
                  "Use likelihood = \"logit\" for classes, cbind(successes, failures) for trials"
                } else "Convert the response, or choose another likelihood")
}

# Numbers the likelihood has a density for.
check_legal <- function(y, lik, weights = 1, argument = "y") {
  known <- !is.na(y)
  weights <- if (is.null(weights)) 1 else rep_len(weights, length(y))[known]
  wrong <- if (!is.null(lik_traits(lik)$legal)) lik_traits(lik)$legal(y[known], weights)
  if (is.null(wrong)) return(invisible())
  stop_sparsegp(argument, paste0(wrong, ", and the likelihood is ", lik$type),
                "Correct those rows, or choose another likelihood")
}

# Two classes are -1 and 1 for C, several latent functions numbers from 1. A stream may begin with
# one class, if the response names the others.
read_classes <- function(y, lik, streams) {
  codes <- if (is.factor(y) && streams && nlevels(y) > 1L) y
           else if (is.factor(y)) droplevels(y)
           else if (is.logical(y)) factor(y, c(FALSE, TRUE))
           else if (is.numeric(y) && !are_labels(y, lik)) NULL
           else factor(y)
  if (is.null(codes)) {
    stop_sparsegp("y", paste("is not", class_words(lik)),
                  "Convert it by factor(); a logical, 0/1 or -1/1 will do for two classes")
  }
  if (is_ordered(lik) && is.character(y)) {
    stop_sparsegp("y", "is text, whose categories have no order but the alphabet's",
                  "Say which it is by factor(y, levels, ordered = TRUE)")
  }
  if (anyNA(levels(codes))) {
    stop_sparsegp("y", "has NA among its levels",
                  "Name that level, or leave it out: factor(as.character(y))")
  }
  present <- levels(if (streams) codes else droplevels(codes))
  if (length(present) < 2L) {
    stop_sparsegp("y", if (length(present)) paste0("has only one class, ", present)
                       else "has no labels", "Give rows of all classes")
  }
  if (nlevels(codes) > MAX_CLASSES) {
    stop_sparsegp("y", paste0("has ", nlevels(codes), " classes, and ", MAX_CLASSES,
                              " is the most"), "Merge classes, or fit numbers as a regression")
  }
  if (is_ordered(lik)) check_cut_count(lik, nlevels(codes))
  if (may_lack_labels(lik) && nlevels(codes) > 2L) {
    stop_sparsegp("y", paste0("has ", nlevels(codes), " classes, and the ", lik$type,
                              " likelihood is for two"), "Merge classes, or fit one by one")
  }
  list(y = class_codes(codes, lik), weights = NULL, centre = 0, unit = 1,
       levels = levels(codes), latents = count_latents(lik, levels(codes)))
}

class_words <- function(lik) {
  words <- c(classes = "a class response", binary = "a two-class response",
             ordered = "a response of ordered categories")
  words[[lik_traits(lik)$response]]
}

# Cut points that were given; learned ones are as many as it takes.
check_cut_count <- function(lik, categories) {
  given <- length(unlist(lik$params))
  if (given == 0L || given == categories - 1L) return(invisible())
  stop_sparsegp("cuts", paste0("has ", counted(given, "value"), " for ", categories,
                               " categories"), "Give one between any two neighbours")
}

# Are these numbers names of classes?
are_labels <- function(y, lik) {
  if (is_joint(lik) || is_ordered(lik)) return(all(is.finite(y) & y == round(y)))
  y <- y[!is.na(y)]
  all(y %in% c(0, 1)) || all(y %in% c(-1, 1))
}

# One model of all classes?
is_joint <- function(lik) lik_traits(lik)$response == "classes"

# One latent function for all categories, in their order?
is_ordered <- function(lik) lik_traits(lik)$response == "ordered"

# One latent function for two classes?
is_binary <- function(lik, levels) {
  lik_traits(lik)$response == "binary" && length(levels) == 2L
}

# Latent functions: one for each class, or one for two classes or ordered ones.
count_latents <- function(lik, levels) {
  if (is_binary(lik, levels) || is_ordered(lik)) 1L else length(levels)
}

# May a row have no label? Its code is 0 then.
may_lack_labels <- function(lik) isTRUE(lik_traits(lik)$unlabelled)

class_codes <- function(y, lik) {
  if (is_binary(lik, levels(y))) ifelse(is.na(y), 0, c(-1, 1)[as.integer(y)])
  else as.double(as.integer(y))
}

# and back
class_factor <- function(codes, levels, lik) {
  at <- if (is_binary(lik, levels)) match(codes, c(-1, 1)) else codes
  factor(levels[at], levels, ordered = is_ordered(lik))
}

# The response of more rows, as the fit reads it: numbers, or a factor of its levels.
read_new_response <- function(object, y, n, weights = NULL) {
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  if (length(y) != n || !is.null(dim(y))) {
    stop_sparsegp("newdata", paste0("has ", NROW(y), " responses for ", n, " rows"))
  }
  levels <- object$response$levels
  if (is.null(levels)) {
    if (!(is.numeric(y) || is.logical(y)) || any(is.infinite(y))) {
      stop_sparsegp("newdata", "has a response that is not finite numbers")
    }
    check_legal(y, object$likelihood, weights, "newdata")
    return(as.double(y))
  }
  unknown <- setdiff(unique(as.character(y)), c(levels, NA))
  if (length(unknown) == 0L) return(factor(as.character(y), levels))
  stop_sparsegp("newdata", paste0("has responses that were not seen at the fit: ",
                                  toString(unknown)), paste0("The levels are ", toString(levels)))
}

# ---- Scaling ----

# Centre and standard deviation of each input; `kept` leaves out constant ones, unless all are.
# `seen` is the scale of what the kernel sees: 1, or the standard deviation when inputs are not
# scaled.
scale_inputs <- function(x, scale) {
  size <- by_column(x, function(column) max(abs(column), 0))
  unit <- ifelse(size > 0, size, 1)
  centre <- by_column(x, function(column, unit) mean(column / unit), unit)
  sd <- by_column(x, function(column, unit, centre) sqrt(mean((column / unit - centre)^2)), unit,
                  centre)
  kept <- sd > 1e-10
  if (!any(kept)) kept[] <- TRUE # one row, or copies of one: nothing tells the inputs apart
  range <- by_column(x, function(column) diff(range(column)))[kept]
  natural <- (sd * size)[kept]
  natural[natural == 0] <- 1
  range[range == 0] <- 1
  list(
    kept = kept, scale = scale, dropped = colnames(x)[!kept], names = colnames(x),
    constant = x[1L, !kept],
    centre = if (scale) (centre * size)[kept] else numeric(sum(kept)),
    sd = if (scale) natural else rep(1, sum(kept)),
    seen = if (scale) rep(1, sum(kept)) else natural,
    range = if (scale) range / natural else range
  )
}

# fun(column, ...) of every column, further arguments one for each: no copy of all of x.
by_column <- function(x, fun, ...) {
  each <- mapply(function(j, ...) fun(x[, j], ...), seq_len(ncol(x)), ...)
  stats::setNames(as.double(each), colnames(x))
}

scaled_inputs <- function(x, scaling) {
  if (!all(scaling$kept)) x <- x[, scaling$kept, drop = FALSE]
  if (any(scaling$centre != 0, scaling$sd != 1)) x <- scale_kept(x, scaling)
  attr(x, "contrasts") <- NULL
  x
}

# Kept inputs to C's units and back.
scale_kept <- function(x, scaling) {
  for (j in seq_len(ncol(x))) x[, j] <- (x[, j] - scaling$centre[j]) / scaling$sd[j]
  x
}

unscale_kept <- function(x, scaling) sweep(sweep(x, 2L, scaling$sd, "*"), 2L, scaling$centre, "+")
