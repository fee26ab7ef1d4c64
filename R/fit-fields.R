# The kinds of the fields of a fit, each by itself: what print(), summary(), plot(), formula(),
# loo(), update() and predict() read of it. What fields have to do with each other stands in
# fit-check.R.

# Terms are a call with what model.frame() and model.matrix() want of it.
is_terms <- function(x) {
  has <- attributes(x)
  variables <- has$variables
  inherits(x, "terms") && inherits(x, "formula") && is.call(x) && identical(x[[1L]], quote(`~`)) &&
    is.call(variables) && identical(variables[[1L]], quote(list)) &&
    is.character(has$term.labels) &&
    is_factor_table(has$factors, length(variables) - 1L, length(has$term.labels)) &&
    is_one(has$intercept, 0, 1) && is_one(has$response, 0, 1) &&
    are_whole_between(has$order, 1, length(variables)) &&
    length(has$order) == length(has$term.labels) && is.environment(has$.Environment) &&
    (is.null(has$offset) || are_whole_between(has$offset, 1, length(variables) - 1L)) &&
    (is.null(has$predvars) || is.call(has$predvars) &&
       length(has$predvars) == length(variables)) &&
    (is.null(has$dataClasses) || is.character(has$dataClasses))
}

is_factor_table <- function(factors, variables, terms) {
  if (terms == 0L) return(length(factors) == 0L)
  is.matrix(factors) && is.integer(factors) && nrow(factors) == variables &&
    ncol(factors) == terms && !is.null(rownames(factors))
}

# A call of a function by its name, as match.call() gives it.
is_plain_call <- function(x) {
  is.call(x) && !is.object(x) && (is.name(x[[1L]]) || is.call(x[[1L]]) || is.function(x[[1L]]))
}

# Contrasts by name: how they are made, or themselves.
are_contrasts <- function(x) {
  one <- function(how) is.character(how) || is.function(how) || is.matrix(how)
  is.list(x) && !is.null(names(x)) && all(vapply(x, one, NA))
}

are_finite_words <- function(x) are_words(x) && !anyNA(x)

# How a fit went: EP in sweeps, or the rows of a stream.
is_convergence <- function(x) {
  is.list(x) && is.null(misfit("convergence", x)) &&
    (if (is.null(x$fates)) is.null(misfit("sweeps", x)) else are_finite(x$fates) && x$converged)
}

convergence_kinds <- function() list(
  converged = is_flag, trace = is_trace, skipped = is_number,
  growth = optional(frame_of("points", "gain")),
  selection = optional(fields_of(trace = is_trace, stopped = is_text,
                                 exchanged = is_number))
)

sweeps_kinds <- function() list(
  sweeps = is_count, change = is_number, damped = is_number, sequential = is_number,
  tol = optional(is_number), flat = optional(is_number), widening = optional(is_number)
)

learning_kinds <- function() list(
  converged = is_flag, evaluations = is_count, failures = is_count, objective = is.numeric,
  gradient = is.numeric, gain = optional(is_number), rounds = optional(is.numeric),
  line_searches = optional(is_number), at_bound = optional(are_finite_words),
  advice = optional(is_text), start = optional(is.numeric), stages = optional(is_frame),
  structure = optional(function(x) is_frame(x) && is_number(attr(x, "rows")))
)

is_learning <- function(x) is.list(x) && is.null(misfit("learning", x))

# Of variables that are dates or times: their class and zone.
are_clocks <- function(x) {
  is.list(x) && all(vapply(x, inherits, NA, c("Date", "POSIXct", "difftime")))
}

# Numbers whose squares are numbers
are_moderate <- function(x) is.numeric(x) && all(abs(x) < 1e150)

is_trace <- function(x) is_frame(x) && all(vapply(unclass(x), is.numeric, NA))

# What na.action() functions leave: the rows they left out.
is_na_action <- function(x) {
  are_whole_between(x, 1, Inf) # of any class: a na.action may be a user's function
}

model_kinds <- function() list(convergence = is_convergence, learning = optional(is_learning))

fit_kinds <- function() list(
  jitter = function(x) is_one(x, 0), n = is_count,
  log_evidence = is_number, call = optional(is_plain_call), terms = optional(is_terms),
  contrasts = optional(are_contrasts), row_names = optional(are_finite_words),
  frame = optional(is.data.frame), na.action = optional(is_na_action),
  power = optional(function(x) is_one(x, POWERS[1L], POWERS[2L])),
  tuning = optional(fields_of(factor = is_number, tried = is_frame)),
  merged = optional(fields_of(fits = is_count, kl_lost = is_number)),
  source = optional(fields_of(label = is_text, chunks = is_count, omitted = is_count,
                              kept = optional(is_count))),
  basis_rows = optional(function(x) are_whole_between(x, 1, Inf)),
  basis_rows_of = optional(function(x) is.list(x) && all(vapply(x, is.numeric, NA))),
  clocks = optional(are_clocks), grown = optional(is_flag), mode = optional(is_text),
  modes = optional(is.list)
)

# Fields that differ between modes of one fit
OF_MODE <- c("posterior", "basis_rows", "state", "jitter", "log_evidence", "convergence", "latent",
             "cavity", "sites")

# The form of what new_fit() makes; a version that changes it counts on, and reads the one before
# (fit-older.R).
FIT_FORMAT <- 1L

ROW_FIELDS <- c("y", "data_rows", "offset", "weights", "latent", "cavity", "sites", "row_names")
