# The codec of ordered categories: numbers from 1 for C, one latent function for all of them.

ordered_codec <- function() {
  codec_like(labels_codec(), c("ordered", "factor"), ordered = TRUE, more = NULL,
             called = "a response of ordered categories",
             offers = offer_table(c("se.fit", "confidence", "prediction"),
                                  c("confidence", "prediction"), prob = character(),
                                  class = character(), quantile = character()),
             as_labels = are_whole, shape = shape_of(are_labels), read = read_ordered,
             jump = function(weights) 1,
             measures = c("influence", "importance", "improvement", "intervals"),
             codes = function(y, response) as.double(as.integer(y)),
             check = function(levels, lik) check_cut_count(lik, length(levels)),
             back = function(codes, response) {
               factor(response$levels[codes], response$levels, ordered = TRUE)
             },
             observed = as.integer,
             words = function(response) {
               paste0(length(response$levels), " ordered categories: ",
                      paste(response$levels, collapse = " < "))
             })
}

read_ordered <- function(codec, y, ...) {
  if (is.character(y)) {
    stop_sparsegp("y", "is text, whose categories have no order but the alphabet's",
                  "Say which it is by factor(y, levels, ordered = TRUE)")
  }
  read_labels(codec, y, ...)
}

# Cut points that were given; learned ones are as many as it takes.
check_cut_count <- function(lik, categories) {
  given <- length(unlist(lik$params))
  if (given == 0L || given == categories - 1L) return(invisible())
  stop_sparsegp("cuts", paste0("has ", counted(given, "value"), " for ", categories,
                               " categories"), "Give one between any two neighbours")
}
