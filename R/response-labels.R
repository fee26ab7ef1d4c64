# Makes codecs of labels: two of them, two that may be missing, several one-vs-rest, several in
# one model, and ordered ones (response-ordered.R). Beside what response-codec.R names they have
#   as_labels   (y) -> do these numbers name labels?
#   more        the codec of more than two labels; NULL: this one
#   check       (levels, lik) stops for what the likelihood cannot have
#   how         of several classes: the words of print() on how they are modelled, or NULL

# Two labels are -1 and 1 for C.
labels_codec <- function() {
  codec_like(codec_defaults(), c("labels", "factor"), labelled = TRUE,
             called = "a two-class response", task = "classification",
             offers = offer_table(c("se.fit", "confidence"), "confidence", prob = character(),
                                  class = character()),
             measures = c("influence", "importance", "improvement"), usual_measure = "entropy",
             absent = "rows without a label", as_labels = are_two_values, more = rest_codec,
             shape = shape_of(function(x) length(x) == 2L && are_labels(x)),
             check = function(levels, lik) invisible(), read = read_labels,
             again = read_more_labels,
             codes = function(y, response) c(-1, 1, 0)[match(as.integer(y), 1:2, 3L)],
             back = function(codes, response) {
               factor(response$levels[match(codes, c(-1, 1))], response$levels)
             },
             observed = function(y) as.integer(y) - 1,
             constant = function(codes) {
               if (length(unique(codes[codes != 0])) == 1L) "has one class only"
             },
             words = function(response) {
               levels <- dQuote(response$levels, FALSE)
               paste("probability of", levels[2L], "against", levels[1L])
             })
}

# Two labels, either of which may be missing.
some_labels_codec <- function() {
  codec_like(labels_codec(), c("some_labels", "labels", "factor"), missing = TRUE, more = NULL,
             check = function(levels, lik) {
               refuse_if(length(levels) != 2L, "y",
                         paste0("has ", length(levels), " classes, and the ", lik$type,
                                " likelihood is for two"), "Merge classes, or fit one by one")
             })
}

# A latent function for each label; labels are numbers from 1 for C.
classes_codec <- function() {
  codec_like(labels_codec(), c("classes", "factor"), offsets = FALSE,
             called = "a response of several classes", measures = "importance",
             offers = list(response = character(), link = "se.fit", latent = "se.fit",
                           median = character(), prob = character(), class = character(),
                           terms = "se.fit", slope = c("se.fit", "confidence")),
             as_labels = are_whole, more = NULL, shape = shape_of(are_labels),
             codes = function(y, response) as.double(as.integer(y)),
             back = function(codes, response) factor(response$levels[codes], response$levels),
             functions = length, processes = length, series = function(codes) NULL,
             observed = function(y) outer(as.integer(y), seq_along(levels(y)), "=="),
             words = class_words)
}

rest_codec <- function() {
  codec_like(classes_codec(), c("rest", "classes", "factor"), offsets = TRUE,
             how = ", one-vs-rest")
}

class_words <- function(response, called = " classes", between = ", ") {
  paste0(length(response$levels), called, codec_named(response$codec)$how, ": ",
         paste(response$levels, collapse = between))
}

# A stream may begin with one class, if the response names the others.
read_labels <- function(codec, y, lik, offset, weights, streams) {
  labels <- as_factor(codec, y, streams)
  present <- levels(if (streams) labels else droplevels(labels))
  refuse_if(length(present) < 2L,
            "y", if (length(present)) paste0("has only one class, ", present) else "has no labels",
            paste("Give rows of all classes; only a stream may begin with one, if the",
                  "response is a factor that names the others"))
  refuse_if(nlevels(labels) > MAX_CLASSES,
            "y", paste0("has ", nlevels(labels), " classes, and ", MAX_CLASSES, " is the most"),
            "Merge classes, or fit numbers as a regression")
  codec$check(levels(labels), lik)
  if (nlevels(labels) > 2L && !is.null(codec$more)) codec <- codec$more()
  if (nlevels(labels) > 2L && is.ordered(labels)) codec <- ordered_as(codec)
  codes <- codec$codes(labels)
  response <- new_response(codec, codes, NULL, weights, levels = levels(labels))
  response$given <- codec$back(codes, response)
  response$all_levels <- other_levels(y, response$given)
  response
}

# Returns the levels of a factor, "ordered" as it is, if labels that were read from it are a factor
# of other levels, as those without rows have no part in the model, or have lost their order, as two
# do. NULL: they are the same.
other_levels <- function(y, labels) {
  if (!is.factor(y)) return(NULL)
  ordered <- is.ordered(y) || is.ordered(labels)
  if (identical(levels(y), levels(labels)) && ordered == is.ordered(labels)) return(NULL)
  structure(levels(y), ordered = ordered)
}

# Returns labels of the fit as a factor of all levels of the response that was given.
with_all_levels <- function(labels, response) {
  levels <- response$all_levels
  if (is.null(levels)) return(labels)
  factor(as.character(labels), levels, ordered = attr(levels, "ordered"))
}

as_factor <- function(codec, y, streams) {
  labels <- if (is.factor(y) && streams && nlevels(y) > 1L) y
            else if (is.factor(y)) droplevels(y)
            else if (is.logical(y)) factor(y, c(FALSE, TRUE))
            else if (is.numeric(y) && !codec$as_labels(y)) NULL
            else factor(y)
  refuse_if(is.null(labels), "y", paste("is not", codec$called),
            "Convert it by factor(); a logical, 0/1 or -1/1 are accepted for two classes")
  if (!anyNA(levels(labels))) return(labels)
  stop_sparsegp("y", "has NA among its levels",
                "Name that level, or leave it out: factor(as.character(y))")
}

are_whole <- function(y) all(is.finite(y) & y == round(y))

are_two_values <- function(y) {
  y <- y[!is.na(y)]
  all(y %in% c(0, 1)) || all(y %in% c(-1, 1))
}

read_more_labels <- function(codec, y, lik, weights, response) {
  levels <- response$levels
  words <- unique(y)
  unknown <- setdiff(as.character(words), c(levels, NA))
  if (length(unknown) == 0L) return(factor(as.character(words), levels)[match(y, words)])
  stop_sparsegp("newdata", paste0("has new levels of the response: ",
                                  toString(unknown)), paste0("The levels are ", toString(levels)))
}
