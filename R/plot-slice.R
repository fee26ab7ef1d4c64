# A slice through the inputs: which of them are axes, and where the others stay.

# axes: names of one or two kept inputs; typical: named value of every kept input; derived:
# expressions for the columns that follow from others; caption: what is held fixed, in words.
slice_view <- function(object, rows, which) {
  factors <- factor_columns(object, colnames(rows$x))
  coded <- unlist(lapply(factors, colnames))
  derived <- derived_columns(object, rows$x)
  axes <- if (is.null(which)) default_axes(object, rows$x, names(derived), coded)
          else asked_axes(object, which)
  derived <- derived[setdiff(names(derived), axes)]
  held <- setdiff(colnames(rows$x), c(axes, names(derived), coded))
  typical <- apply(rows$x, 2L, stats::median)
  words <- held_words(held)
  for (name in names(factors)) {
    columns <- colnames(factors[[name]])
    level <- typical_level(factors[[name]], rows$x)
    asked <- any(columns %in% axes) # its other levels would make no sense beside it
    typical[columns] <- if (asked) 0 else factors[[name]][level, ]
    if (!asked) words <- c(words, paste(name, "at", level))
  }
  if (any(rows$offset != 0)) words <- c(words, "offset at its median")
  list(axes = axes, typical = typical, derived = derived, offset = stats::median(rows$offset),
       caption = paste(words, collapse = ", "), env = environment(object$terms))
}

held_words <- function(held) {
  if (length(held) == 0L) return(NULL)
  if (length(held) == 1L) return(paste(held, "at its median"))
  if (length(held) > 4L) held <- paste(length(held), "other inputs")
  paste(toString(held), "at their medians")
}

asked_axes <- function(object, which) {
  names <- plain_names(object)
  kept <- names[object$scaling$kept]
  if (!length(which) %in% 1:2 || anyDuplicated(which) || anyNA(which)) {
    stop_sparsegp("which", "must be one or two different inputs",
                  paste0("The inputs are ", toString(kept)))
  }
  axes <- if (is.numeric(which)) names[match(which, seq_along(names))] else as.character(which)
  unknown <- which[!axes %in% kept]
  if (length(unknown) == 0L) return(axes)
  constant <- all(axes[!axes %in% kept] %in% names)
  stop_sparsegp("which", paste0(if (constant) "names inputs that are constant: "
                                else "names unknown inputs: ", toString(unknown)),
                paste0("The inputs are ", toString(kept)))
}

# With at most two free numeric inputs these; else the two of shortest length scale, or the first.
default_axes <- function(object, x, derived, coded) {
  free <- setdiff(colnames(x), derived)
  numeric <- setdiff(free, coded)
  if (length(numeric) == 0L && length(free) > 1L) {
    stop_sparsegp("which", "is needed, as all inputs are codes of factors",
                  paste0("Give one or two of ", toString(free)))
  }
  if (length(numeric) == 0L) return(free)
  reach <- length_scales(object)[numeric]
  first <- numeric[utils::head(order(reach), 2L)]
  numeric[numeric %in% first]
}

# Shortest ARD length scale of each kept input, in standard deviations; Inf without one.
length_scales <- function(object) {
  table <- object$hyper[object$hyper$base == "lengthscale", ]
  inputs <- sub("^(k[0-9]+[.])?lengthscale[.]?", "", table$name)
  kept <- object$scaling$names[object$scaling$kept]
  shortest <- vapply(kept, function(input) min(hyper_value(table)[inputs == input], Inf), 0)
  stats::setNames(shortest / object$scaling$seen, plain_names(object)[object$scaling$kept])
}

# For every factor (and logical) the coding of its kept columns: a matrix with a row per level.
factor_columns <- function(object, kept) {
  codings <- lapply(stats::setNames(nm = names(object$contrasts)), function(variable) {
    levels <- object$xlevels[[variable]]
    if (is.null(levels)) levels <- c("FALSE", "TRUE")
    if (identical(object$contrasts[[variable]], BY_LEVEL)) {
      return(matrix(seq_along(levels), dimnames = list(levels, variable)))
    }
    frame <- data.frame(v = factor(levels, levels))
    coding <- stats::model.matrix(~ v, frame, stats::setNames(object$contrasts[variable], "v"))
    columns <- paste0(variable, substring(colnames(coding), 2L))
    if (!any(columns %in% kept)) columns <- sub(variable, paste0("`", variable, "`"), columns,
                                                fixed = TRUE)
    dimnames(coding) <- list(levels, columns)
    coding[, columns %in% kept, drop = FALSE]
  })
  Filter(ncol, codings)
}

# The level most rows have: of the nearest coding, as unscaled columns are 0 or 1 only to rounding.
typical_level <- function(coding, x) {
  distance <- apply(coding, 1L, function(code) {
    rowSums(sweep(x[, colnames(coding), drop = FALSE], 2L, code)^2)
  })
  nearest <- max.col(-matrix(distance, nrow(x)), "first")
  rownames(coding)[which.max(tabulate(nearest, nrow(coding)))]
}

# Columns of a formula's model matrix that the others give: products a:b, and calls such as I(a^2).
# Each is believed only if it reproduces the column.
derived_columns <- function(object, x) {
  if (is.null(object$terms)) return(list())
  calls <- lapply(stats::setNames(nm = colnames(x)), column_expression, colnames(x))
  calls <- Filter(Negate(is.null), calls)
  frame <- as.data.frame(x)
  holds <- vapply(names(calls), function(name) {
    value <- tryCatch(as.double(eval(calls[[name]], frame, environment(object$terms))),
                      error = function(e) NULL)
    isTRUE(all.equal(value, unname(x[, name]), tolerance = 1e-6))
  }, NA)
  calls[holds]
}

column_expression <- function(name, columns) {
  parts <- gsub("`", "", strsplit(name, ":", fixed = TRUE)[[1L]], fixed = TRUE)
  if (length(parts) > 1L && all(parts %in% columns)) {
    return(Reduce(function(a, b) call("*", a, b), lapply(parts, as.name)))
  }
  call <- tryCatch(str2lang(name), error = function(e) NULL)
  if (is.call(call) && length(all.vars(call)) && all(all.vars(call) %in% columns)) call
}

# Latent moments in C's units where the axes take the rows of `grid` (one column per axis).
slice_latent <- function(object, view, grid) {
  x <- matrix(view$typical, nrow(grid), length(view$typical), byrow = TRUE,
              dimnames = list(NULL, names(view$typical)))
  x[, view$axes] <- grid
  for (name in names(view$derived)) {
    x[, name] <- as.double(eval(view$derived[[name]], as.data.frame(x), view$env))
  }
  moments <- engine_predict(object, scale_kept(x, object$scaling))
  list(mean = moments$mean, var = moments$var, offset = rep(view$offset, nrow(grid)))
}
