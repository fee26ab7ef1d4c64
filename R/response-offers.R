# The table of what predict() offers for each kind of response: `offers` of a codec, a list by
# `type` of what may be asked for beside it. Its checks and their messages come from the table.

# Returns the table of a response with one latent function, from the extras of `response` and
# `median`, and other types.
offers_of <- function(response, median, ...) {
  latent <- c("se.fit", "confidence", "covariance")
  list(response = response, link = latent, latent = latent, median = median, ...,
       terms = "se.fit")
}

# Returns a table without some types, and without these extras of the others.
offers_without <- function(offers, ...) {
  out <- c(...)
  lapply(offers[setdiff(names(offers), out)], setdiff, out)
}

# Stops unless the codec's table has all of `extras` beside `type`.
check_offered <- function(codec, type, extras) {
  offered <- codec$offers[[type]]
  if (is.null(offered)) {
    stop_sparsegp("type", paste0("= \"", type, "\" is not defined for ", codec$called),
                  paste("Use type =", one_of(names(codec$offers))))
  }
  lacking <- setdiff(extras, offered)
  if (length(lacking) == 0L) return(invisible())
  stop_sparsegp(names(extra_argument(lacking[1L])),
                paste0(extra_value(lacking[1L]), "is not defined for type = \"", type, "\" of ",
                       codec$called),
                instead_of_extra(codec$offers, lacking[1L], offered))
}

# Returns how `extra` is asked for, named by predict()'s argument.
extra_argument <- function(extra) {
  switch(extra, se.fit = c(se.fit = "TRUE"), covariance = c(covariance = "TRUE"),
         c(interval = dQuote(extra, FALSE)))
}

extra_value <- function(extra) {
  asked <- extra_argument(extra)
  if (names(asked) == "interval") paste0("= ", asked, " ")
}

# Returns the remedy: another measure of spread that the type offers, or another type that offers
# the same.
instead_of_extra <- function(offers, extra, offered) {
  spread <- intersect(c("confidence", "se.fit"), offered)
  if (extra != "covariance" && length(spread)) {
    asked <- extra_argument(spread[1L])
    return(paste("Use", names(asked), "=", asked))
  }
  types <- names(Filter(function(extras) extra %in% extras, offers))
  if (length(types)) paste("Use type =", one_of(types))
  else "Leave it out, or use type = \"prob\" or draws()"
}

one_of <- function(words) {
  words <- dQuote(words, FALSE)
  if (length(words) == 1L) return(words)
  paste(toString(words[-length(words)]), "or", words[length(words)])
}
