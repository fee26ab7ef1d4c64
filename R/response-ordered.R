# The codec of ordered categories: numbers from 1 for C, one latent function for all of them.

ordered_codec <- function() {
  codec_like(labels_codec(), c("ordered", "factor"), ordered = TRUE, more = NULL,
             called = "a response of ordered categories",
             offers = offers_of(c("se.fit", "confidence", "prediction"),
                                c("confidence", "prediction"), prob = character(),
                                class = character(), quantile = character()),
             as_labels = are_whole, codes = function(y, response) as.double(as.integer(y)),
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

# Cut points that were given; learned ones are as many as it takes.
check_cut_count <- function(lik, categories) {
  given <- length(unlist(lik$params))
  if (given == 0L || given == categories - 1L) return(invisible())
  stop_sparsegp("cuts", paste0("has ", counted(given, "value"), " for ", categories,
                               " categories"), "Give one between any two neighbours")
}
