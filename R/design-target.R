# Makes the target of score = "integrated", of rows or of a region.

TARGETS <- 500L      # points of a region, or most of the candidates
LABEL_TARGETS <- 100L # the same, where labels of several classes are gone through at each

# Returns the target of a score (design-integrated.R), or NULL if it takes none. target: as given;
# default: (most) -> the points that it is about if it is NULL, as target_points() has them.
target_for <- function(fit, score, target, weights, measure, default) {
  if (!ACQUISITIONS[[score]]$elsewhere) {
    given <- c("target", "target_weights")[c(!is.null(target), !is.null(weights))]
    if (length(given) == 0L) return(NULL)
    stop_sparsegp(given[1L], "is for score = \"integrated\"", "Leave it out")
  }
  measure <- measure %||% codec_of(fit)$usual_measure
  measure <- MEASURES[[check_choice(measure, names(MEASURES), "measure")]]
  several <- count_latent_values(fit$response) > 1L
  most <- if (measure$by_label && several) LABEL_TARGETS else TARGETS
  found <- if (is.null(target)) default(most) else target_points(fit, target, most)
  weights <- target_weights_of(weights, found$data) * found$complete
  rows <- which(weights > 0)
  refuse_if(length(rows) == 0L, "target", "has no complete row of positive weight",
            "Give rows without missing values, and weights above 0")
  if (found$thinned) rows <- sort(rows[utils::head(spread_rows(length(rows)), most)])
  new_target(fit, found, rows, weights[rows] / sum(weights[rows]), measure)
}

new_target <- function(fit, found, rows, weights, measure) {
  w <- n_outputs(fit)
  among <- match(rows, which(found$complete))
  given <- list(x = found$x[stacked_rows(among, w), , drop = FALSE],
                latent = some_latent(found$latent, among, w))
  target <- new_lookahead(fit, given)
  target$weights <- weights
  target$measure <- measure
  target
}

# Returns inputs, moments, completeness and data of the points that are given; thinned: are they to
# be a part of these?
target_points <- function(fit, target, most) {
  region <- is.list(target) && !is.data.frame(target)
  target_of_data(fit, if (region) even_points(check_box(target, "target"), most) else target)
}

target_of_data <- function(fit, data) {
  blaming("target", warn_once({
    new <- complete_inputs(fit, data)
    new$latent <- new_latent(fit, data)
    c(new, list(data = data, thinned = FALSE))
  }))
}

# Returns a weight for each row: numbers, or a function of the rows.
target_weights_of <- function(weights, data) {
  if (is.function(weights)) weights <- weights(data)
  weights <- check_per_row(weights, NROW(data), "target_weights", 1)
  check_no_missing(target_weights = weights)
  if (all(weights >= 0)) return(weights)
  stop_sparsegp("target_weights", "must not be negative", "Give 0 to rows that do not count")
}

# ---- Regions ----

# Returns a named list: ranges of numbers, values of others.
check_box <- function(within, argument) {
  if (is.matrix(within)) within <- as.data.frame(within)
  good <- is.list(within) && length(within) > 0L && !is.null(names(within)) &&
    all(nzchar(names(within)))
  refuse_if(!good, argument, "must be a list with a name for each variable",
            "Write list(x = c(0, 1), z = c(-5, 5))")
  lapply(stats::setNames(nm = names(within)), function(name) {
    of <- within[[name]]
    if (!is.numeric(of)) return(unique(of))
    refuse_if(length(of) < 2L || !all(is.finite(of)) || min(of) == max(of),
              argument, paste0("has no range for ", name), "Give two different numbers")
    range(of)
  })
}

# Returns points that are spread evenly over a box, without randomness: of each variable the
# fractional parts of multiples of a number (Roberts, 2018), of which neighbours are far from each
# other; values that are no numbers in turn.
even_points <- function(box, count) {
  d <- length(box)
  ratio <- stats::uniroot(function(x) x^(d + 1) - x - 1, c(1, 2), tol = 1e-14)$root
  columns <- lapply(seq_len(d), function(j) {
    u <- (0.5 + seq_len(count) / ratio^j) %% 1
    of <- box[[j]]
    if (is.numeric(of)) of[1L] + diff(of) * u else of[1L + floor(u * length(of))]
  })
  data.frame(stats::setNames(columns, names(box)), check.names = FALSE)
}
