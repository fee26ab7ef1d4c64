# A response is read by a codec: what a user gives becomes codes for C, and comes back. A likelihood
# names the codec it needs (`response` of its traits, lik-contract.R), and nothing else asks what
# kind of response there is. A codec is a list of class response_<kind> (response_class()), on which
# the answers of a fit are dispatched, too (fit-answers.R):
#   name       <name>_codec() returns it, called once (util-registry.R). A fit stores this name
#   called     the response in words
#   task       "regression" or "classification"
#   offers     what predict() offers: by type, with what beside it (response-offers.R)
#   labelled   are responses labels? Their levels are found when they are read
#   ranked     are the labels in an order?
#   missing    may a response be missing? A label's code is 0 then, and its probability one of being
#              there at all, too; of several components some may be
#   several    is it of several columns, each a component?
#   apart      is each label against the rest a model of its own, so that there is no evidence?
#   offsets    does an offset say anything? Not where it shifts the functions of all labels alike
#   trials     is a weight a number of trials?
#   scaled     does y -> c y + b map the model to itself? Then C gets y standardised, and the mean
#              of a response is the latent function
#   wide       (offset, size) -> known means of all latent values of a row, a matrix of that size,
#              from what a user gives; NULL where a row has but one latent value of a process
#   gather     (chunk) -> chunk, with a response of several columns made one, and weights
#   refuse     (y, weights) -> what is wrong with these numbers, or NULL
#   moments    (chunk) -> what centre and unit are made of, of rows of a source (response-moments.R)
#   read       (codec, y, lik, offset, weights, streams) -> a response, see new_response()
#   again      (codec, y, lik, weights, response) -> the response of more rows: numbers, or a
#              factor of the levels
#   codes      (y, response) -> what C is given of either
#   back       (codes, response) -> numbers in the user's units, or a factor, from C's
#   processes  (levels) -> independent latent functions
#   observed   (y) -> what the mean response would be if it were known
#   words      (response) -> what print() says of it, or NULL
#   values     (y) -> how many numbers with a unit each response is
#   constant   (codes) -> words, where these responses have nothing to learn from but their
#              one value; else NULL
#   jump       (weights) -> from a response to the next that there can be; NULL: all numbers can be

codec_named <- function(name) {
  codec <- registered("codecs", name)
  if (is.null(codec)) stop_damaged("its `response` is of no kind that there is")
  codec
}

# Returns the class of a codec: the kinds it is of, the most special first.
#   numbers       in units that the model scales with; counts (trials, seen): in units of their own
#   components    several latent values of one process in a row: vectors (mixtures), spreads
#   factor        labels; labels (some_labels): two. ordered: with one latent function. classes
#                 (rest): with one for each
response_class <- function(...) c(paste0("response_", c(...)), "response")

# A codec that differs from another in the fields given. kinds: see response_class()
codec_like <- function(codec, kinds, ...) {
  changes <- list(name = kinds[1L], ...)
  codec[names(changes)] <- changes
  class(codec) <- response_class(kinds)
  codec
}

# What is read off a response. y: codes; given: as the user has it. A response in the user's units
# is code * unit + centre. width: latent values of one process that a row sees at once.
new_response <- function(codec, y, given, weights = NULL, levels = NULL, centre = 0, unit = 1) {
  list(codec = codec$name, y = y, given = given, weights = weights, levels = levels,
       centre = centre, unit = unit, processes = codec$processes(levels), width = 1L,
       components = NULL)
}

weights_or_ones <- function(weights, n) if (is.null(weights)) rep(1, n) else weights

# What a fit keeps of it; `components` are there where there are several.
RESPONSE <- c("codec", "levels", "centre", "unit", "processes", "width", "components")

# The response of n more rows.
read_more <- function(object, y, n, weights = NULL) {
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  codec <- codec_of(object)
  if (NROW(y) != n || !codec$several && !is.null(dim(y))) {
    stop_sparsegp("newdata", paste0("has ", NROW(y), " responses for ", n, " rows"))
  }
  codec$again(codec, y, object$likelihood, weights, object$response)
}

# ---- What the response of a fit is ----

codec_of <- function(fit) codec_named(fit$response$codec)

processes <- function(fit) fit$response$processes

width <- function(fit) fit$response$width

has_classes <- function(fit) !is.null(fit$response$levels)

# Classes each against the rest are as many models, of which no two agree on the data.
has_evidence <- function(fit) !codec_of(fit)$apart
