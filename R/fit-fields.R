# The kinds of the fields of a fit (fit-check.R).

# Fields that differ between modes of one fit.
OF_MODE <- c("posterior", "basis_rows", "state", "jitter", "log_evidence", "convergence", "latent",
             "cavity", "sites")

# ---- Text, calls and tables ----

# Terms are a call with the attributes that model.frame() and model.matrix() need.
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
    (is.null(has$dataClasses) || are_words(has$dataClasses)) &&
    (is.null(has$titles) || are_words(has$titles) && !is.null(names(has$titles)))
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

is_trace <- function(x) is_frame(x) && all(vapply(unclass(x), is.numeric, NA))

# Accepts any class, as na.action may be a user's function.
are_row_numbers <- function(x) are_whole_between(unclass(x), 1, Inf)

# ---- How it went ----

# The convergence of EP in sweeps, or of the rows of a stream.
is_convergence <- function(x) {
  is_of_kind(x, "convergence") &&
    (if (is.null(x$fates)) is_of_kind(x, "sweeps") else are_finite(x$fates) && x$converged)
}

convergence_kinds <- function() list(
  converged = is_flag, trace = is_trace, skipped = is_number,
  growth = optional(frame_of("points", "gain")),
  fallback = optional(list(power = is_number, sweeps = is.numeric, change = is.numeric,
                           log_evidence = is.numeric, replaced = is_flag)),
  selection = optional(list(trace = is_trace, stopped = is_text, exchanged = is_number))
)

sweeps_kinds <- function() list(
  sweeps = is_count, change = is_number, damped = is_number, sequential = is_number,
  tol = optional(is_number), flat = optional(is_number), widening = optional(is_number)
)

learning_kinds <- function() list(
  converged = is_flag, evaluations = is_count, failures = is_count, objective = is.numeric,
  gradient = is.numeric, gain = optional(is_number),
  line_searches = optional(is_number), at_bound = optional(are_finite_words),
  advice = optional(is_text), start = optional(is.numeric)
)

choices_kinds <- function() list(
  stage = function(x) is.character(x) && all(x %in% names(CRITERIA)), candidate = is.character,
  rows = is.numeric, points = is.numeric, score = is.numeric, gain = is.numeric, se = is.numeric,
  needed = optional(is.numeric), taken = is.logical
)

structure_kinds <- function() list(
  each_category = optional(is_flag), factors = optional(is.character), error = optional(is_text),
  transform = optional(is_text), noise = optional(is_text), noiseless = optional(is_flag),
  mean = optional(is_text), scale = optional(is_text), effects = optional(is.character),
  kernel = optional(function(x) !is.null(check_kernel(x)))
)

# ---- The model ----

kinds_of_response <- function(codec) list(
  width = function(x) is.integer(x) && is_one(x, 1, MAX_COMPONENTS),
  levels = optional(are_words),
  all_levels = optional(function(x, whole) {
    are_labels(x) && are_words(x) && all(whole$levels %in% x) && is_flag(attr(x, "ordered"))
  }),
  processes = function(x, whole) {
    identical(x, codec$processes(whole$levels)) && is_one(x, 1, MAX_CLASSES)
  },
  unit = function(x) is_one(x, .Machine$double.xmin, .Machine$double.xmax),
  centre = function(x) is.null(dim(x)) && are_finite(x)
)

scaling_kinds <- function() {
  each <- function(x, whole) {
    are_doubles(x, sum(whole$kept)) && is.null(dim(x)) && are_finite(x)
  }
  positive <- function(x, whole) each(x, whole) && all(x > 0)
  list(
    kept = function(x) is.logical(x) && sum(x) > 0L, scale = is_flag, alike = is_flag,
    names = function(x, whole) {
      are_words(x, length(whole$kept)) && !anyNA(x) && !anyDuplicated(x)
    },
    dropped = function(x, whole) are_words(x) && setequal(x, whole$names[!whole$kept]),
    centre = each, sd = positive, seen = positive, warp = optional(is_warp),
    sphere = optional(is_sphere),
    levels = function(x, whole) are_distances(x, sum(whole$kept)),
    constant = function(x, whole) is.numeric(x) && length(x) == sum(!whole$kept)
  )
}

