# Rows whose slopes are asked for: along which direction of its inputs a row moves with a variable,
# and the slopes there.

# Returns the rows, with directions along each of the variables: what rows_asked() returns, and
# `along`, a list by variable of list(v, shift): v of the size of x, and the derivative of the
# offset. object: no ensemble
rows_with_slopes <- function(object, newdata, vars, offset = NULL) {
  rows <- rows_asked(object, newdata, offset)
  w <- n_outputs(object)
  x <- unscale_kept(row_inputs(rows$x, w), object$scaling)
  data <- variables_at(object, newdata)
  rows$along <- lapply(stats::setNames(nm = vars), function(name) {
    change <- changes_with(object, data, name, nrow(x), which(rows$complete))
    direction_of(object, x, change, name)
  })
  rows
}

# Returns the names of the variables that may have slopes: of a formula its numbers, of a matrix the
# columns.
slope_variables <- function(object) {
  if (is.null(object$terms)) return(object$scaling$names[object$scaling$kept])
  inputs <- stats::delete.response(object$terms)
  setdiff(all.vars(inputs), names(Filter(Negate(is_number_class), variable_classes(object))))
}

variable_classes <- function(object) {
  classes <- attr(object$terms, "dataClasses")
  classes[setdiff(names(classes), "(weights)")]
}

is_number_class <- function(class) !class %in% c("factor", "ordered", "character", "logical")

# Checks the variables that were asked for; NULL: all that have slopes.
check_slope_variables <- function(object, vars) {
  offered <- slope_variables(object)
  if (is.null(vars)) {
    if (length(offered)) return(offered)
    stop_sparsegp("vars", "are missing, and no input is a number",
                  paste("Compare predictions at two levels of a factor, as",
                        "marginaleffects::comparisons() does"))
  }
  refuse_if(!is.character(vars) || length(vars) == 0L || anyNA(vars) || anyDuplicated(vars), "vars",
            "must be distinct names of variables", paste0("The variables are ", toString(offered)))
  levels <- if (!is.null(object$terms)) {
    names(Filter(Negate(is_number_class), variable_classes(object)))
  }
  if (any(vars %in% levels)) refuse_levels(vars[vars %in% levels][1L])
  unknown <- setdiff(vars, c(offered, if (is.null(object$terms)) object$scaling$names))
  refuse_if(length(unknown), "vars", paste0("names no variable of the fit: ", toString(unknown)),
            paste0("The variables are ", toString(offered)))
  vars
}

refuse_levels <- function(name) {
  stop_sparsegp("vars", paste0("names ", name, ", whose levels have no slope"),
                paste("Compare predictions at two levels, as marginaleffects::comparisons() does"))
}

# ---- How inputs change with a variable ----

# Returns the data whose variables are moved, or NULL where each variable is an input by itself.
variables_at <- function(object, newdata) {
  if (has_plain_inputs(object)) return(NULL)
  if (is.null(newdata)) {
    formula <- stats::formula(stats::delete.response(object$terms))
    names <- lapply(all.vars(formula), as.name)
    formula[[2L]] <- Reduce(function(a, b) call("+", a, b), names)
    newdata <- frame_again(object, formula)
  }
  if (inherits(newdata, POINTS)) newdata <- with_coordinates(newdata, object$terms, "newdata")
  if (is.data.frame(newdata)) return(newdata)
  stop_sparsegp("newdata", "is missing, and the variables of the terms cannot be found",
                "Give a data frame")
}

# Is every input a variable as it is, or a factor, and nothing known beforehand?
has_plain_inputs <- function(object) {
  if (is.null(object$terms)) return(TRUE)
  inputs <- stats::delete.response(object$terms)
  variables <- as.list(attr(inputs, "variables"))[-1L]
  all(vapply(variables, is.symbol, NA)) && all(attr(inputs, "order") == 1L)
}

# Returns derivatives of the inputs, a matrix with all of them, and of the offset along a variable.
# data: of variables_at(); rows: those of them that are complete
changes_with <- function(object, data, name, n, rows) {
  names <- object$scaling$names
  own <- without_backticks(names) == name
  if (is.null(data)) {
    return(list(x = outer(rep(1, n), own + 0), offset = numeric(n)))
  }
  if (!is_number_class(stats::.MFclass(data[[name]]))) refuse_levels(name)
  data <- data[rows, , drop = FALSE]
  read <- function(by) {
    moved <- data
    moved[[name]] <- data[[name]] + by
    new <- suppressWarnings(new_inputs(object, moved))
    cbind(new$x, rep_len(new$offset, n))
  }
  change <- difference_quotients(as.double(data[[name]]), read)
  if (anyNA(change)) refuse_levels(name)
  change[, which(own)] <- 1 # without rounding
  list(x = change[, seq_along(names), drop = FALSE], offset = change[, length(names) + 1L])
}

