# A fit may come from a file that another version wrote, or that somebody has changed. C trusts what
# R gives it, and R's own functions stop with words of their own, so that a fit is checked wherever
# a user hands one in. A field is checked by itself (fit-fields.R), then against the rest. Numbers
# of rows, columns and components are read as such, and the posterior's are added up: none may be
# missing or infinite. Other numbers of rows are not read, so that a check costs no more than a
# prediction.

# The form of what new_fit() makes; a version that changes it counts on, and reads the one before
# (fit-older.R).
FIT_FORMAT <- 1L

# A fit as this version has it.
check_fit <- function(fit, argument = "object") {
  fit <- as_written_now(fit)
  refuse_flaw(flaw_of(fit), argument)
  fit
}

refuse_flaw <- function(wrong, argument) {
  if (is.null(wrong)) return(invisible())
  if (wrong == "format") stop_other_version(argument)
  stop_damaged(paste0("its `", wrong, "` does not fit the rest"), argument)
}

stop_other_version <- function(argument) {
  stop_sparsegp(argument, paste0("is no fit that this version of sparsegp could use: its `format` ",
                                 "is not ", FIT_FORMAT),
                "Fit again, or load an undamaged copy")
}

# Returns the name of the first field that is not what a fit has, or NULL.
flaw_of <- function(fit) {
  if (!is.list(fit) || !identical(fit$format, FIT_FORMAT)) return("format")
  wrong <- misfit("fit", fit)
  if (is.null(wrong)) wrong <- flaw_of_model(fit)
  if (is.null(wrong)) wrong <- flaw_among(FIT_PARTS, fit)
  if (is.null(wrong)) wrong <- flaw_of_modes(fit)
  wrong
}

# A fit is mostly asked more than once: what was found right last is not looked at again.
flaw_of_model <- function(fit) {
  model <- unclass(fit)[MODEL_FIELDS]
  if (identical(model, REGISTRY$sound)) return(NULL)
  wrong <- misfit("model", fit)
  if (is.null(wrong)) wrong <- flaw_among(MODEL_PARTS, fit)
  if (is.null(wrong)) REGISTRY$sound <- model
  wrong
}

# parts: tests of the fit by the name of the field they are about.
flaw_among <- function(parts, fit) {
  part <- ""
  tryCatch({
    for (part in names(parts)) if (!isTRUE(parts[[part]](fit))) return(part)
    NULL
  }, error = function(e) part)
}

# Every mode is checked as if it were the fit.
flaw_of_modes <- function(fit) {
  for (mode in fit$modes) {
    if (!is.list(mode) || !all(OF_MODE %in% names(mode))) return("modes")
    one <- fit
    one[OF_MODE] <- mode[OF_MODE]
    one$modes <- NULL
    if (!is.null(flaw_of(one))) return("modes")
  }
}

# ---- Parts ----

# Hyperparameters of a kernel, as the constructors of its leaves name them.
count_kernel_hyper <- function(spec) {
  if (length(spec$parts)) return(sum(vapply(spec$parts, count_kernel_hyper, 0)))
  if (spec$type == "coregion") {
    return(spec$degree[1L] + nrow(correlated_pairs(spec$degree[1L], spec$degree[2L])))
  }
  bases <- length(kernel_prototype(spec$type)$params)
  if (spec$ard) bases - 1 + length(spec$vars) else bases
}

count_lik_hyper <- function(fit) {
  each <- catalogue()$likelihoods[[fit$likelihood$type]]
  if (!is.null(fit$likelihood$covariance)) return(count_noise(fit$likelihood, n_outputs(fit)))
  if (each$npar > 0L) return(each$npar * processes(fit))
  if (length(each$par)) length(fit$response$levels) - 1L else 0L
}

# w: components of a point, whose last number says which of them it is of.
is_posterior <- function(posterior, inputs, processes, w) {
  basis <- posterior$basis
  d <- nrow(basis)
  is_factor <- function(factor) {
    is.null(factor) || are_finite(factor) &&
      (is_table(factor, d, d) || is_table(factor, d, d * processes))
  }
  all(c("G", "H") %in% names(posterior)) && is_table(basis, d, inputs) &&
    (if (processes == 1L) are_doubles(posterior$alpha, d)
     else is_table(posterior$alpha, d, processes)) &&
    is_factor(posterior$G) && is_factor(posterior$H) && are_points(basis, w) &&
    are_finite(posterior$alpha)
}

