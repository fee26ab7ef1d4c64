# A fit may come from a file that another version wrote, or that somebody has changed. R's own
# functions would stop with words of their own, so a fit is checked wherever a user hands one in:
# its fields are those of one table, fit_kinds(), which invalid_part() goes through.
# Numbers of rows, columns and components are read as such, and the posterior's are added up: none
# may be missing or infinite. Other numbers of rows are not read, so a check costs no more than
# a prediction.

# The number of what new_fit() makes. A version that changes it counts on, and reads earlier ones.
FIT_FORMAT <- 1L

# Largest fit, in bytes, that is remembered as sound. A prediction by a larger one takes so long
# that a check adds little, and its memory is to be free when the user removes it.
MOST_REMEMBERED <- 1e7

# Returns the fit, or stops. A fit is mostly asked more than once: the one that was sound last is
# not looked at again. The comparison takes no time, as R shares what nobody has changed.
check_fit <- function(fit, argument = "object") {
  if (!identical(fit, REGISTRY$sound_fit)) {
    refuse_flaw(invalid_field(fit), argument)
    REGISTRY$sound_fit <- if (utils::object.size(fit) <= MOST_REMEMBERED) fit
  }
  fit
}

refuse_flaw <- function(wrong, argument) {
  if (is.null(wrong)) return(invisible())
  if (wrong != "format") stop_damaged(paste0("its `", wrong, "` does not fit the rest"), argument)
  stop_sparsegp(argument, paste0("is not a fit that this version of sparsegp can use: its ",
                                 "`format` is not ", FIT_FORMAT),
                "Fit again, or load an undamaged copy")
}

# Returns the name of the first field that is not what a fit has, or NULL.
invalid_field <- function(fit) {
  # R stops at names of bytes with words of its own
  named <- is.list(fit) && !any(Encoding(as.character(names(fit))) == "bytes")
  if (!named || !identical(fit$format, FIT_FORMAT)) return("format")
  # an update changes no more than the rows: a model that was sound last is not looked at again
  model <- unclass(fit)[registered("kinds", "model")$fields]
  if (!identical(model, REGISTRY$sound)) {
    wrong <- invalid_part("model", fit)
    if (!is.null(wrong)) return(wrong)
    REGISTRY$sound <- model
  }
  invalid_part("fit", fit)
}

# The fit, where its rows are read: then their numbers are, too.
checked_rows <- function(fit) {
  refuse_flaw(invalid_part("row", fit), "object")
  fit
}

# The small fields that describe the model and how it was learned, which more rows leave as they
# are. These kinds read no other fields of a fit.
model_kinds <- function() list(
  learning = optional("learning"),
  likelihood = function(x) !is.null(check_likelihood(x)),
  kernel = function(x) !is.null(check_kernel(x)),
  response = function(x, whole) {
    is_word(x$codec, readers_of(whole$likelihood)) &&
      is_of_kind(x, kinds_of_response(codec_named(x$codec))) &&
      is_of_kind(x, codec_named(x$codec)$shape)
  },
  scaling = "scaling",
  spec = function(x, whole) {
    is_kernel_spec(x, point_inputs(whole$scaling), n_outputs(whole)) &&
      same_types(whole$kernel, own_spec(whole))
  },
  hyper = function(x, whole) {
    counts <- count_hyper(whole)
    limits <- at_limit(x, whole$likelihood)
    is_hyper_table(x, limits) && identical(x$part, rep(names(counts), counts)) &&
      setequal(x$base[x$part == "likelihood"],
               utils::head(hyper_names(whole$likelihood), counts[["likelihood"]])) &&
      have_values(x, limits)
  },
  method = function(x) !is.null(check_method(x)),
  options = function(x) !is.null(check_method(x))
)

