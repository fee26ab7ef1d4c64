# Pictures on a dark page: what is drawn can be read, and told apart by colour-blind readers.

r_code_alone()

DARK <- "#15191e"

# Linear channels of sRGB, and back
linear <- function(x) ifelse(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055)^2.4)
gamma <- function(x) ifelse(x <= 0.0031308, 12.92 * x, 1.055 * pmax(x, 0)^(1 / 2.4) - 0.055)

luminance <- function(col) {
  drop(c(0.2126, 0.7152, 0.0722) %*% linear(grDevices::col2rgb(col) / 255))
}

# WCAG's contrast of colours to that of the page
contrast <- function(col, page) {
  both <- cbind(luminance(col), luminance(page)) + 0.05
  apply(both, 1L, max) / apply(both, 1L, min)
}

# Machado, Oliveira and Fernandes (2009), table 1, severity 1, by rows
SEEN_BY <- list(
  all = diag(3),
  protanopia = matrix(c(0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216,
                        -0.003882, -0.048116, 1.051998), 3L, byrow = TRUE),
  deuteranopia = matrix(c(0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413,
                          -0.011820, 0.042940, 0.968881), 3L, byrow = TRUE),
  tritanopia = matrix(c(1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602,
                        0.004733, 0.691367, 0.303900), 3L, byrow = TRUE)
)

# The least distance in Lab of any two colours, as the eye sees them
least_distance <- function(col, eye) {
  seen <- linear(t(grDevices::col2rgb(col)) / 255) %*% t(eye)
  seen <- gamma(pmin(pmax(seen, 0), 1))
  min(stats::dist(grDevices::convertColor(seen, "sRGB", "Lab")))
}

test_that("a page is dark if its colour is, and white paper leaves colours as they are", {
  dark <- function(col) new_page(col)$dark
  expect_true(all(vapply(c("black", "grey10", DARK, "#002b36"), dark, NA)))
  expect_false(any(vapply(c("transparent", "white", "grey92", "#fdf6e3"), dark, NA)))
  col <- c(CLASS_COLOURS, INK, NA, "white")
  expect_identical(on_page(col, new_page("transparent")), col)
})

test_that("white becomes the page, black becomes white, opacity and the user's colours stay", {
  page <- new_page(DARK, "red")
  expect_identical(toupper(on_page(c("white", "black"), page)), c("#15191EFF", "#FFFFFFFF"))
  expect_identical(on_page(c(NA, "red", "#FF000080"), page), c(NA, "red", "#FF000080"))
  pale <- grDevices::adjustcolor(c("grey30", CLASS_COLOURS), 0.25)
  opacity <- function(col) grDevices::col2rgb(col, alpha = TRUE)[4L, ]
  expect_identical(opacity(on_page(pale, page)), opacity(pale))
  expect_identical(on_page(rep(INK, 3L), page), rep(on_page(INK, page), 3L))
})

test_that("classes on a dark page are told apart as on white, by colour-blind readers, too", {
  drawn <- on_page(CLASS_COLOURS, new_page(DARK))
  expect_true(all(contrast(drawn, DARK) > 3))
  for (eye in SEEN_BY) {
    for (count in c(2L, 4L, 8L, 12L)) {
      # 40 is far: the distance of a pure grey of 40 per cent from black
      expect_gt(least_distance(drawn[seq_len(count)], eye),
                min(40, 0.9 * least_distance(CLASS_COLOURS[seq_len(count)], eye)))
    }
  }
})

test_that("ramps and letters have the contrast on a dark page that they have on white", {
  page <- new_page(DARK)
  lightness <- function(col) lab_of(grDevices::col2rgb(col))[, 1L]
  for (ramp in list(mean_ramp(8L), error_ramp(8L), ordered_colours(8L))) {
    steps <- diff(lightness(on_page(ramp, page)))
    expect_true(all(steps > 0))
    expect_gt(min(steps), 0.7 * min(-diff(lightness(ramp))))
  }
  expect_true(all(contrast(on_page(c(INK, "grey35"), page), DARK) > 4.5))
  expect_true(all(contrast(on_page(ordered_colours(5L), page), DARK) > 3))
})

# Returns the colours that a drawing writes to a device with this background, as an SVG names them.
drawn_colours <- function(draw, bg) {
  file <- tempfile(fileext = ".svg")
  grDevices::svg(file, 5, 4, bg = bg)
  on.exit(unlink(file))
  draw()
  grDevices::dev.off()
  words <- paste(readLines(file), collapse = " ")
  found <- unique(regmatches(words, gregexpr("rgb\\([^)]*\\)", words))[[1L]])
  share <- lapply(strsplit(gsub("[a-z()% ]", "", found), ","), as.double)
  vapply(share, function(rgb) grDevices::rgb(rgb[1L], rgb[2L], rgb[3L], maxColorValue = 100), "")
}

test_that("nothing that plot() draws on a dark page is black, and par() rules labels", {
  slow_tier()
  skip_if_not(capabilities("cairo"))
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  pictures <- list(
    function() plot(fit, n = 11, main = "Cars"),
    function() plot(fit, type = "residuals", which = 1),
    function() plot(sparsegp(Species ~ Petal.Width + Sepal.Width, iris[1:37 * 4, ],
                             learn = FALSE), n = 11),
    function() plot(gp_density(faithful$eruptions)),
    function() plot(calibration(fit)),
    function() plot(next_rows(fit, data.frame(speed = 4:25), k = 2))
  )
  for (draw in pictures) {
    drawn <- drawn_colours(draw, "black")
    # white paper would show as a colour; pale things on the page may be as dark as the page
    expect_false(any(drawn == grDevices::rgb(0.2, 0.2, 0.2)))
    expect_gt(max(contrast(drawn, "black")), 15)
  }
  labelled <- function() {
    old <- graphics::par(col.lab = "#FFC800", col.axis = "#00FF00")
    on.exit(graphics::par(old))
    plot(fit, n = 11)
  }
  expect_true(all(c("#FFC800", "#00FF00") %in% drawn_colours(labelled, "black")))
  expect_false("#000000" %in% drawn_colours(function() plot(fit, n = 11, col = "red"), "#404040"))
  expect_true("#FF0000" %in% drawn_colours(function() plot(fit, n = 11, col = "red"), "black"))
})

test_that("autoplot() has the colours for the background of the theme that is set", {
  slow_tier()
  skip_if_not_installed("ggplot2")
  fit <- sparsegp(dist ~ speed, cars, learn = FALSE)
  line <- function() {
    layers <- ggplot2::autoplot(fit, n = 5)$layers
    unlist(lapply(unname(layers), function(layer) layer$aes_params$colour))
  }
  light <- line()
  old <- ggplot2::theme_set(ggplot2::theme_grey() + ggplot2::theme(
    panel.background = ggplot2::element_rect(fill = DARK)
  ))
  on.exit(ggplot2::theme_set(old))
  expect_identical(line(), on_page(light, new_page(DARK)))
  ggplot2::theme_set(ggplot2::theme_void())
  expect_identical(line(), light)
})