# Points, a row each, whose last number is that of a component where there are w > 1 of them.
are_points <- function(points, w) {
  are_finite(points) && (w == 1L || are_whole_between(points[, ncol(points)], 1, w))
}

# Numbers of a point: inputs, and of several components which of them it is of
point_length <- function(fit) sum(fit$scaling$kept) + (n_outputs(fit) > 1L)

is_state <- function(one, basis, processes) {
  d <- nrow(basis)
  is_table(one$R, d, d) && is_table(one$S, d, d * processes) && is_table(one$t, d, processes) &&
    are_finite(one$R) && are_finite(one$S) && are_finite(one$t) && all(diag(one$R) > 0)
}

has_right_rows <- function(fit) {
  n <- as.double(fit$n) # of a source there may be more rows than integers
  w <- n_outputs(fit)
  means <- list(fit$latent$mean, fit$cavity$mean, fit$sites$nu)
  blocks <- list(fit$latent$var, fit$cavity$var, fit$sites$tau)
  q <- catalogue()$likelihoods[[fit$likelihood$type]]$q
  is_one(n, 1) && all(vapply(means, are_doubles, NA, n * w * processes(fit))) &&
    all(vapply(blocks, are_doubles, NA, n * w^2 * processes(fit))) &&
    are_doubles(fit$cavity$lpd, n) && are_doubles(fit$offset, n * w) &&
    are_right_size(codec_of(fit), fit$y, n, fit) &&
    (is.null(fit$weights) || are_finite(fit$weights) && length(fit$weights) == n) &&
    is_table(fit$data_rows, if (q > 0L) q else if (q == 0L) w else NROW(fit$data_rows), n)
}

# What a fit has of all its rows, or not at all.
ROWS_TOGETHER <- c("y", "data_rows", "offset", "latent", "cavity", "sites")

# The fit, where its rows are read: then their numbers are, too.
checked_rows <- function(fit, argument = "object") {
  numbers <- c(fit$latent[c("mean", "var")], fit$cavity[c("mean", "var")], fit["offset"], fit["x"])
  numbers <- Filter(Negate(is.null), numbers)
  wrong <- names(numbers)[!vapply(numbers, are_finite, NA)]
  if (length(wrong) == 0L && !are_right_values(codec_of(fit), fit$y, fit$response)) wrong <- "y"
  if (length(wrong) == 0L && !codec_of(fit)$missing && anyNA(fit$cavity$lpd)) wrong <- "cavity"
  if (length(wrong) == 0L && anyDuplicated(fit$row_names)) wrong <- "row_names"
  refuse_flaw(if (length(wrong)) wrong[1L], argument)
  fit
}

# How factors of a formula's variables are coded; a model frame's names have no backticks.
are_levels <- function(levels, terms) {
  variables <- gsub("`", "", rownames(attr(terms, "factors")), fixed = TRUE)
  is.null(levels) || is.list(levels) && all(vapply(levels, is.character, NA)) &&
    all(gsub("`", "", names(levels), fixed = TRUE) %in% variables)
}

is_coder <- function(coder) {
  is.null(coder) || is.list(coder) && inherits(coder$terms, "terms") &&
    are_levels(coder$xlevels, coder$terms)
}

# Rows that wait, a chunk (data-chunks.R).
is_queue <- function(rows) {
  is.null(rows) || is.list(rows) && chunk_size(rows) == NROW(rows$y) &&
    (is.null(rows$weights) || length(rows$weights) == NROW(rows$y))
}


