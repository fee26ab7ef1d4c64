# The table of what predict() offers for each kind of response: `offers` of a codec, a list by
# `type` of what may be asked for beside it. Its checks and their messages come from the table.
# `slope` is there if slopes() has an answer.

# The types of predict()
TYPES <- c("response", "link", "latent", "median", "prob", "class", "quantile", "zero", "survival",
           "rmst", "terms")

# Returns the table of a response with one latent function, from the extras of `response` and
# `median`, and other types.
offer_table <- function(response, median, ...) {
  latent <- c("se.fit", "confidence", "covariance")
  list(response = response, link = latent, latent = latent, median = median, ...,
       terms = "se.fit", slope = c("se.fit", "confidence"))
}

# Returns a table without some types, and without these extras of the others.
offers_without <- function(offers, ...) {
  out <- c(...)
  lapply(offers[setdiff(names(offers), out)], setdiff, out)
}

# How what is beside a type is asked for
EXTRAS <- c(se.fit = "se.fit = TRUE", confidence = "interval = \"confidence\"",
            prediction = "interval = \"prediction\"", covariance = "covariance = TRUE")

# Stops unless the codec's table has all of `extras` beside `type`.
check_offered <- function(codec, type, extras) {
  offered <- codec$offers[[type]]
  refuse_if(is.null(offered), "type", paste0("= \"", type, "\" is not defined for ", codec$called),
            paste("Use type =", words_with_or(intersect(TYPES, names(codec$offers)))))
  lacking <- setdiff(extras, offered)
  if (length(lacking) == 0L) return(invisible())
  asked <- strsplit(EXTRAS[[lacking[1L]]], " = ", fixed = TRUE)[[1L]]
  stop_sparsegp(asked[1L], paste0("= ", asked[2L], " is not defined for type = \"", type,
                                  "\" of ", codec$called),
                instead_of_extra(codec$offers, lacking[1L], offered))
}

# Returns the remedy: another measure of spread that the type offers, or another type that offers
# the same.
instead_of_extra <- function(offers, extra, offered) {
  spread <- intersect(c("confidence", "se.fit"), offered)
  if (extra != "covariance" && length(spread)) return(paste("Use", EXTRAS[[spread[1L]]]))
  types <- intersect(TYPES, names(Filter(function(extras) extra %in% extras, offers)))
  if (length(types)) paste("Use type =", words_with_or(types))
  else "Leave it out: use type = \"prob\" alone, or draws()"
}

words_with_or <- function(words) {
  words <- dQuote(words, FALSE)
  if (length(words) == 1L) return(words)
  paste(toString(words[-length(words)]), "or", words[length(words)])
}
