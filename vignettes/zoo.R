# The zoo's results (zoo.csv, written by bench/zoo.R): sums over sets, and the picture. For
# bench/zoo_tables.R and the vignette on defaults.
#
# A row of `zoo` is a method's fit of a set: set, kind, half, n (training observations), tests, who
# ("ours", "before" or a peer), response ("plain", or "chosen": its logarithm if the peer's
# held-out observations prefer that), density (mean over the test observations), ahead (ours less
# this, mean), se (the standard error of that), error (RMSE, or proportion of wrong labels), inside
# (coverage of 90 % intervals), seconds (CPU), MB, version (of the package).

MANY_TESTS <- 300 # test observations from which coverage is worth a look

# Returns for each set the row of its best peer.
zoo_best <- function(zoo, response = "plain") {
  peers <- zoo[!zoo$who %in% c("ours", "before") & zoo$response == response, ]
  peers <- peers[order(peers$set, -peers$density), ]
  peers[!duplicated(peers$set), ]
}

# Returns how ours does as a named vector of texts.
zoo_sums <- function(zoo) {
  failed <- setdiff(zoo$set, zoo$set[zoo$who == "ours"])
  zoo <- zoo[!zoo$set %in% failed, ]
  best <- zoo_best(zoo)
  chosen <- zoo_best(zoo, "chosen")
  ours <- zoo[zoo$who == "ours", ]
  numbers <- best$kind == "number"
  covered <- ours$inside[ours$kind == "number" & ours$tests >= MANY_TESTS]
  of <- function(yes) paste(sum(yes), "of", length(yes))
  nats <- function(x) sprintf("%+.3f", mean(x))
  most <- function(x, unit) {
    sprintf("%s %s (%s)", signif(max(x), 3), unit, ours$set[which.max(x)])
  }
  c("no answer, or a density of 0" = if (length(failed)) toString(failed) else "none",
    "best of all methods" = of(best$ahead >= 0),
    "best, or within one standard error of the best" = of(best$ahead + best$se >= 0),
    "behind by more than two standard errors" = of(best$ahead + 2 * best$se < 0),
    "mean of (ours - best peer), nats an observation" = nats(best$ahead),
    "the same, numbers alone" = nats(best$ahead[numbers]),
    "the same, labels alone" = nats(best$ahead[!numbers]),
    "numbers, if peers may choose the response's logarithm" =
      nats(chosen$ahead),
    "90 % intervals hold, sets of at least 300 test observations" =
      if (length(covered)) paste(format(range(covered), digits = 2), collapse = " to ") else "-",
    "CPU seconds altogether" = format(round(sum(ours$seconds))),
    "slowest fit" = most(ours$seconds, "CPU s"), "largest fit" = most(ours$MB, "MB"))
}

# ---- The picture: a line a set, sorted by what ours is ahead by ----

ZOO_EDGE <- 0.5 # nats beyond which points are drawn at the edge
ZOO_COLOURS <- c(ours = "#c0392b", before = "#e8b4ae", best = "#1f4e79", peer = "#a9b7c6")

zoo_picture <- function(zoo) {
  old <- graphics::par(mfrow = c(1, 2), oma = c(1.6, 0, 0, 0), mar = c(3.4, 8.2, 2.2, 0.6),
                       mgp = c(2, 0.6, 0), las = 1, cex.axis = 0.85, tcl = -0.3)
  on.exit(graphics::par(old))
  zoo_panel(zoo[zoo$kind == "number", ], "Numbers")
  zoo_panel(zoo[zoo$kind == "class", ], "Labels")
}

zoo_panel <- function(zoo, title) {
  best <- zoo_best(zoo)
  best <- best[order(best$ahead), ]
  row <- match(zoo$set, best$set)
  x <- zoo$density - best$density[row]
  graphics::plot(NULL, xlim = c(-1, 1) * ZOO_EDGE, ylim = c(0.5, nrow(best) + 0.5), yaxs = "i",
                 xlab = "nats ahead of the best peer", ylab = "", yaxt = "n", main = title,
                 cex.lab = 0.85)
  graphics::abline(h = seq_len(nrow(best)), col = "grey93")
  graphics::abline(v = 0, col = ZOO_COLOURS[["best"]], lty = 3)
  graphics::axis(2, seq_len(nrow(best)), sub(".*/", "", best$set), tick = FALSE)
  whiskers <- pmax(pmin(best$ahead + outer(best$se, c(-1, 1)), ZOO_EDGE), -ZOO_EDGE)
  graphics::segments(whiskers[, 1L], seq_len(nrow(best)), whiskers[, 2L],
                     col = ZOO_COLOURS[["ours"]], lwd = 1.5)
  zoo_points(x, row, zoo$response == "plain" & !zoo$who %in% c("ours", "before"), "peer", 16, 0.7)
  zoo_points(rep(0, nrow(best)), seq_len(nrow(best)), TRUE, "best", 16, 0.9)
  zoo_points(x, row, zoo$who == "before", "before", 16, 0.9)
  zoo_points(x, row, zoo$who == "ours", "ours", 16, 1.2)
  if (title == "Numbers") zoo_key(any(zoo$who == "before"))
}

# Draws points; those beyond the edge are triangles there.
zoo_points <- function(x, row, which, colour, symbol, size) {
  which <- which & !is.na(x)
  beyond <- abs(x) > ZOO_EDGE
  graphics::points(pmax(pmin(x, ZOO_EDGE), -ZOO_EDGE)[which], row[which],
                   pch = ifelse(beyond, ifelse(x > 0, 62, 60), symbol)[which],
                   col = ZOO_COLOURS[[colour]], cex = size)
}

zoo_key <- function(before) {
  shown <- c("ours", if (before) "before", "best", "peer")
  ndc <- function(at, convert) convert(at, "ndc", "user")
  graphics::legend(ndc(0.5, graphics::grconvertX), ndc(0.03, graphics::grconvertY),
                   c(ours = "sparsegp(y ~ ., data)", before = "the version before",
                     best = "best peer", peer = "other peers")[shown], xjust = 0.5, yjust = 0.5,
                   horiz = TRUE, pch = 16, col = ZOO_COLOURS[shown], bty = "n", cex = 0.8, xpd = NA)
}
