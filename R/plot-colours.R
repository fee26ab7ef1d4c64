# The colours of charts, which are described for white paper, and those of a dark page.

# Okabe and Ito's colours, which people with colour-blindness can distinguish
BLUE <- "#0072B2"

ORANGE <- "#D55E00"

INK <- "grey20"

MASK <- "grey90" # far from data

# ---- Classes ----

# Colours apart under protanopia and deuteranopia too, the first ones the most; symbols repeat after
# five, so colour and symbol together are unique among 60 classes.
CLASS_COLOURS <- c(
  "#0072B2", "#D55E00", "#009E73", "#E0C700", "#CC79A7", "#661100", "#56C8F0",
  "#4B2BCB", "#36C872", "#005355", "#8B5A2B", "#303030"
)

# The same classes on a dark page: the least differences, also under protanopia, deuteranopia and
# tritanopia, are as on white, and the contrast to black is 3 or more.
DARK_CLASS_COLOURS <- c(
  "#4188D1", "#E86A00", "#00D79C", "#FFE55E", "#B87EA3", "#A25245", "#94CBEE",
  "#8058FF", "#A9FF94", "#437375", "#A08C73", "#F4EFF1"
)

class_colours <- function(style, alpha = 1, count = 2L) {
  rep_len(style$col %||% grDevices::adjustcolor(CLASS_COLOURS, alpha), count)
}

# Returns colours of ordered levels, from light to dark: their order is seen in grey, too, and under
# every kind of colour-blindness, as lightness falls from step to step. The first is dark enough to
# be read on white, and when mirrored light enough on a dark page.
ordered_colours <- function(count) {
  ramp <- c("#CF9D00", "#599C6E", "#2B7A8C", "#3A4C8A", "#3B0F4F")
  grDevices::colorRampPalette(ramp, space = "Lab")(count)
}

# ---- Pages ----

# On a dark page colours of classes have twins. The lightness of all others is mirrored, so that
# white becomes the colour of the page and black becomes white, and their hue stays: differences of
# lightness, by which people with colour-blindness distinguish colours, stay, too.

# Entries of an element's look, or of an item of a key, that are colours
COLOUR_ENTRIES <- c("col", "fill", "edge", "border", "colours", "paper", "ink", "faint")

# Describes a page of this colour. kept: colours that are drawn as they are, as the user named them
new_page <- function(colour, kept = NULL) {
  seen <- grDevices::col2rgb(colour, alpha = TRUE)
  lab <- lab_of(seen)
  list(dark = seen[4L] > 0 && lab[1L] < 50, lab = drop(lab), kept = rgb_words(kept))
}

# Returns the page of base graphics. Of most devices it is "transparent", which is white.
base_page <- function(style) new_page(par("bg"), style$col)

# Returns the page of ggplot2: the background of panels in the theme that is set.
theme_page <- function() {
  theme <- ggplot2::theme_get()
  fills <- lapply(c("panel.background", "plot.background"), function(name) {
    element <- ggplot2::calc_element(name, theme)
    if (!inherits(element, "element_blank")) element$fill
  })
  new_page(c(Filter(function(fill) !is.null(fill) && !is.na(fill), fills), "white")[[1L]])
}

lab_of <- function(rgb) {
  grDevices::convertColor(t(rgb[1:3, , drop = FALSE]) / 255, "sRGB", "Lab")
}

# Returns words by which opaque and pale versions of a colour are the same.
rgb_words <- function(col) {
  if (length(col)) apply(grDevices::col2rgb(col), 2L, paste, collapse = " ") else character()
}

# Returns colours for white paper as they are drawn on a page.
on_page <- function(col, page) {
  if (is.null(page) || !page$dark || length(col) == 0L) return(col)
  distinct <- unique(col)
  own <- is.na(distinct) | rgb_words(distinct) %in% page$kept
  distinct[!own] <- mirrored(distinct[!own], page)
  distinct[match(col, unique(col))]
}

mirrored <- function(col, page) {
  if (length(col) == 0L) return(character())
  rgb <- grDevices::col2rgb(col, alpha = TRUE)
  lab <- lab_of(rgb)
  white <- lab[, 1L] / 100
  lab <- lab + outer(white, page$lab)
  # a power below 1, as thin lines of light colours, such as yellow, would be too dark
  lab[, 1L] <- page$lab[1L] + (100 - page$lab[1L]) * pmax(1 - white, 0)^0.8
  new <- round(255 * grDevices::convertColor(lab, "Lab", "sRGB"))
  class <- match(rgb_words(col), rgb_words(CLASS_COLOURS))
  twins <- t(grDevices::col2rgb(DARK_CLASS_COLOURS))
  new[!is.na(class), ] <- twins[class[!is.na(class)], ]
  grDevices::rgb(new, alpha = rgb[4L, ], maxColorValue = 255)
}

# Returns a look, or an item of a key, with its colours for the page.
look_on_page <- function(look, page) {
  for (name in intersect(names(look), COLOUR_ENTRIES)) look[[name]] <- on_page(look[[name]], page)
  look
}

# Returns par(name), the colour of labels, or what can be read on the page where this cannot.
label_colour <- function(name, page) {
  col <- par(name)
  if (is.null(page) || !page$dark) return(col)
  lightness <- lab_of(grDevices::col2rgb(col))[1L]
  if (abs(lightness - page$lab[1L]) > 40) col else on_page(col, page)
}
