# A response is read by a codec: what a user gives becomes codes for C, and comes back. A likelihood
# names the codec it needs (`response` of its traits, lik-contract.R). A codec is a list, and its
# class names the kind of response (response_class()), on which the answers of a fit are dispatched
# (predictive.R): a kind is a codec here and methods there. Fields that most kinds share have
# defaults, codec_defaults().
#   name           <name>_codec() returns it, called once (util-registry.R). A fit stores this name
#   called, task   the response in words; "regression" or "classification"
#   offers         what predict() offers: by type, with what beside it (response-offers.R)
#   measures       what else there is of it: "influence" of rows, "importance" of inputs,
#                  "improvement" as a score of next rows, "intervals" whose coverage is measured,
#                  "modes" of the posterior
#   usual_measure  what next_rows() expects to fall elsewhere: "variance"; of labels "entropy", as
#                  variances of latent functions are large where labels are certain (bench/active.R)
#   words          (response) -> the words of print() on it, or NULL
#   absent         what print() calls missing values
# How it is:
#   labelled       responses are labels, whose levels are found when they are read
#   ordered        labels are in an order
#   missing        a response may be missing. A label's code is 0 then, and its probability one of
#                  being there at all, too; of several components some may be missing
#   coregion       of components: arguments of kernel_coregion(), the kernel by default
#   offsets        an offset has an effect: it does not shift the functions of all labels alike
#   trials         a weight is a number of trials
#   scaled         y -> c y + b maps the model to itself. C gets y standardised, and the mean of a
#                  response is the latent function
#   functions      (levels) -> number of latent functions; one may have several components
#   processes      (levels) -> number of those that are independent
#   values         (y) -> how many numbers with a unit each response is
#   unit_of_count  (weights) -> what one of C's counts is in the response
#   tails          has C the distribution function of a response?
#   jumps          does that jump?
#   unbounded      means are integrals over a link without a bound (predictive-point.R)
#   dims           of how many dimensions a response may be
#   shape          kinds of the fields that a fit keeps of it (response-check.R)
# How it is read:
#   known_means    (offset, size) -> known means of all latent values of a row, from what a user
#                  gives: a matrix of that size where a row has several of a process
#   gather         (chunk) -> chunk, with a response of several columns made one, and weights
#   refuse         (y, weights) -> what is wrong with these numbers, or NULL; correct: the remedy
#   moments        (chunk) -> what centre and unit are made of, of rows of a source
#                  (response-moments.R)
#   read           (codec, y, lik, offset, weights, streams) -> a response, see new_response()
#   again          (codec, y, lik, weights, response) -> the response of more rows: numbers, or a
#                  factor of the levels
#   codes          (y, response) -> what C is given of either
#   back           (codes, response) -> numbers in the user's units, or a factor, from C's
#   series         (codes) -> numbers that may rise and fall along an input; NULL: labels without
#                  an order
#   observed       (y) -> what the mean response would be if it were known
#   constant       (codes) -> words, where these responses have nothing to learn from but their one
#                  value; else NULL

codec_named <- function(name) {
  codec <- registered("codecs", name)
  if (is.null(codec)) stop_damaged("its `response` is of an unknown kind")
  codec
}

# Returns the codec of the same labels in an order (response-ordered.R), if there is one.
ordered_as <- function(codec) registered("codecs", paste0(codec$name, ".ordered")) %||% codec

# Returns the class of a codec: the kinds it is of, the most special first.
#   numbers       in units that the model scales with; counts (trials, seen): in units of their own
#   components    several latent values of one process in a row: vectors (mixtures), spreads
#   factor        labels; labels (some_labels): two. classes (rest, coupled): with a latent function
#                 for each. in_order: ordered categories; ordered: with one latent function, and
#                 ordered_classes: with one for each
response_class <- function(...) c(paste0("response_", c(...)), "response")