# Of a stream that waits, in this order: the shell, or the model of its rows. What it is given to C
# with is checked when it begins.
WAITING_PARTS <- list(
  stream = function(fit) is.list(fit$stream),
  setup = function(fit) !is.null(check_method(fit$stream$setup$method)),
  coder = function(fit) is_coder(fit$stream$coder),
  terms = function(fit) optional(is_terms)(fit$terms),
  pilot = function(fit) is_one(fit$stream$pilot, 1),
  omitted = function(fit) is_one(fit$stream$omitted, 0),
  weighted = function(fit) is_flag(fit$stream$weighted),
  waiting = function(fit) is_queue(fit$stream$waiting),
  model = function(fit) is.environment(fit$stream$model) || !is.null(fit$posterior),
  call = function(fit) optional(is_plain_call)(fit$call)
)

# Where the points came from: those of a row stand together, and are no more than it has components.
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

is_stream_record <- function(fit) {
  record <- fit$stream$record
  d <- nrow(fit$posterior$basis)
  counts <- record$count[record_names() != "logz"]
  traced <- record$count[record_names() == "traced"]
  is_table(record$points, point_length(fit), d) && are_points(t(record$points), n_outputs(fit)) &&
    are_doubles(record$id, d) && are_rows_of_points(record$id, n_outputs(fit)) &&
    are_doubles(record$count, length(record_names())) && all(counts >= 0 & is.finite(counts)) &&
    is_table(record$trace, nrow(empty_state(1L)$trace), traced) && is_stream_trace(record) &&
    is_one(fit$stream$shift, -Inf) && is_count(fit$stream$omitted) &&
    optional(is_number)(fit$stream$clock) && is_flag(fit$stream$weighted) &&
    is_coder(fit$stream$coder) && is_queue(fit$stream$waiting) &&
    are_constants(fit$stream$constant, fit$scaling$names) &&
    is_one(fit$stream$size, max(d, 1L)) && is.integer(fit$stream$size)
}

# Kinds of the columns of the table of hyperparameters (hyper-table.R)
HYPER_COLUMNS <- list(
  character = c("name", "base", "part", "adds_to"), logical = c("log", "free", "scan"),
  double = c("unit", "lower", "upper", "theta", "start", "input_sd"), list = "prior"
)

# limits: where at_limit() says that a value lies on a bound.
is_hyper_table <- function(table, limits) {
  columns <- unclass(table)[unlist(HYPER_COLUMNS)]
  kind <- rep(names(HYPER_COLUMNS), lengths(HYPER_COLUMNS))
  is.data.frame(table) && all(vapply(columns, typeof, "") == kind) &&
    all(lengths(columns) == length(columns$theta)) &&
    !anyNA(columns[c("lower", "upper", "log", "free", "name", "base", "adds_to")], TRUE) &&
    are_finite(columns$theta[!limits]) && are_finite(columns$start[!limits]) &&
    all(columns$unit > 0) &&
    are_finite(columns$unit) && all(vapply(columns$prior, inherits, NA, "sparsegp_prior"))
}

# Finds hyperparameters that are fixed on a bound of their range, where their likelihood allows it
# (`limit`, lik-contract.R).
at_limit <- function(table, lik) {
  about <- lik_traits(lik)$about
  allowed <- names(Filter(function(one) !is.null(one$limit), about))
  table$part %in% "likelihood" & table$base %in% allowed & table$free %in% FALSE &
    table$theta %in% -Inf & table$start %in% -Inf
}

# Each has a name of its own, and theta leads to values that there can be, none of them 0 or
# infinite by rounding.
have_values <- function(table, limits) {
  value <- hyper_value(table)
  searched <- table$log
  own <- sub("^k[0-9]+[.]", "", table$name)
  all(startsWith(own, table$base)) && !anyDuplicated(table$name) &&
    are_finite(value) && all(value[searched] > table$lower[searched] | limits[searched]) &&
    all(value[searched] < table$upper[searched])
}

# The small fields that say what the model is and how it was learned.
MODEL_FIELDS <- c("likelihood", "kernel", "response", "scaling", "spec", "hyper", "method",
                  "convergence", "learning")

