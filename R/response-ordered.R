# Codecs of ordered categories, whose numbers from 1 are C's codes. What their kind, "in_order",
# answers follows from the probabilities of the categories (predictive-ordered.R): those of an
# ordinal likelihood, with one latent function for all of them, or of any likelihood of classes.

ordered_codec <- function() {
  codec <- codec_like(labels_codec(), c("ordered", "in_order", "factor"), more = NULL,
                      called = "a response of ordered categories",
                      offers = offers_in_order(), as_labels = are_whole,
                      shape = shape_of(are_labels), read = read_ordered,
                      measures = c("influence", "importance", "improvement", "intervals"),
                      codes = function(y, response) as.double(as.integer(y)),
                      check = function(levels, lik) check_cut_count(lik, length(levels)))
  with_order(codec)
}

# Adds to the codecs those of classes that are in an order: of the same models, which read_labels()
# has of an ordered factor with more than two levels. Their names are those of the classes' codecs,
# and ".ordered".
codecs_in_order <- function(codecs) {
  for (kind in c("classes", "rest", "coupled")) {
    codec <- codec_in_order(codecs[[kind]])
    codecs[[codec$name]] <- codec
  }
  codecs
}

codec_in_order <- function(classes) {
  codec <- with_order(classes)
  codec$name <- paste0(classes$name, ".ordered")
  codec$called <- "a response of ordered categories with a latent function for each"
  codec$offers <- replace(offers_in_order(), c("link", "latent"), classes$offers["link"])
  codec$measures <- c(classes$measures, "intervals")
  class(codec) <- c(paste0("response_", codec$name), "response_ordered_classes",
                    "response_in_order", class(classes))
  codec
}

with_order <- function(codec) {
  codec$ordered <- codec$tails <- codec$jumps <- TRUE
  codec$words <- function(response) class_words(response, " ordered categories", " < ")
  codec$observed <- as.integer
  codec$back <- function(codes, response) {
    factor(response$levels[codes], response$levels, ordered = TRUE)
  }
  codec
}

# Returns the table of ordered categories.
offers_in_order <- function() {
  offer_table(c("se.fit", "confidence", "prediction"), c("confidence", "prediction"),
              prob = character(), class = character(), quantile = character())
}

read_ordered <- function(codec, y, ...) {
  refuse_if(is.character(y), "y", "is text, whose categories are ordered only alphabetically",
            "Give their order by factor(y, levels, ordered = TRUE)")
  read_labels(codec, y, ...)
}

# Cut points that were given; learned ones are as many as it takes.
check_cut_count <- function(lik, categories) {
  given <- length(unlist(lik$params))
  if (given == 0L || given == categories - 1L) return(invisible())
  stop_sparsegp("cuts", paste0("has ", counted(given, "value"), " for ", categories,
                               " categories"), "Give one between any two neighbours")
}