# The others: what print(), summary(), plot(), formula(), loo(), update() and predict() read, then
# what C is given.
fit_kinds <- function() list(
  convergence = is_convergence,
  jitter = function(x) is_one(x, 0), n = is_count,
  log_evidence = is_number, call = optional(is_plain_call), terms = optional(is_terms),
  contrasts = optional(are_contrasts), row_names = optional(are_finite_words),
  frame = optional(is.data.frame), na.action = optional(are_row_numbers),
  power = optional(function(x) is_one(x, policy$temper_range[1L], policy$temper_range[2L])),
  choices = optional(function(x) is_frame(x) && is_of_kind(x, "choices")),
  choice_fields = optional(function(x, whole) {
    length(x) == NROW(whole$choices) && all(vapply(x, is_of_kind, NA, optional("structure")))
  }),
  merged = optional(list(fits = is_count, kl_lost = is_number)),
  source = optional(list(label = is_text, chunks = is_count, omitted = is_count,
                         kept = optional(is_count),
                         workers = optional(list(count = is_count, once = is_number,
                                                 read = is_number,
                                                 first = optional(is_number))))),
  basis_rows = optional(are_row_numbers),
  basis_rows_of = optional(every(is.numeric)),
  clocks = optional(every(function(x) inherits(x, c("Date", "POSIXct", "difftime")))),
  grown = optional(is_flag), mode = optional(is_text), modes = optional(is.list),
  copies = optional(list(made = frame_of("vectors", "copies", "points", "copied"),
                         points = is.numeric)),
  posterior = function(x, whole) {
    inputs <- point_length(whole)
    if (is_markov_fit(whole) && !markov_form(whole$spec)$states %in% seq_len(MOST_STATES)) {
      return(FALSE)
    }
    if (is_neighbour_fit(whole) && !is.null(what_forbids_kernel(whole$spec))) return(FALSE)
    if (is.null(x$each)) return(is_posterior(x, inputs, processes(whole), n_outputs(whole)))
    length(x$each) == processes(whole) && all(vapply(x$each, is_posterior, NA, inputs, 1L, 1L)) &&
      is_table(x$basis, nrow(x$basis), inputs)
  },
  rows = function(x, whole) has_right_rows(whole),
  x = optional(function(x, whole) is_table(x, nrow(x), length(whole$scaling$kept))),
  state = optional(function(x, whole) {
    bases <- bases_of(whole)
    is.list(x) && length(x) == length(bases) &&
      all(mapply(is_state, x, bases, processes(whole) / length(bases),
                 length(whole$posterior$trend$coef)))
  }),
  stream = optional(function(x, whole) is_stream_record(x, whole)),
  xlevels = function(x, whole) are_levels(x, whole$terms),
  modes = function(x, whole) all(vapply(x, is_mode, NA, whole)),
  held = optional(function(x, whole) is_held(x, whole)),
  ensemble = optional(is_ensemble)
)

# Every member is checked as if it were the fit.
is_ensemble <- function(ensemble, whole) {
  weights <- ensemble$weights
  is.list(ensemble) && are_doubles(weights, length(ensemble$members)) && length(weights) > 0L &&
    are_finite(weights) && all(weights >= 0) && abs(sum(weights) - 1) < 1e-6 &&
    is_flag(ensemble$fixed) && all(vapply(ensemble$members, is.list, NA)) &&
    all(vapply(each_member(whole, invalid_field), is.null, NA))
}

# Every mode is checked as if it were the fit.
is_mode <- function(mode, fit) {
  fit[OF_MODE] <- mode[OF_MODE]
  fit$modes <- NULL
  is.list(mode) && all(OF_MODE %in% names(mode)) && is.null(invalid_field(fit))
}

# Without a power of power EP every row has a cavity: with one, the whole site of a row may be more
# than the posterior has (sg_leave_out() in C), and all that is known of it is NaN.
are_cavities <- function(x, whole) {
  if (!anyNA(x$lpd[stats::complete.cases(whole$y)])) return(are_finite_moments(x))
  has_power(whole) && !any(is.infinite(c(x$mean, x$var)))
}

has_power <- function(fit) !(fit$options$power %||% 1) %in% 1

# Rows, where they are read.
row_kinds <- function() list(
  latent = are_finite_moments, cavity = optional(are_cavities),
  offset = optional(are_finite), x = optional(are_finite),
  y = function(x, whole) are_right_values(codec_of(whole), x, whole$response),
  row_names = function(x) !anyDuplicated(x)
)

# A stream that waits: the shell, or the model of its rows. What it is given to C with is checked
# when it begins.
waiting_kinds <- function() list(
  stream = is.list, terms = optional(is_terms), call = optional(is_plain_call),
  setup = function(x, whole) {
    setup <- whole$stream$setup
    is.list(setup) && !is.null(check_method(setup$method)) &&
      (is.null(setup$likelihood) || !is.null(check_likelihood(setup$likelihood)))
  },
  coder = function(x, whole) is_coder(whole$stream$coder),
  pilot = function(x, whole) is_one(whole$stream$pilot, 1),
  omitted = function(x, whole) is_one(whole$stream$omitted, 0),
  weighted = function(x, whole) is_flag(whole$stream$weighted),
  waiting = function(x, whole) is_queue(whole$stream$waiting),
  model = function(x, whole) is.environment(whole$stream$model) || !is.null(whole$posterior)
)