is_sphere <- function(x, whole) {
  pairs <- length(x$lon)
  is.list(x) && pairs > 0L && are_whole_between(c(x$lon, x$lat), 1, sum(whole$kept)) &&
    length(x$lat) == pairs && are_doubles(x$centre, 3L * pairs) && are_finite(x$centre) &&
    all(vapply(x[c("sd", "seen")], function(each) {
      are_doubles(each, pairs) && are_finite(each) && all(each > 0)
    }, NA))
}

is_warp <- function(x, whole) {
  inputs <- sum(whole$kept)
  is.list(x) && setequal(names(x), names(NO_WARP)) &&
    all(vapply(x, are_doubles, NA, inputs), vapply(x, are_finite, NA)) &&
    all(x$side %in% -1:1, x$unit > 0)
}

# Kinds of the columns of the table of hyperparameters (hyper-table.R)
HYPER_COLUMNS <- list(
  character = c("name", "base", "part", "adds_to"), logical = c("log", "free", "scan"),
  double = c("unit", "lower", "upper", "theta", "start", "input_sd"), list = "prior"
)

# Those that a search reads besides, and fits of earlier versions have not
SEARCH_COLUMNS <- c("finest", "least", "turn", "stride", "reach")

# limits: where at_limit() finds a value on a bound.
is_hyper_table <- function(table, limits) {
  columns <- unclass(table)[unlist(HYPER_COLUMNS)]
  kind <- rep(names(HYPER_COLUMNS), lengths(HYPER_COLUMNS))
  plain <- function(x) !is.object(x) && is.null(dim(x)) && length(x) == length(columns$theta)
  others <- unclass(table)[setdiff(names(table), unlist(HYPER_COLUMNS))]
  identical(oldClass(table), "data.frame") && all(vapply(columns, typeof, "") == kind) &&
    all(names(others) %in% SEARCH_COLUMNS) && all(vapply(others, is.numeric, NA)) &&
    all(vapply(c(columns, others), plain, NA)) &&
    !anyNA(columns[c("lower", "upper", "log", "free", "name", "base", "adds_to")], TRUE) &&
    are_finite(columns$theta[!limits]) && are_finite(columns$start[!limits]) &&
    all(columns$unit > 0) &&
    are_finite(columns$unit) && are_priors(columns$prior)
}

# Finds hyperparameters that are fixed on a bound of their range, where their likelihood allows it
# (`limit`, lik-contract.R).
at_limit <- function(table, lik) {
  about <- lik_traits(lik)$about
  allowed <- names(Filter(function(one) !is.null(one$limit), about))
  table$part %in% "likelihood" & table$base %in% allowed & table$free %in% FALSE &
    table$theta %in% -Inf & table$start %in% -Inf
}

# Each has a name of its own, and theta leads to valid values, none of them 0 or
# infinite by rounding.
have_values <- function(table, limits) {
  value <- hyper_value(table)
  searched <- table$log
  own <- sub("^k[0-9]+[.]", "", table$name)
  all(startsWith(own, table$base)) && !anyDuplicated(table$name) &&
    are_finite(value) && all(value[searched] > table$lower[searched] | limits[searched]) &&
    all(value[searched] < table$upper[searched])
}

# Counts of hyperparameters by part, kernel first.
count_hyper <- function(fit) {
  kernels <- kernel_sets(fit$likelihood, processes(fit))
  c(kernel = kernels * count_kernel_hyper(fit$spec), likelihood = count_lik_hyper(fit),
    response = if (is.null(scale_parameter(fit$likelihood))) 0 else 1)
}

count_lik_hyper <- function(fit) {
  each <- lik_in_catalogue(fit$likelihood)
  if (!is.null(fit$likelihood$custom)) return(length(fit$likelihood$params))
  if (!is.null(fit$likelihood$covariance)) return(count_noise(fit$likelihood, n_outputs(fit)))
  if (each$npar > 0L) return(each$npar * processes(fit))
  if (each$width == 0L) return(n_outputs(fit) * length(each$par))
  if (length(each$par)) length(fit$response$levels) - 1L else 0L
}

# ---- The posterior ----

