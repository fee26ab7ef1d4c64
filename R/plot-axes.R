# Returns what can be an axis: variables of the data, not columns of the model matrix. A list by
# name of values of class axis_number or axis_factor with
#   name      what it is called
#   columns   the kept columns of the model matrix that it decides
#   levels    of a factor, which stand at 1, 2, ...
#   ordered   have the levels an order? Their colours have one then
#   side      of a number on a log scale: to which side it is skewed (data-warp.R); else 0
#   within    what a number lies within: degrees on the sphere do
#   nodes     function(limits) -> how many points a curve along a number has (plot-grain.R)
#   code      function(places) -> those columns, a row for each place: a number, or that of a level
#   places    function(x, raw) -> where rows are on it, from kept columns in original units and from
#             raw(name), values of a variable of the data

new_axis <- function(class, name, columns, code, places, levels = NULL, side = 0,
                     nodes = function(limits) FEWEST_NODES, ordered = FALSE,
                     within = c(-Inf, Inf)) {
  structure(list(name = name, columns = columns, levels = levels, side = side, code = code,
                 places = places, nodes = nodes, ordered = ordered, within = within),
            class = class)
}

number_axis <- function(name, object) {
  side <- side_of(object, name)
  new_axis("axis_number", name, name, function(places) {
    matrix(places, length(places), 1L, dimnames = list(NULL, name))
  }, function(x, raw) x[, name], side = side, nodes = nodes_along(object, name, side),
  within = degrees_of(match(name, plain_names(object)[object$scaling$kept]), object$scaling))
}

side_of <- function(object, name) {
  side <- object$scaling$warp$side[match(name, plain_names(object)[object$scaling$kept])]
  if (length(side) == 0L || is.na(side)) 0 else side
}

# coding: a row per level
factor_axis <- function(name, coding, ordered) {
  new_axis("axis_factor", name, colnames(coding), function(places) coding[places, , drop = FALSE],
           function(x, raw) nearest_level(coding, x), rownames(coding), ordered = ordered)
}

# The combinations of two factors.
crossed_axis <- function(first, second) {
  count <- length(first$levels)
  level_of <- function(places) list((places - 1L) %% count + 1L, (places - 1L) %/% count + 1L)
  new_axis("axis_factor", paste(first$name, second$name, sep = ", "),
           c(first$columns, second$columns), function(places) {
             at <- level_of(places)
             cbind(first$code(at[[1L]]), second$code(at[[2L]]))
           }, function(x, raw) first$places(x, raw) + count * (second$places(x, raw) - 1L),
           c(outer(first$levels, second$levels, paste, sep = ", ")))
}

# A number with these values alone, as a factor.
valued_axis <- function(axis, values) {
  nearest <- function(at) vapply(at, function(one) which.min(abs(values - one)), 1L)
  new_axis("axis_factor", axis$name, axis$columns, function(places) axis$code(values[places]),
           function(x, raw) nearest(axis$places(x, raw)), format(values, trim = TRUE),
           ordered = length(values) > 2L)
}

# A variable of which a term makes several columns, poly(x, 2) for example; call: the term's.
curve_axis <- function(name, columns, call, env) {
  new_axis("axis_number", name, columns, function(places) {
    made <- eval(call, stats::setNames(list(places), name), env)
    matrix(made, length(places), dimnames = list(NULL, columns))
  }, function(x, raw) raw(name))
}

# ---- What depends on the kind of an axis ----

# Returns the limits of an axis for rows at these places.
axis_limits <- function(axis, at, style) UseMethod("axis_limits")

#' @export
axis_limits.axis_number <- function(axis, at, style) {
  if (isTRUE(style$log)) log_limits(axis, at, style$xlim) else style$xlim %||% around_axis(axis, at)
}

# Limits on a logarithmic scale, which axis_nodes() recognises by an attribute.
log_limits <- function(axis, at, given) {
  refuse_if(any(c(given, if (is.null(given)) at) <= 0),
            "log", paste0("is for an axis of positive numbers, and ", axis$name, " has others"),
            "Give positive `xlim`, or leave `log` out")
  structure(given %||% exp(around(log(at))), log = TRUE)
}

