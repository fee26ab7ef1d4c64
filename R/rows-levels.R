# Levels of factors: coded by number for kernel_factor(), a constant where there is only one, and
# those of new rows that the fit has not seen.

coded_by_level <- function(contrasts) {
  names(contrasts)[vapply(contrasts, identical, NA, BY_LEVEL)]
}

# Returns the frame with such factors as numbers; levels beyond those of the fit are numbered on.
number_levels <- function(frame, coded, xlev) {
  for (name in coded) {
    value <- as.character(frame[[name]])
    frame[[name]] <- as.double(match(value, c(xlev[[name]], sort(setdiff(value, xlev[[name]])))))
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

# Returns the frame of new rows with factors of the fit's levels, NA where a level is none of them;
# attribute `unseen`: a list of these, by variable, in rows that miss nothing else. any_level: names
# of factors that take any.
with_fit_levels <- function(frame, xlev, any_level) {
  unseen <- list()
  for (name in intersect(names(xlev), names(frame))) {
    new <- setdiff(as.character(unique(frame[[name]])), c(xlev[[name]], NA))
    if (length(new) == 0L) next
    if (name %in% any_level) xlev[[name]] <- c(xlev[[name]], new)
    else unseen[[name]] <- intersect(new, as.character(frame[[name]][stats::complete.cases(frame)]))
  }
  frame <- with_levels(frame, xlev)
  attr(frame, "unseen") <- Filter(length, unseen)
  frame
}

# Returns words for such levels.
unseen_words <- function(unseen) {
  levels <- vapply(unseen, toString, "", width = 60L)
  paste0("levels that were not seen at the fit (", paste0(names(unseen), ": ", levels,
                                                          collapse = "; "), ")")
}

# Gives a warning that names levels which have no predictions. It is of class sparsegp_unseen, so
# that warn_once() can join several.
warn_unseen <- function(unseen) {
  if (length(unseen) == 0L) return(invisible())
  warning(structure(
    class = c("sparsegp_unseen", "sparsegp_warning", "warning", "condition"),
    list(message = paste0("Predictions are NA for rows with ", unseen_words(unseen), "."),
         call = NULL, unseen = unseen)
  ))
}

# Evaluates `expr`, in which unseen levels of `argument` are an error.
refuse_unseen <- function(argument, expr) {
  withCallingHandlers(expr, sparsegp_unseen = function(w) {
    stop_sparsegp(argument, paste("has", unseen_words(w$unseen)), "Leave them out")
  })
}

# Evaluates `expr`, and warns once of all unseen levels that show in it.
warn_once <- function(expr) {
  unseen <- list()
  value <- withVisible(withCallingHandlers(expr, sparsegp_unseen = function(w) {
    for (name in names(w$unseen)) unseen[[name]] <<- union(unseen[[name]], w$unseen[[name]])
    invokeRestart("muffleWarning")
  }))
  warn_unseen(unseen)
  if (value$visible) value$value else invisible(value$value)
}