# w: components of a point, whose last number is that of the component.
is_posterior <- function(posterior, inputs, processes, w) {
  if (!is.list(posterior) || is.object(posterior)) return(FALSE)
  basis <- posterior$basis
  d <- nrow(basis)
  is_factor <- function(factor) {
    if (is.null(factor)) return(TRUE)
    sizes <- d * (d + 1) / 2 * c(1, processes) # of triangles
    are_finite(factor) && (is_table(factor, d, d) || is_table(factor, d, d * processes) ||
                             is.null(dim(factor)) && length(factor) %in% sizes)
  }
  all(c("G", "H") %in% names(posterior)) && is_table(basis, d, inputs) &&
    is_table(as.matrix(posterior$alpha), d, processes) && is_factor(posterior$G) &&
    is_factor(posterior$H) && are_points(basis, w) && are_finite(posterior$alpha) &&
    (is.null(posterior$trend) || processes == 1L && is_trend(posterior$trend, d, inputs, w)) &&
    (!is_markov(posterior) || is_of_markov(posterior, inputs * processes * w)) &&
    (!is_of_neighbours(posterior) || processes * w == 1L && are_neighbour_sites(posterior))
}

# Sites in the place of factors, of one latent function of one input.
is_of_markov <- function(posterior, one) {
  d <- nrow(posterior$basis)
  sites <- posterior$markov
  one == 1 && is.null(posterior$G) && is.null(posterior$H) && is.list(sites) &&
    are_doubles(sites$tau, d) && are_doubles(sites$nu, d) && are_finite(unlist(sites)) &&
    (is.null(sites$from) || is_markov_state(sites$from, posterior$basis))
}

# The state behind rows that are forgotten, no later than those of the basis.
is_markov_state <- function(from, basis) {
  states <- length(from$m)
  is.list(from) && is_one(from$t, -Inf, min(basis, Inf)) && are_doubles(from$m, states) &&
    is_table(from$P, states, states)
}

# The rows of a window (fit-window.R): as many as the posterior has.
is_held <- function(held, fit) {
  n <- nrow(fit$posterior$basis)
  is.list(held) && is_number(held$base) && is_table(held$rows, nrow(held$rows), n) &&
    are_finite(held$offset) && NROW(held$offset) %in% (n * c(1L, processes(fit)))
}

# Sites of rows that stand for responses with noise.
are_neighbour_sites <- function(posterior) {
  d <- nrow(posterior$basis)
  sites <- posterior$neighbours
  is.null(posterior$G) && is.null(posterior$H) && is.list(sites) && is_one(sites$k, 0) &&
    is_flag(sites$latent) &&
    are_doubles(sites$tau, d) && are_doubles(sites$nu, d) && are_finite(unlist(sites)) &&
    (sites$latent || all(sites$tau > 0))
}

# A mean that is integrated out (kernel-mean.R), of d points with so many inputs.
is_trend <- function(trend, d, inputs, w) {
  functions <- length(trend$vars)
  if (!is.list(trend) || is.object(trend) || !is_one(trend$width, 1, w)) return(FALSE)
  q <- functions * trend$width
  are_words(trend$terms, functions) && are_whole_between(trend$vars, 0, inputs) &&
    are_doubles(trend$at, functions) && are_doubles(trend$sd, functions) && all(trend$sd > 0) &&
    is_flag(trend$asked) && (is.null(trend$vague) || isFALSE(trend$vague)) &&
    is_one(trend$variance, 0) && is_table(trend$coef, q, 1L) && is_table(trend$J, d, q) &&
    is_table(trend$root, q, q) &&
    are_finite(unlist(trend[c("at", "sd", "coef", "J", "root")]))
}

# Points, a row each, whose last number is that of a component where there are w > 1 of them.
are_points <- function(points, w) {
  others <- utils::tail(seq_len(ncol(points)), component_columns(w))
  are_finite(points) && are_whole_between(points[, others], 1, w)
}

# Numbers of a point: inputs, and of several components which of them it is of
point_length <- function(fit) point_inputs(fit$scaling) + component_columns(n_outputs(fit))

# coefficients: how many a mean has
is_state <- function(one, basis, processes, coefficients) {
  if (!is.list(one) || is.object(one)) return(FALSE)
  d <- nrow(basis)
  all <- d + coefficients
  if (identical(names(one), "t")) return(is_table(one$t, all, processes) && are_finite(one$t))
  is_table(one$R, d, d) && is_table(one$S, all, all * processes) &&
    is_table(one$t, all, processes) &&
    are_finite(one$R) && are_finite(one$S) && are_finite(one$t) && all(diag(one$R) > 0)
}

# ---- Rows ----