#' @export
axis_limits.axis_factor <- function(axis, at, style) {
  if (isTRUE(style$log)) refuse_log()
  style$xlim %||% c(0.5, length(axis$levels) + 0.5)
}

# A range of so many times its least value is drawn on a logarithmic axis where the fit has one.
LOG_RANGE <- 100

spans_log_range <- function(values) {
  ends <- range(values, na.rm = TRUE)
  ends[1L] > 0 && ends[2L] > LOG_RANGE * ends[1L]
}

# Returns the style of a panel along one input. Unless another axis was asked for it is logarithmic
# where the fit has the logarithm of the input, and values span orders of magnitude.
style_along <- function(axis, at, style) {
  if (is.null(style$log)) {
    style$log <- is.null(style$xlim) && axis$side > 0 && spans_log_range(at)
  }
  style
}

# Is the axis of the response logarithmic? It is beside a logarithmic input if the fit has the
# logarithm of the response, or a Box-Cox scale near it.
has_log_response <- function(object, values, style) {
  NEAR <- 0.1 # of lambda
  scale <- codec_of(object)$scale %||% ""
  like_log <- scale == "log" || scale == "boxcox" && abs(object$response$scale[["value"]]) < NEAR
  isTRUE(style$log) && is.null(style$ylim) && like_log && spans_log_range(values)
}

refuse_log <- function() {
  stop_sparsegp("log", "is for a curve along one number", "Name one numeric input, or leave it out")
}

# Returns the places at which a curve is computed. n: their number, NULL: the axis's own, or more
# than one: places, of which those within the limits are taken.
axis_nodes <- function(axis, limits, n) UseMethod("axis_nodes")

#' @export
axis_nodes.axis_number <- function(axis, limits, n) {
  if (length(n) > 1L) return(places_within(n, limits))
  logs <- isTRUE(attr(limits, "log"))
  ends <- if (logs) log(range(limits)) else range(limits)
  at <- seq(ends[1L], ends[2L], length.out = n %||% axis$nodes(limits))
  if (logs) exp(at) else at
}

# Returns those of some places that are between limits; fewer than two make no curve: then these.
places_within <- function(at, limits) {
  ends <- range(limits)
  rounding <- 1e-9 * diff(ends)
  inside <- at[at >= ends[1L] - rounding & at <= ends[2L] + rounding]
  if (length(inside) > 1L) inside else ends
}

#' @export
axis_nodes.axis_factor <- function(axis, limits, n) seq_along(axis$levels)

# Returns values of the variable at all places of axis_nodes().
axis_values <- function(axis, nodes) UseMethod("axis_values")

#' @export
axis_values.axis_number <- function(axis, nodes) nodes

#' @export
axis_values.axis_factor <- function(axis, nodes) factor(axis$levels, axis$levels)

# Returns ticks, list(at, labels), or NULL where those of numbers will do.
axis_ticks <- function(axis, object, limits) UseMethod("axis_ticks")

#' @export
axis_ticks.axis_number <- function(axis, object, limits) input_ticks(object, axis$name, limits)

#' @export
axis_ticks.axis_factor <- function(axis, object, limits) {
  list(at = seq_along(axis$levels), labels = axis$levels)
}

# Returns the same, or the values themselves of a number that has a few whole ones, as 0 and 1.
value_ticks <- function(axis, object, limits, at) {
  FEW <- 5L
  ticks <- axis_ticks(axis, object, limits)
  values <- sort(unique(at))
  few <- is.null(ticks) && length(values) %in% 2:FEW && all(values == round(values))
  if (few) list(at = values, labels = format(values, trim = TRUE)) else ticks
}

# Returns by how much a group is shifted: at a level groups stand beside each other.
dodged <- function(axis, group, groups) UseMethod("dodged")

#' @export
dodged.axis_number <- function(axis, group, groups) 0

#' @export
dodged.axis_factor <- function(axis, group, groups) (group - (groups + 1) / 2) * 0.7 / groups