# Returns derivatives of read(shift), a row for each of `at`, by central differences of sixth order
# over a thousandth of the value (or of a hundredth of the spread, if that is more); where this
# leaves the domain of a function, such as a logarithm, over less.
difference_quotients <- function(at, read) {
  ORDER6 <- c(3 / 4, -3 / 20, 1 / 60)
  spread <- if (length(at) == 1L) abs(at) else stats::sd(at) # NA of none
  if (!is.finite(spread) || spread == 0) spread <- 1
  quotient <- function(step) {
    Reduce(`+`, lapply(1:3, function(k) {
      ORDER6[k] * (read(k * step) - read(-k * step)) / step
    }))
  }
  step <- 1e-3 * pmax(abs(at), 0.01 * spread)
  change <- quotient(step)
  for (attempt in 1:2) {
    bad <- !is.finite(rowSums(change))
    if (!any(bad)) break
    step[bad] <- ifelse(at[bad] == 0, step[bad], 1e-3 * abs(at[bad])) / 10^(attempt - 1)
    change[bad, ] <- quotient(step)[bad, , drop = FALSE]
  }
  change
}

# Returns the direction of scaled inputs, and the change of the offset. x: kept inputs
direction_of <- function(object, x, change, name) {
  kept <- change$x[, object$scaling$kept, drop = FALSE]
  refuse_if(any(change$x != 0) && !any(kept != 0) && !any(change$offset != 0),
            "vars", paste0("names ", name, ", which did not vary in the rows of the fit"),
            "Ask for the slopes along other variables")
  list(v = scaled_direction(object, x, kept, name), shift = change$offset)
}

# Returns the direction of scaled inputs, as C has it, from changes of the kept inputs x.
scaled_direction <- function(object, x, change, name) {
  v <- sweep(change * warp_derivatives(x, object$scaling$warp), 2L, object$scaling$sd, "/")
  v <- beside_sphere_direction(v, x, change, object$scaling$sphere)
  refuse_rough(object, which(colSums(v != 0) > 0) - 1L, name)
  w <- n_outputs(object)
  v <- v[rep(seq_len(nrow(v)), each = w), , drop = FALSE]
  unname(cbind(v, matrix(0, nrow(v), component_columns(w))))
}

# Stops where a part of the kernel has no derivative along these columns.
refuse_rough <- function(object, columns, name) {
  part <- part_without_slope(object$spec, columns)
  if (is.null(part)) return(invisible())
  reads <- registered("kernels", part)$reads
  if (reads == "levels") refuse_levels(name)
  refuse_if(reads == "component",
            "vars", paste0("names ", name, ", an input of a field, which has no slopes here"),
            "Use vector_field(type = \"divergence\") or \"vorticity\"")
  stop_sparsegp("vars", paste0("names ", name, ", along which functions of kernel_", part,
                               "() have no derivative"),
                "Use kernel_matern32(), or differences of predict() at two values")
}

# ---- Answers ----

# Returns the answer for every variable: a list by variable, of the complete rows, and the rows.
slopes_asked <- function(object, newdata, vars, scale, offset = NULL) {
  by_member(object, function(object, x) {
    rows <- rows_with_slopes(object, newdata, vars, offset)
    list(rows = rows, each = lapply(rows$along, function(along) {
      slope_answer(object, row_slopes(object, rows$x, along$v, rows$offset, along$shift), scale)
    }))
  }, function(found, object) {
    refuse_different_rows(found)
    list(rows = found[[1L]]$rows, each = lapply(stats::setNames(nm = vars), function(name) {
      mixed_slopes(lapply(found, function(own) own$each[[name]]), object$ensemble$weights)
    }))
  })
}

refuse_different_rows <- function(found) {
  complete <- lapply(found, function(own) own$rows$complete)
  if (length(unique(complete)) == 1L) return(invisible())
  stop_sparsegp("newdata", "has rows with missing values that some of the fits can read",
                "Leave rows with missing values out")
}

# Returns mean, standard deviation of the average of the slopes over the rows: a matrix each, with a
# row for each variable and a column for each output.
average_slopes <- function(object, newdata, vars, scale, offset = NULL) {
  by_member(object, function(object, x) {
    average_slopes_of(object, rows_with_slopes(object, newdata, vars, offset), scale)
  }, function(found, object) mixed_slopes(found, object$ensemble$weights))
}

average_slopes_of <- function(object, rows, scale) {
  each <- lapply(rows$along, function(along) {
    moments <- row_slopes(object, rows$x, along$v, rows$offset, along$shift)
    answer <- slope_answer(object, moments, scale)
    list(mean = colMeans(as.matrix(answer$mean)),
         sd = average_sds(object, rows$x, along$v, answer))
  })
  over <- function(field) do.call(rbind, lapply(each, `[[`, field))
  list(mean = over("mean"), sd = over("sd"))
}

# Returns the standard deviation of the average of each output's slopes, from their best linear
# predictors: exact for the latent function.
average_sds <- function(object, x, v, answer) {
  C <- processes(object)
  n <- nrow(answer$value[[1L]])
  vapply(seq_along(answer$value), function(output) {
    a <- answer$value[[output]] / n
    b <- answer$slope[[output]] / n
    if (C == 1L) return(sqrt(variance_of_sum(object, x, v, c(t(a)), c(t(b)))))
    sqrt(sum(vapply(seq_len(C), function(class) {
      variance_of_sum(object, x, v, a[, class], b[, class], class)
    }, 0)))
  }, 0)
}