# Fields that a fit has of all its rows, or not at all
ROWS_TOGETHER <- c("y", "data_rows", "offset", "latent", "cavity", "sites")

# A fit has all of these fields of its rows, or none of them.
has_right_rows <- function(fit) {
  if (!any(lengths(fit[ROWS_TOGETHER]))) return(TRUE)
  n <- as.double(fit$n) # of a source there may be more rows than integers
  w <- n_outputs(fit)
  means <- list(fit$latent$mean, fit$cavity$mean, fit$sites$nu)
  blocks <- list(fit$latent$var, fit$cavity$var, fit$sites$tau)
  q <- lik_in_catalogue(fit$likelihood)$q
  is_one(n, 1) && all(vapply(means, are_doubles, NA, n * w * processes(fit))) &&
    all(vapply(blocks, are_doubles, NA, n * w^2 * processes(fit))) &&
    are_doubles(fit$cavity$lpd, n) && are_doubles(fit$offset, n * w) &&
    are_right_size(codec_of(fit), fit$y, n, fit) &&
    (is.null(fit$row_names) || length(fit$row_names) == n) &&
    (is.null(fit$weights) || are_finite(unlist(fit$weights)) && length(fit$weights) == n) &&
    is_table(fit$data_rows, if (q > 0L) q else if (q == 0L) w else NROW(fit$data_rows), n)
}

are_finite_moments <- function(x) are_finite(x$mean) && are_finite(x$var)

# Levels of the factors among a formula's variables; a model frame's names have no backticks.
are_levels <- function(xlevels, terms) {
  variables <- gsub("`", "", rownames(attr(terms, "factors")), fixed = TRUE)
  is.null(xlevels) || is.list(xlevels) && all(vapply(xlevels, is.character, NA)) &&
    all(gsub("`", "", names(xlevels), fixed = TRUE) %in% variables)
}

is_coder <- function(coder) {
  is.null(coder) || is.list(coder) && inherits(coder$terms, "terms") &&
    are_levels(coder$xlevels, coder$terms)
}

# Rows that wait, a chunk (rows-chunks.R).
is_queue <- function(rows) {
  is.null(rows) || is.list(rows) && chunk_size(rows) == NROW(rows$y) &&
    (is.null(rows$weights) || length(rows$weights) == NROW(rows$y))
}

# ---- A stream ----

# Numbers of points: those of a row stand together, and are at most as many as it has components.
are_rows_of_points <- function(id, w) {
  are_whole_between(id, 1, 2^53) && max(0L, rle(floor((id - 1) / w))$lengths) <= w
}

# Entries of the trace are at the multiples of its stride, and C has room for so many.
is_stream_trace <- function(record) {
  stride <- record$count[record_names() == "stride"]
  entries <- ncol(record$trace)
  entries <= TRACE_ENTRIES && is_count(stride) && stride > 0 &&
    all(record$trace[1L, ] == stride * seq_len(entries))
}

TRACE_ENTRIES <- 256L # SG_TRACE_ROWS

are_constants <- function(constant, inputs) {
  is.null(constant) || is.double(constant) && all(names(constant) %in% inputs) &&
    length(names(constant)) == length(constant)
}

is_stream_record <- function(stream, fit) {
  record <- stream$record
  d <- nrow(fit$posterior$basis)
  counts <- record$count[record_names() != "logz"]
  traced <- record$count[record_names() == "traced"]
  is.list(stream$setup) && is_table(record$points, point_length(fit), d) &&
    are_points(t(record$points), n_outputs(fit)) &&
    are_doubles(record$id, d) && are_rows_of_points(record$id, n_outputs(fit)) &&
    are_doubles(record$count, length(record_names())) && all(counts >= 0 & is.finite(counts)) &&
    is_table(record$trace, nrow(empty_state(1L)$trace), traced) && is_stream_trace(record) &&
    is_one(stream$shift, -Inf) && is_count(stream$omitted) &&
    optional(is_number)(stream$clock) && is_flag(stream$weighted) &&
    is_coder(stream$coder) && is_queue(stream$waiting) &&
    are_constants(stream$constant, fit$scaling$names) &&
    is_one(stream$size, max(d, 1L)) && is.integer(stream$size)
}

ROW_FIELDS <- c("y", "data_rows", "offset", "weights", "latent", "cavity", "sites", "row_names")
