# How the vignettes show code and pictures: 50 dots an inch, antialiased. Where the program
# pngquant is installed, as it is where a release is built, pictures have a palette of 12 colours
# and take a quarter of the space, which keeps the installed package small. The website has room
# for those of 144 dots.
website <- identical(Sys.getenv("IN_PKGDOWN"), "true")
knitr::opts_chunk$set(collapse = TRUE, comment = "#>", dpi = if (website) 144 else 50,
                      margins = TRUE)
# Narrow margins: the panel fills its picture. `margins` is TRUE or the number of lines above it.
knitr::knit_hooks$set(margins = function(before, options) {
  top <- if (is.numeric(options$margins)) options$margins else 2.6
  if (before) par(mar = c(3.3, 4.1, top, 0.8))
})
if (nzchar(Sys.which("pngquant"))) {
  knitr::knit_hooks$set(pngquant = knitr::hook_pngquant)
  knitr::opts_chunk$set(pngquant = "--speed=1 --strip 12")
}
# Pictures that the text can do without are on the website alone.
knitr::opts_hooks$set(website_only = function(options) {
  if (!website) options$fig.show <- "hide"
  options
})
