# Levels of factors: coded by number, a constant where there is only one, and those of new rows that
# the fit has not seen.

coded_by_level <- function(contrasts) {
  names(contrasts)[vapply(contrasts, identical, NA, BY_LEVEL)]
}

# Returns the names of ordered factors that are numbers, too.
coded_by_number <- function(contrasts) {
  names(contrasts)[vapply(contrasts, function(how) is_word(how, c(BY_LEVEL, BY_SCORE)), NA)]
}

# Returns the names of factors of which inputs may have any level.
any_levels <- function(xlevels, contrasts) {
  c(coded_by_level(contrasts), setdiff(single_levels(xlevels), coded_by_number(contrasts)))
}

# Returns the frame with such factors as numbers: those of the levels, or where these have a "place"
# that.
number_levels <- function(frame, coded, xlev) {
  for (name in coded) {
    at <- as.double(match(as.character(frame[[name]]), xlev[[name]]))
    place <- attr(xlev[[name]], "place")
    frame[[name]] <- if (is.null(place)) at else place[at]
  }
  frame
}

# ---- Factors of one level ----

single_levels <- function(xlev) names(xlev)[lengths(xlev) == 1L]

# Returns the model matrix with zeros where contrasts of factors of one level would be: they have no
# columns, so that an interaction adds nothing to what stands beside it.
without_contrasts <- function(x, assign, terms, single) {
  factors <- attr(terms, "factors")
  rownames(factors) <- variable_names(terms)
  by_contrast <- colSums(factors[single, , drop = FALSE] == 1L) > 0 & attr(terms, "order") > 1L
  beyond <- assign %in% which(by_contrast)
  x[, beyond] <- 0 * x[, beyond] # missing values stay
  x
}

# ---- Levels of new rows ----

# Returns the frame with the variables named in `levels`, factors or texts, as factors of just these
# levels; an attribute "ordered" of levels says whether they are in an order.
with_levels <- function(frame, levels) {
  for (name in intersect(names(levels), names(frame))) {
    column <- frame[[name]]
    own <- levels[[name]]
    ordered <- attr(own, "ordered")
    if (is.null(ordered)) ordered <- is.ordered(column)
    own <- as.character(own)
    if (identical(levels(column), own) && is.ordered(column) == ordered) next # its contrasts stay
    frame[[name]] <- factor(as.character(column), own, ordered = ordered,
                            exclude = if (anyNA(own)) NULL else NA)
  }
  frame
}

# Returns the frame of new rows with factors of the fit's levels, NA where a level is none of them.
# any_level: names of factors that take any; further levels of those among `coded` follow the fit's.
# Attributes: `xlevels`, these levels; `unseen`, `placed` and `taken`, lists by variable of levels
# that became NA, that have a place among the fit's, and that are further ones, in rows that miss
# nothing else. by_place: names of ordered factors that are numbers, whose levels may have a place.
with_fit_levels <- function(frame, xlev, any_level, coded, by_place = character()) {
  unseen <- taken <- placed <- list()
  levels <- xlev
  for (name in intersect(names(xlev), names(frame))) {
    new <- setdiff(as.character(unique(frame[[name]])), c(xlev[[name]], NA))
    if (length(new) == 0L) next
    there <- intersect(new, as.character(frame[[name]][stats::complete.cases(frame)]))
    place <- if (name %in% by_place) places_of(new, frame[[name]], xlev[[name]])
    if (!is.null(place)) {
      placed[[name]] <- there
      levels[[name]] <- c(xlev[[name]], new)
      xlev[[name]] <- structure(levels[[name]], place = c(seq_along(xlev[[name]]), place))
      next
    }
    if (name %in% any_level) {
      taken[[name]] <- there
      levels[[name]] <- c(xlev[[name]], new)
      if (name %in% coded) xlev[[name]] <- levels[[name]]
    } else unseen[[name]] <- there
  }
  frame <- with_levels(frame, levels)
  attr(frame, "unseen") <- Filter(length, unseen)
  attr(frame, "taken") <- Filter(length, taken)
  attr(frame, "placed") <- Filter(length, placed)
  attr(frame, "xlevels") <- xlev
  frame
}

# Returns the numbers of new levels of an ordered factor, whose seen levels are 1, 2, ...: between
# those of its neighbours among the factor's levels, or beyond the last by as many steps. NULL: the
# factor has no order, or not that of the seen levels.
places_of <- function(new, column, seen) {
  at <- match(seen, levels(column))
  if (!is.ordered(column) || anyNA(at) || is.unsorted(at)) return(NULL)
  to <- match(new, levels(column))
  ends <- pmin(pmax(to, at[1L]), at[length(at)])
  within <- if (length(at) == 1L) rep(1, length(to))
            else stats::approx(at, seq_along(at), ends)$y
  within + to - ends
}

# Returns the values of each variable, after its name.
listed_values <- function(values) {
  values <- vapply(values, toString, "", width = 60L)
  paste0(names(values), ": ", values, collapse = "; ")
}

# Returns words for such levels.
unseen_words <- function(unseen) paste0("new levels (", listed_values(unseen), ")")

# Returns words for other values of inputs that were constant at the fit.
constant_words_of <- function(values) {
  paste0("inputs that were constant at the fit (", listed_values(values), ")")
}

