# Reads a response as the likelihood needs it, and gives it back as the user had it.

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
       unit = unit * size, levels = NULL, given = y, processes = 1L,
       width = 1L)
}

unscaled_response <- function(y, weights) {
  list(y = y, weights = weights, centre = 0, unit = 1, levels = NULL, given = y, processes = 1L,
       width = 1L)
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

# Shares and trials in place of successes and failures
read_trials <- function(chunk, likelihood) {
  if (!are_trials(chunk$y) || is.null(likelihood)) return(chunk)
  if (!isTRUE(lik_traits(as_likelihood(likelihood, chunk$y))$trials)) return(chunk)
  if (!is.null(chunk$weights)) {
    stop_sparsegp("weights", "and a response of successes and failures exclude each other",
                  "Leave the weights out")
  }
  trials <- rowSums(chunk$y)
  wrong <- illegal_counts(chunk$y[!is.na(chunk$y)])
  if (!is.null(wrong)) stop_sparsegp("y", wrong)
  if (any(trials == 0, na.rm = TRUE)) {
    stop_sparsegp("y", "has rows without trials", "Leave them out")
  }
  chunk$y <- unname(chunk$y[, 1L] / trials)
  chunk$weights <- unname(trials)
  chunk
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
       levels = levels(codes), processes = count_processes(lik, levels(codes)), width = 1L)
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

# Latent functions: one for each class, or one for two classes or ordered ones.
count_processes <- function(lik, levels) {
  if (is_binary(lik, levels) || is_ordered(lik)) 1L else length(levels)
}

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

# ---- What a fit's response is ----

processes <- function(fit) fit$response$processes # independent latent functions

width <- function(fit) fit$response$width # latent values of one of them that a row sees at once

has_classes <- function(fit) !is.null(fit$response$levels)

# Each class a model of its own?
against_rest <- function(fit) processes(fit) > 1L && !is_joint(fit$likelihood)
