# A fit may come from a file that another version wrote, or that somebody has changed. C trusts what
# R gives it, so that what C is going to read is looked at first, wherever a user hands in a fit. It
# takes no longer than to look at lengths and kinds: numbers themselves are not read.

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
  stop_sparsegp(argument, paste0("is no fit that this version of sparsegp could use: ", wrong),
                "Fit again, or load it from a file that is as it was written")
}

# What is wrong with a fit, in words, or NULL.
flaw_of <- function(fit) {
  if (!identical(fit$format, FIT_FORMAT)) {
    given <- if (is_one(fit$format, 0)) fit$format else "not given"
    return(paste0("its format is ", given, ", not ", FIT_FORMAT))
  }
  flaw_among(FIT_PARTS, fit)
}

flaw_among <- function(parts, fit) {
  for (part in names(parts)) {
    fits <- tryCatch(isTRUE(parts[[part]](fit)), error = function(e) FALSE)
    if (!fits) return(paste0("its `", part, "` does not fit the rest"))
  }
}

# ---- Kinds ----

are_doubles <- function(x, count) is.double(x) && length(x) == count

are_words <- function(x, count = length(x)) is.character(x) && length(x) == count

is_table <- function(x, nrow, ncol) {
  is.double(x) && is.matrix(x) && nrow(x) == nrow && ncol(x) == ncol
}

is_one <- function(x, least, most = Inf) {
  is.numeric(x) && is.null(dim(x)) && length(x) == 1L && isTRUE(x >= least && x <= most)
}

is_flag <- function(x) is.logical(x) && length(x) == 1L && !is.na(x)

is_word <- function(x, words) are_words(x, 1L) && x %in% words

# ---- Parts ----

is_kernel_spec <- function(spec, inputs) {
  parts <- spec$parts
  combined <- spec$type %in% c("sum", "product", FIELDS)
  is_word(spec$type, catalogue()$kernels) && is.list(parts) && (length(parts) > 0L) == combined &&
    is.integer(spec$vars) && all(spec$vars %in% (seq_len(inputs) - 1L)) &&
    is_flag(spec$ard) && is.integer(spec$degree) &&
    (if (spec$type == "coregion") length(spec$degree) == 2L && all(spec$degree >= 0L)
     else is_one(spec$degree, 0)) &&
    all(vapply(parts, is_kernel_spec, NA, inputs))
}

# Hyperparameters of a kernel, as the constructors of its leaves name them.
count_kernel_hyper <- function(spec) {
  if (length(spec$parts)) return(sum(vapply(spec$parts, count_kernel_hyper, 0)))
  if (spec$type == "coregion") {
    return(spec$degree[1L] + nrow(correlated_pairs(spec$degree[1L], spec$degree[2L])))
  }
  bases <- length(do.call(paste0("kernel_", spec$type), list())$params)
  if (spec$ard) bases - 1 + length(spec$vars) else bases
}

count_lik_hyper <- function(fit) {
  each <- catalogue()$likelihoods[[fit$likelihood$type]]
  if (!is.null(fit$likelihood$covariance)) return(count_noise(fit$likelihood, width(fit)))
  if (each$npar > 0L) return(each$npar * processes(fit))
  if (length(each$par)) length(fit$response$levels) - 1L else 0L
}

is_posterior <- function(posterior, inputs, processes) {
  basis <- posterior$basis
  d <- nrow(basis)
  is_factor <- function(factor) {
    is.null(factor) || is_table(factor, d, d) || is_table(factor, d, d * processes)
  }
  all(c("G", "H") %in% names(posterior)) && is_table(basis, d, inputs) &&
    (if (processes == 1L) are_doubles(posterior$alpha, d)
     else is_table(posterior$alpha, d, processes)) &&
    is_factor(posterior$G) && is_factor(posterior$H)
}