# Signals values that the fit did not have, by a condition of class sparsegp_unseen that
# warn_once() can join with others: a warning where predictions are missing, a message where a level
# was taken for a further one, and no more than a signal where any level will do; and a warning or,
# of factors, a message where an input was constant, so that its value has no effect.
signal_unseen <- function(unseen, kind) {
  if (length(unseen) == 0L) return(invisible())
  how <- UNSEEN[[kind]]
  condition <- structure(
    class = c(if (kind != "signal") "sparsegp_unseen", "sparsegp_any_unseen",
              paste0("sparsegp_", how$class), how$class, "condition"),
    list(message = paste0(how$text(unseen), ".", if (how$class == "message") "\n"),
         call = NULL, unseen = unseen, kind = kind)
  )
  SIGNALS[[how$class]](condition)
}

SIGNALS <- list(warning = warning, message = message, signal = signalCondition)

# Returns the message on new levels and how they are predicted, one line for each factor.
new_level_words <- function(unseen, how) {
  levels <- vapply(unseen, toString, "", width = 60L)
  paste0("New level", ifelse(lengths(unseen) > 1L, "s", ""), " of ", names(unseen),
         ", predicted ", how, ": ", levels, collapse = "\n")
}

prior_words <- function(unseen) new_level_words(unseen, "from the prior")

place_words <- function(unseen) new_level_words(unseen, "by place in the order of its levels")

no_effect_words <- function(values) {
  paste0("Predictions do not depend on other values of ", constant_words_of(values))
}

so_far_words <- function(values) {
  paste0("No row has shown yet what other values do of ", constant_words_of(values))
}

# class: of the condition; words: of an error; text: of the condition's message
UNSEEN <- list(
  warning = list(class = "warning", words = unseen_words, text = function(unseen) {
    paste0("Predictions are NA for rows with ", unseen_words(unseen))
  }),
  message = list(class = "message", words = unseen_words, text = prior_words),
  place = list(class = "message", words = unseen_words, text = place_words),
  signal = list(class = "signal", words = unseen_words, text = unseen_words),
  constant = list(class = "warning", words = constant_words_of, text = no_effect_words),
  so_far = list(class = "warning", words = constant_words_of, text = so_far_words),
  single = list(class = "message", words = constant_words_of, text = no_effect_words)
)

# Signals such levels that became further ones. learns: names of factors whose further levels have
# a message; single: of those that had one level
signal_taken <- function(taken, learns, single) {
  signal_unseen(taken[intersect(names(taken), learns)], "message")
  signal_unseen(taken[setdiff(intersect(names(taken), single), learns)], "single")
  signal_unseen(taken[setdiff(names(taken), c(learns, single))], "signal")
}

# Signals other values of the inputs that a fit has left out as constant, or that have been constant
# in a stream so far; factors of one level are seen by their levels.
signal_constant <- function(object, x) {
  constant <- stats::setNames(object$scaling$constant, object$scaling$dropped)
  constant <- constant[!without_backticks(names(constant)) %in% single_levels(object$xlevels)]
  complete <- x[stats::complete.cases(x), , drop = FALSE]
  signal_moved(constant, moved_inputs(constant, complete), complete, "constant")
  so_far <- if (object$n > 1L) object$stream$constant # nothing has varied in one row
  moved <- measured_inputs(object, moved_inputs(so_far, complete), complete)
  signal_moved(so_far, moved, complete, "so_far")
}

signal_moved <- function(constant, moved, x, kind) {
  signal_unseen(lapply(stats::setNames(nm = moved), function(name) {
    format(setdiff(x[, name], constant[[name]]), trim = TRUE)
  }), kind)
}

# Returns the names of a stream's inputs, of those that have moved, that have a unit: the columns of
# a factor have none.
measured_inputs <- function(object, moved, x) {
  factors <- object$scaling$names[object$scaling$kept][object$scaling$levels > 0]
  constant <- object$stream$constant
  Filter(function(name) !all(c(constant[[name]], x[, name]) %in% 0:1), setdiff(moved, factors))
}

# Evaluates `expr`, in which unseen levels of `argument` are an error; any: those that would be
# taken without a word, too.
refuse_unseen <- function(argument, expr, any = FALSE) {
  refuse <- function(w) {
    other <- if (w$kind %in% c("constant", "so_far", "single")) "other values of "
    stop_sparsegp(argument, paste0("has ", other, UNSEEN[[w$kind]]$words(w$unseen)),
                  "Leave those rows out")
  }
  if (any) withCallingHandlers(expr, sparsegp_any_unseen = refuse)
  else withCallingHandlers(expr, sparsegp_unseen = refuse)
}

# Evaluates `expr`, and signals once, of each kind, all unseen levels that show in it.
warn_once <- function(expr) {
  unseen <- lapply(UNSEEN[names(UNSEEN) != "signal"], function(how) list())
  value <- withVisible(withCallingHandlers(expr, sparsegp_unseen = function(w) {
    for (name in names(w$unseen)) {
      unseen[[w$kind]][[name]] <<- union(unseen[[w$kind]][[name]], w$unseen[[name]])
    }
    invokeRestart(if (inherits(w, "warning")) "muffleWarning" else "muffleMessage")
  }))
  for (kind in names(Filter(length, unseen))) signal_unseen(unseen[[kind]], kind)
  if (value$visible) value$value else invisible(value$value)
}

# Returns names of those constant inputs that these rows have other values of.
moved_inputs <- function(constant, x) {
  moved <- vapply(names(constant), function(name) {
    known <- constant[[name]]
    any(abs(x[, name] - known) > 1e-9 * abs(known)) # varies() takes 1e-10 for none
  }, NA)
  names(constant)[moved]
}
