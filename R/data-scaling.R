# The scaling of inputs.

# Centre of each input and what it is divided by, `sd`: its standard deviation, or 1 where scale is
# FALSE; `kept` leaves out constant ones, unless all are, which `alike` says. `seen` is the scale of
# what the kernel sees. together: numbers of inputs that have one scale, the root mean square of
# theirs; with scale = "common" all have.
scale_inputs <- function(x, scale, together = NULL) {
  size <- by_column(x, function(column) max(abs(column), 0))
  unit <- ifelse(size > 0, size, 1)
  centre <- by_column(x, function(column, unit) mean(column / unit), unit)
  sd <- by_column(x, function(column, unit, centre) sqrt(mean((column / unit - centre)^2)), unit,
                  centre)
  kept <- sd > 1e-10
  alike <- !any(kept)
  if (alike) kept[] <- TRUE # one row, or copies of one: nothing tells the inputs apart
  natural <- sd * size
  natural[natural == 0] <- 1
  if (identical(scale, "common")) together <- which(kept)
  natural[together] <- sqrt(mean(natural[together]^2))
  natural <- natural[kept]
  divisor <- if (isFALSE(scale)) rep(1, sum(kept)) else natural
  list(
    kept = kept, alike = alike, scale = !isFALSE(scale), dropped = colnames(x)[!kept],
    names = colnames(x), constant = x[1L, !kept],
    centre = if (isFALSE(scale)) numeric(sum(kept)) else (centre * size)[kept],
    sd = divisor, seen = natural / divisor
  )
}

# Could inputs have one unit, and is one scale for all something else than one for each?
can_share_scale <- function(scaling) {
  spread <- diff(range(log(scaling$sd)))
  spread > log(1.05) && spread < log(ONE_UNIT)
}

ONE_UNIT <- 100 # the largest standard deviation over the smallest

# fun(column, ...) of every column, further arguments one for each: no copy of all of x.
by_column <- function(x, fun, ...) {
  each <- mapply(function(j, ...) fun(x[, j], ...), seq_len(ncol(x)), ...)
  stats::setNames(as.double(each), colnames(x))
}

scaled_inputs <- function(x, scaling) {
  if (!all(scaling$kept)) x <- x[, scaling$kept, drop = FALSE]
  if (any(scaling$centre != 0, scaling$sd != 1)) x <- scale_kept(x, scaling)
  attr(x, "contrasts") <- NULL
  x
}

# One of the kept inputs
scaled_input <- function(x, scaling, input) {
  (x[, which(scaling$kept)[input]] - scaling$centre[input]) / scaling$sd[input]
}

# Kept inputs to C's units and back.
scale_kept <- function(x, scaling) {
  for (j in seq_len(ncol(x))) x[, j] <- (x[, j] - scaling$centre[j]) / scaling$sd[j]
  x
}

unscale_kept <- function(x, scaling) sweep(sweep(x, 2L, scaling$sd, "*"), 2L, scaling$centre, "+")
