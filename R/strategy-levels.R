# Factors of many levels, such as schools, persons or places. A pilot sample that is spread evenly
# sees few observations of each level, and where the kernel is of distances between all inputs,
# inducing points are needed for every combination of levels. So there is the alternative of a
# random effect: a value of its own for each level, beside a function of the other inputs. It is the
# last axis of the race for structure (strategy-structure.R), on a pilot of its own.

# Returns the names of the factors whose levels may have effects, those of fewest levels first: so
# many that they are a sample of levels, with several observations each on average.
factors_of_many_levels <- function(model, setup) {
  levels <- vapply(model$moments$counts[levels_of_setup(setup)], function(count) sum(count > 0), 0L)
  enough <- levels >= policy$many_levels & model$moments$n >= policy$level_rows * levels
  names(sort(levels[enough]))
}

# Returns the names of the factors with effects.
factors_with_effects <- function(kernel) {
  unlist(lapply(Filter(reads_levels, kernel_leaves(kernel)), `[[`, "vars"))
}

# Returns the log evidence that effects have to gain on m of n observations. Of so many that there
# are inducing points they may lose as much as another change has to gain: sums need fewer points.
worth_an_effect <- function(candidate, n, m) {
  effort <- effort_of(candidate$data$setup$method)
  full <- !exceeds_full_ep_budget(effort, candidate$model$lik, n, 1L)
  if (full) worth_a_change(candidate$model, n, m) else -policy$min_evidence_gain
}

# Returns the field of the setup that changes: the kernel, with an effect of each level of a factor,
# which the other parts then do not see.
effect_of_levels <- function(best, name) {
  candidate <- best$candidate
  list(kernel = with_effect(candidate$data$setup$kernel, name, candidate$model$inputs$names))
}

# inputs: names of all; that of the factor may have backticks there.
with_effect <- function(kernel, name, inputs) {
  name <- inputs[without_backticks(inputs) == without_backticks(name)]
  others <- lapply(kernel_leaves(kernel), function(part) {
    part$vars <- setdiff(part$vars %||% inputs, name)
    part
  })
  Reduce(`+`, c(Filter(function(part) length(part$vars), others), list(kernel_factor(name))))
}

# Returns `count` rows of some levels of a factor, as many levels as rows of each if there are so
# many: it takes several of a level to show its effect.
rows_of_levels <- function(chunk, name, count) {
  order <- spread_rows(nrow(chunk$x), strata_of(chunk$y), chunk$x)
  level <- chunk$x[order, match(name, without_backticks(colnames(chunk$x)))]
  number <- stats::ave(order, level, FUN = seq_along)
  sort(order[base::order(number > sqrt(count), match(level, level))[seq_len(count)]])
}

# ---- Inducing points ----

# Returns rows in the order in which they become inducing points: that of `order`, without copies,
# which would make the basis's kernel matrix singular. Where the kernel is a sum with effects of
# levels, nothing is known of the effect of a level that no point has: a row of each level comes
# first, of the levels of most observations.
inducing_rows <- function(problem, order) {
  x <- problem$x
  columns <- effect_columns(problem$spec) + 1L
  if (length(columns)) {
    levels <- do.call(rbind, lapply(columns, levels_in_column, x, order))
    order <- union(levels$row[base::order(-levels$count)], order)
  }
  order[!duplicated(x[order, , drop = FALSE])]
}

# Returns the columns (from 0) of factors with an effect of each level, which nothing else reads.
effect_columns <- function(spec) {
  parts <- if (spec$type == "sum") spec$parts else list(spec)
  alone <- vapply(parts, function(part) part$type == "factor" && length(part$vars) == 1L, NA)
  columns <- unlist(lapply(parts[alone], `[[`, "vars"))
  setdiff(columns, unlist(lapply(parts[!alone], spec_columns)))
}

# Returns the first row of each level in a column, and how many rows have it.
levels_in_column <- function(column, x, order) {
  level <- x[order, column]
  first <- !duplicated(level)
  data.frame(row = order[first], count = tabulate(match(level, level[first])))
}