# Returns where rows are drawn: about their level, which all of them share.
scattered <- function(axis, at, groups) UseMethod("scattered")

#' @export
scattered.axis_number <- function(axis, at, groups) at

#' @export
scattered.axis_factor <- function(axis, at, groups) about_levels(at, groups)

about_levels <- function(at, groups = 1L) {
  at + ((seq_along(at) * 0.618) %% 1 - 0.5) * 0.4 / max(1, groups)
}

# Returns the columns of an axis that is held, and words: a number at its median, a factor at its
# most common level. shown: columns that other axes decide; a factor of which one is shown is at
# the level that has no column. y: responses of the rows at these places.
resting_place <- function(axis, at, shown, y) UseMethod("resting_place")

#' @export
resting_place.axis_number <- function(axis, at, shown, y) {
  list(code = axis$code(stats::median(at)), words = NULL)
}

#' @export
resting_place.axis_factor <- function(axis, at, shown, y) {
  if (any(axis$columns %in% shown)) return(list(code = 0 * axis$code(1L), words = ""))
  level <- common_level(at, length(axis$levels), y)
  list(code = axis$code(level), words = paste("at", axis$levels[level]))
}

MANY <- 8L # levels: more colours than that cannot be told apart

# Returns the most common of so many levels. Of several that are equally common, as treatments and
# groups in a balanced design, it is the first, or else the one whose mean response is in the
# middle, as the first of many groups may be an extreme.
common_level <- function(at, levels, y, first = levels <= MANY) {
  counts <- tabulate(at, levels)
  common <- which(counts == max(counts))
  if (first || length(common) == 1L || !is.numeric(y) || NROW(y) != length(at)) return(common[1L])
  means <- vapply(common, function(level) mean(y[which(at == level)], na.rm = TRUE), 0)
  common[order(means)[(length(common) + 1L) %/% 2L]]
}

# Returns some places over which an effect is compared: quantiles of the rows, or all levels.
typical_places <- function(axis, at) UseMethod("typical_places")

#' @export
typical_places.axis_number <- function(axis, at) {
  stats::quantile(at, seq(0.05, 0.95, 0.15), names = FALSE)
}

#' @export
typical_places.axis_factor <- function(axis, at) seq_along(axis$levels)

# ---- Of a fit ----

# Returns how many levels each axis has; 0: it is a number.
count_levels <- function(axes) lengths(lapply(axes, `[[`, "levels"))

# Returns the level of each row, by its coding. Columns that were unscaled are whole numbers only to
# rounding, so a row has the level whose weighted sum of columns is nearest to its own; weights
# spread by the golden ratio distinguish all levels. O(columns) a row, also where levels are
# thousands.
nearest_level <- function(coding, x) {
  weights <- (seq_len(ncol(coding)) * (sqrt(5) - 1) / 2) %% 1
  key <- drop(coding %*% weights)
  order <- order(key)
  middle <- (key[order][-1L] + key[order][-length(key)]) / 2
  order[findInterval(drop(x[, colnames(coding), drop = FALSE] %*% weights), middle) + 1L]
}

# All of them: numbers but for the columns that follow from others (derived), factors, variables
# behind terms of several columns where the rows' values can be found.
data_axes <- function(object, rows, derived) {
  factors <- factor_columns(object, colnames(rows$x))
  ordered <- names(factors) %in% ordered_variables(object$terms)
  factors <- Map(factor_axis, names(factors), factors, ordered)
  curves <- curve_axes(object, colnames(rows$x), rows$raw)
  taken <- unlist(lapply(c(factors, curves), `[[`, "columns"))
  groups <- setdiff(intersect(numbers_as_levels(object), colnames(rows$x)), c(taken, derived))
  groups <- lapply(stats::setNames(nm = groups), group_axis, rows$x)
  taken <- c(taken, names(groups))
  numbers <- lapply(stats::setNames(nm = setdiff(colnames(rows$x), c(taken, derived))), number_axis,
                    object)
  axes <- c(numbers, groups, factors, curves)
  place <- vapply(axes, function(axis) match(axis$columns[1L], colnames(rows$x)), 0L)
  axes[order(place)]
}