# Numbers of a point: inputs, and of several components which of them it is of
point_length <- function(fit) sum(fit$scaling$kept) + (width(fit) > 1L)

is_state <- function(one, basis, processes) {
  d <- nrow(basis)
  is_table(one$R, d, d) && is_table(one$S, d, d * processes) && is_table(one$t, d, processes)
}

has_right_rows <- function(fit) {
  n <- as.double(fit$n) # of a source there may be more rows than integers
  w <- width(fit)
  means <- list(fit$latent$mean, fit$cavity$mean, fit$sites$nu)
  blocks <- list(fit$latent$var, fit$cavity$var, fit$sites$tau)
  q <- catalogue()$likelihoods[[fit$likelihood$type]]$q
  is_one(n, 1) && all(vapply(means, are_doubles, NA, n * w * processes(fit))) &&
    all(vapply(blocks, are_doubles, NA, n * w^2 * processes(fit))) &&
    are_doubles(fit$cavity$lpd, n) && are_doubles(fit$offset, n * w) &&
    has_right_responses(fit, n, w) &&
    (is.null(fit$weights) || is.numeric(fit$weights) && length(fit$weights) == n) &&
    is_table(fit$data_rows, if (q > 0L) q else if (q == 0L) w else NROW(fit$data_rows), n)
}