# Tests that read no other fields than these; in this order: each may rely on those before it.
MODEL_PARTS <- list(
  likelihood = function(fit) !is.null(check_likelihood(fit$likelihood)),
  kernel = function(fit) !is.null(check_kernel(fit$kernel)),
  response = function(fit) {
    response <- fit$response
    codec <- lik_codec(fit$likelihood)
    is_word(response$codec, c(codec$name, if (!is.null(codec$more)) codec$more()$name)) &&
      is.integer(response$width) && is_one(response$width, 1, MAX_COMPONENTS) &&
      (is.null(response$levels) || are_words(response$levels)) &&
      identical(response$processes, codec_of(fit)$processes(response$levels)) &&
      is_one(response$processes, 1, MAX_CLASSES) &&
      is_one(response$unit, .Machine$double.xmin, .Machine$double.xmax) &&
      is.null(dim(response$centre)) && are_finite(response$centre) &&
      is_right_response(codec_of(fit), response)
  },
  scaling = function(fit) {
    scaling <- fit$scaling
    inputs <- sum(scaling$kept)
    is.logical(scaling$kept) && inputs > 0L && is_flag(scaling$scale) &&
      are_words(scaling$names, length(scaling$kept)) && are_words(scaling$dropped) &&
      setequal(scaling$dropped, scaling$names[!scaling$kept]) &&
      are_doubles(scaling$centre, inputs) && are_doubles(scaling$sd, inputs) &&
      is.null(dim(scaling$centre)) && is.null(dim(scaling$sd)) && all(scaling$sd > 0) &&
      are_finite(scaling$sd) && are_finite(scaling$centre) && is_flag(scaling$alike) &&
      are_doubles(scaling$seen, inputs) && are_finite(scaling$seen) && all(scaling$seen > 0) &&
      !anyNA(scaling$names) && !anyDuplicated(scaling$names) &&
      is.numeric(scaling$constant) && length(scaling$constant) == sum(!scaling$kept)
  },
  spec = function(fit) {
    is_kernel_spec(fit$spec, point_length(fit), n_outputs(fit)) && same_types(fit$kernel, fit$spec)
  },
  hyper = function(fit) {
    kernels <- if (own_kernels(fit$likelihood)) processes(fit) else 1L
    counts <- c(kernels * count_kernel_hyper(fit$spec), count_lik_hyper(fit))
    limits <- at_limit(fit$hyper, fit$likelihood)
    is_hyper_table(fit$hyper, limits) &&
      identical(fit$hyper$part, rep(c("kernel", "likelihood"), counts)) &&
      setequal(fit$hyper$base[fit$hyper$part == "likelihood"],
               utils::head(hyper_names(fit$likelihood), counts[2L])) &&
      have_values(fit$hyper, limits)
  },
  method = function(fit) !is.null(check_method(fit$method))
)

# Tests of the others, in this order
FIT_PARTS <- list(
  copies = function(fit) {
    made <- fit$copies$made
    is.null(fit$copies) || is.data.frame(made) &&
      all(vapply(made[c("vectors", "copies", "points", "copied")], is.numeric, NA)) &&
      is.numeric(fit$copies$points) && is_frame(made)
  },
  posterior = function(fit) {
    each <- fit$posterior$each
    inputs <- point_length(fit)
    if (is.null(each)) return(is_posterior(fit$posterior, inputs, processes(fit), n_outputs(fit)))
    length(each) == processes(fit) && all(vapply(each, is_posterior, NA, inputs, 1L, 1L)) &&
      is_table(fit$posterior$basis, nrow(fit$posterior$basis), inputs)
  },
  rows = function(fit) {
    if (has_rows(fit)) has_right_rows(fit) else !any(lengths(fit[ROWS_TOGETHER]))
  },
  x = function(fit) {
    x <- fit[["x"]]
    is.null(x) || is_table(x, nrow(x), length(fit$scaling$kept))
  },
  state = function(fit) {
    if (!has_state(fit)) return(TRUE)
    bases <- bases_of(fit)
    is.list(fit$state) && length(fit$state) == length(bases) &&
      all(mapply(is_state, fit$state, bases, processes(fit) / length(bases)))
  },
  stream = function(fit) is.null(fit$stream) || is_stream_record(fit),
  xlevels = function(fit) are_levels(fit$xlevels, fit$terms),
  row_names = function(fit) {
    is.null(fit$row_names) || !has_rows(fit) || length(fit$row_names) == fit$n
  }
)
