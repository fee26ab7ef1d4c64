# Layers of ggplot2 that pictures share.

# An aesthetic for each argument: the column of that name.
mapped <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

# Columns of fixed names: place, by, and what is predicted.
placed_columns <- function(view, drawn) {
  names(drawn)[seq_along(view$axes)] <- c("place", "place2")[seq_along(view$axes)]
  if (!is.null(view$by)) names(drawn)[length(view$axes) + 1L] <- "by"
  drawn
}

shown_frame <- function(view, shown) {
  axis <- view$axis[[1L]]
  place <- shown$at[[1L]]
  frame <- data.frame(place = place, y = shown$y, near = shown$near)
  if (!is.null(axis$levels)) frame$place <- factor(axis$levels[place], axis$levels)
  if (length(shown$at) > 1L) frame$place2 <- shown$at[[2L]]
  if (!is.null(view$by)) frame$by <- factor(view$by$levels[shown$level], view$by$levels)
  frame[is.finite(as.numeric(frame$y)), ]
}

class_scale <- function(aesthetic, levels) {
  scale <- if (aesthetic == "fill") ggplot2::scale_fill_manual else ggplot2::scale_colour_manual
  scale(values = rep_len(CLASS_COLOURS, length(levels)), drop = FALSE)
}

# Captions are not broken by ggplot2, and are cut off at the edge of the page.
wrapped <- function(words) {
  words <- nonempty(words)
  if (length(words)) paste(strwrap(words, 60L), collapse = "\n")
}