# Returns what most codecs have in common.
codec_defaults <- function() {
  list(labelled = FALSE, ordered = FALSE, missing = FALSE, tails = FALSE, jumps = FALSE,
       coregion = NULL, offsets = TRUE, trials = FALSE, scaled = FALSE, usual_measure = "variance",
       unit_of_count = function(weights) 1, unbounded = FALSE, dims = 0L,
       shape = shape_of(), series = identity,
       known_means = function(offset, size) offset, as_labels = function(y) FALSE,
       gather = identity, refuse = function(y, weights) NULL, moments = moments_of_numbers,
       functions = function(levels) 1L, processes = function(levels) 1L,
       values = function(y) rep(1, length(y)))
}

# A codec that differs from another in the fields given. kinds: see response_class()
codec_like <- function(codec, kinds, ...) {
  changes <- list(name = kinds[1L], ...)
  codec[names(changes)] <- changes
  class(codec) <- response_class(kinds)
  codec
}

# Stops unless the codec has one of its `measures`.
check_measured <- function(codec, measure, argument, remedy) {
  refuse_if(!measure %in% codec$measures, argument,
            paste0("is of ", codec$called, ", for which ", measure, " is not defined"), remedy)
}

# Returns in words why a type of picture that is of a measure is refused, with the remedy, or NULL.
why_not_measured <- function(codec, measure, remedy) {
  if (!measure %in% codec$measures) c(paste("is not defined for", codec$called), remedy)
}

# Builds what is read off a response. y: codes; given: as the user has it. A response in the user's
# units is code * unit + centre. width: latent values of one process that a row sees at once.
new_response <- function(codec, y, given, weights = NULL, levels = NULL, centre = 0, unit = 1) {
  list(codec = codec$name, y = y, given = given, weights = weights, levels = levels,
       centre = centre, unit = unit, processes = codec$processes(levels), width = 1L,
       components = NULL)
}

# Returns words for the constants that a fit has estimated, `constant` (fit-mean.R), or for those
# removed from the responses. where: on which scale
constant_words <- function(response, where = "") {
  known <- response$constant
  called <- paste0(if (length(response$centre) > 1L) "prior means" else "prior mean", where, ": ")
  number <- function(value) format(value, digits = 5L, trim = TRUE)
  if (is.null(known)) {
    average <- if (any(response$centre != 0)) " (average of the response)"
    return(paste0(called, toString(number(response$centre)), average))
  }
  rounded <- function(value, se) {
    if (is.finite(se) && se > 0) number(round(value, 1L - floor(log10(se)))) else number(value)
  }
  error <- vapply(known$se, format, "", digits = 2L)
  paste0(called, toString(paste0(mapply(rounded, known$estimate, known$se), " (SE ", error, ")")))
}

# Names what a fit keeps of it; `components` are there where there are several.
RESPONSE <- c("codec", "levels", "centre", "unit", "processes", "width", "components")

# Returns what a fit keeps of a response, with its scale (response-transformed.R) and other levels
# (response-labels.R) if it has some.
kept_of_response <- function(response) {
  c(response[RESPONSE], Filter(Negate(is.null), response[c("scale", "all_levels")]))
}

# The response of n more rows.
read_more <- function(object, y, n, weights = NULL) {
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  codec <- codec_of(object)
  refuse_if(NROW(y) != n || length(dim(y)) > codec$dims,
            "newdata", paste0("has ", NROW(y), " responses for ", n, " rows"))
  codec$again(codec, y, object$likelihood, weights, object$response)
}

# ---- What the response of a fit is ----

codec_of <- function(fit) codec_named(fit$response$codec)

processes <- function(fit) fit$response$processes

# Returns the names of independent latent functions, one for each class, or NULL: there is one.
class_names <- function(response) if (response$processes > 1L) response$levels

# Names the columns of latent moments, where there is one for each class.
named_by_class <- function(fit, moments) {
  names <- class_names(fit$response)
  if (is.null(names)) moments else lapply(moments, `colnames<-`, names)
}

n_outputs <- function(fit) fit$response$width

# Are a row's latent values those of components, not of classes?
has_components <- function(fit) inherits(codec_of(fit), "response_components")

# Latent functions, whatever processes they are of
functions_of <- function(fit) codec_of(fit)$functions(fit$response$levels)