# Returns the numbers that kernel_factor() alone reads, as `g` of (1 | g): equal ones are one level,
# and nothing lies between two of them.
numbers_as_levels <- function(object) {
  names <- plain_names(object)
  leaves <- kernel_leaves(object$kernel)
  levels <- vapply(leaves, reads_levels, NA)
  read_by <- function(leaves) {
    vars <- lapply(leaves, `[[`, "vars")
    unlist(lapply(vars, function(vars) if (is.numeric(vars)) names[vars] else vars))
  }
  setdiff(read_by(leaves[levels]), read_by(leaves[!levels]))
}

group_axis <- function(name, x) {
  values <- sort(unique(signif(x[, name], 12L)))
  factor_axis(name, matrix(values, dimnames = list(values, name)), ordered = FALSE)
}

ordered_variables <- function(terms) {
  classes <- attr(terms, "dataClasses")
  names(classes)[classes == "ordered"]
}

# Terms of one variable and several columns, as poly() and ns() make them; their calls have the
# constants, such as knots, that they had at the fit.
curve_axes <- function(object, kept, raw) {
  if (is.null(object$terms)) return(list())
  classes <- attr(object$terms, "dataClasses")
  names <- names(classes)[grepl("^nmatrix[.]", classes)]
  variables <- term_variables(object$terms)
  made <- lapply(names, function(term) {
    # others, such as a degree, are no variables of as many values
    variable <- Filter(function(name) !is.null(raw(name)), all.vars(variables[[term]]))
    columns <- kept[startsWith(kept, term) & !grepl(":", kept, fixed = TRUE)]
    if (length(variable) != 1L || variable %in% kept || length(columns) < 2L) return(NULL)
    curve_axis(variable, columns, term_variables(object$terms, "predvars")[[term]],
               environment(object$terms))
  })
  made <- Filter(Negate(is.null), made)
  stats::setNames(made, vapply(made, `[[`, "", "name"))
}

# ---- Which of them ----

# The axes that decide columns of the model matrix, where there are any.
owners <- function(columns, axes) {
  vapply(columns, function(column) {
    owns <- vapply(axes, function(axis) column %in% axis$columns, NA)
    if (any(owns)) names(axes)[owns][1L] else column
  }, "", USE.NAMES = FALSE)
}

# Returns what plot(fit, ~ x + z) names.
inputs_of_formula <- function(formula) {
  remedy <- "Write ~ x for a curve, ~ x + z for a map, or names: c(\"x\", \"z\")"
  if (length(formula) != 2L) stop_sparsegp("which", "is a formula with a response", remedy)
  terms <- tryCatch(stats::terms(formula), error = function(e) {
    stop_sparsegp("which", paste0("is no formula of inputs: ", conditionMessage(e)), remedy)
  })
  vapply(as.list(attr(terms, "variables"))[-1L], deparse1, "")
}

# Axes that were asked for, at most so many: of `axes`, or columns of the model matrix.
asked_axes <- function(object, which, axes, most = 2L) {
  if (inherits(which, "formula")) which <- inputs_of_formula(which)
  names <- plain_names(object)
  kept <- names[object$scaling$kept]
  choice <- unique(c(names(axes), kept))
  refuse_if(!length(which) %in% seq_len(most) || anyDuplicated(which) || anyNA(which),
            "which", paste("must be", if (most == 2L) "one or two", "different inputs"),
            paste0("The inputs are ", toString(choice)))
  asked <- if (is.numeric(which)) owners(names[match(which, seq_along(names))], axes)
           else as.character(which)
  unknown <- which[!asked %in% choice]
  if (length(unknown)) {
    constant <- all(asked[!asked %in% choice] %in% names)
    stop_sparsegp("which", paste0(if (constant) "names inputs that are constant: "
                                  else "names unknown inputs: ", toString(unknown)),
                  paste0("The inputs are ", toString(choice)))
  }
  stats::setNames(lapply(asked, function(name) axes[[name]] %||% number_axis(name, object)), asked)
}