# A matrix of whole parts, or a number for each component.
has_right_responses <- function(fit, n, w) {
  if (!is_mixture(fit$y)) return(length(fit$y) == if (codec_of(fit)$several) n * w else n)
  size <- 1L + moment_count(w)
  nrow(fit$y) == n && mixture_width(fit$y) == w &&
    NROW(fit$data_rows) == mixture_parts(fit$y) * size &&
    ncol(fit$y) %in% (mixture_parts(fit$y) * size + c(0L, size - 1L))
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

has_right_call <- function(fit) is.null(fit$call) || is.call(fit$call)

# Of a stream that waits, in this order: the shell, or the model of its rows. What it is given to C
# with is checked when it begins.
WAITING_PARTS <- list(
  stream = function(fit) is.list(fit$stream),
  setup = function(fit) is_method(fit$stream$setup$method),
  coder = function(fit) is_coder(fit$stream$coder),
  pilot = function(fit) is_one(fit$stream$pilot, 1),
  omitted = function(fit) is_one(fit$stream$omitted, 0),
  weighted = function(fit) is_flag(fit$stream$weighted),
  waiting = function(fit) is_queue(fit$stream$waiting),
  model = function(fit) is.environment(fit$stream$model) || !is.null(fit$posterior),
  call = has_right_call
)

are_constants <- function(constant, inputs) {
  is.null(constant) || is.double(constant) && all(names(constant) %in% inputs) &&
    length(names(constant)) == length(constant)
}

is_stream_record <- function(fit) {
  record <- fit$stream$record
  d <- nrow(fit$posterior$basis)
  counts <- record$count[record_names() != "logz"]
  traced <- record$count[record_names() == "traced"]
  is_table(record$points, point_length(fit), d) && are_doubles(record$id, d) &&
    are_doubles(record$count, length(record_names())) && all(counts >= 0 & is.finite(counts)) &&
    is_table(record$trace, nrow(empty_state(1L)$trace), traced) &&
    is_one(fit$stream$shift, -Inf) && is_flag(fit$stream$weighted) &&
    is_coder(fit$stream$coder) && is_queue(fit$stream$waiting) &&
    are_constants(fit$stream$constant, fit$scaling$names) &&
    is_one(fit$stream$size, max(d, 1L)) && is.integer(fit$stream$size)
}

# Kinds of the columns of the table of hyperparameters (hyper-table.R)
HYPER_COLUMNS <- list(
  character = c("name", "base", "part", "adds_to"), logical = c("log", "free", "scan"),
  double = c("unit", "lower", "upper", "theta", "start", "input_sd"), list = "prior"
)

is_hyper_table <- function(table) {
  kind <- rep(names(HYPER_COLUMNS), lengths(HYPER_COLUMNS))
  columns <- unclass(table)[unlist(HYPER_COLUMNS)]
  is.data.frame(table) && all(vapply(columns, typeof, "") == kind) &&
    all(lengths(columns) == length(columns$theta)) &&
    !anyNA(columns[c("lower", "log", "free")], TRUE)
}

# One response, or several by name.
has_right_components <- function(response, codec) {
  if (is.null(codec$wide)) return(response$width == 1L && is.null(response$components))
  response$width > 1L && are_words(response$components, response$width)
}

# In this order: each may rely on those before it.
FIT_PARTS <- list(
  likelihood = function(fit) is_word(fit$likelihood$type, names(catalogue()$likelihoods)),
  response = function(fit) {
    response <- fit$response
    codec <- lik_codec(fit$likelihood)
    is_word(response$codec, c(codec$name, if (!is.null(codec$more)) codec$more()$name)) &&
      is.integer(response$width) && is_one(response$width, 1, MAX_COMPONENTS) &&
      (is.null(response$levels) || are_words(response$levels)) &&
      has_right_components(response, codec) &&
      identical(response$processes, codec_of(fit)$processes(response$levels)) &&
      is_one(response$processes, 1, MAX_CLASSES) && is_one(response$unit, .Machine$double.xmin) &&
      is.null(dim(response$centre)) &&
      are_doubles(unname(response$centre), if (codec$several) response$width else 1L)
  },
  power = function(fit) is.null(fit$power) || is_one(fit$power, POWERS[1L], POWERS[2L]),
  copies = function(fit) {
    made <- fit$copies$made
    is.null(fit$copies) || is.data.frame(made) &&
      all(vapply(made[c("vectors", "copies", "points", "copied")], is.numeric, NA)) &&
      is.numeric(fit$copies$points)
  },
  scaling = function(fit) {
    scaling <- fit$scaling
    inputs <- sum(scaling$kept)
    is.logical(scaling$kept) && inputs > 0L && is_flag(scaling$scale) &&
      are_words(scaling$names, length(scaling$kept)) && are_words(scaling$dropped) &&
      setequal(scaling$dropped, scaling$names[!scaling$kept]) &&
      are_doubles(scaling$centre, inputs) && are_doubles(scaling$sd, inputs) &&
      is.null(dim(scaling$centre)) && is.null(dim(scaling$sd)) && all(scaling$sd > 0) &&
      length(scaling$constant) == sum(!scaling$kept)
  },
  spec = function(fit) is_kernel_spec(fit$spec, point_length(fit)),
  hyper = function(fit) {
    kernels <- if (own_kernels(fit$likelihood)) processes(fit) else 1L
    is_hyper_table(fit$hyper) &&
      sum(fit$hyper$part == "kernel") == kernels * count_kernel_hyper(fit$spec) &&
      sum(fit$hyper$part == "likelihood") == count_lik_hyper(fit)
  },
  posterior = function(fit) {
    each <- fit$posterior$each
    inputs <- point_length(fit)
    if (is.null(each)) return(is_posterior(fit$posterior, inputs, processes(fit)))
    length(each) == processes(fit) && all(vapply(each, is_posterior, NA, inputs, 1L)) &&
      is_table(fit$posterior$basis, nrow(fit$posterior$basis), inputs)
  },
  rows = function(fit) !has_rows(fit) || has_right_rows(fit),
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
  method = function(fit) is_method(fit$method),
  log_evidence = function(fit) is.double(fit$log_evidence) && length(fit$log_evidence) == 1L,
  call = has_right_call,
  xlevels = function(fit) are_levels(fit$xlevels, fit$terms),
  contrasts = function(fit) is.null(fit$contrasts) || is.list(fit$contrasts),
  row_names = function(fit) is.null(fit$row_names) || are_words(fit$row_names)
)
