# The number of inducing points of a class, if observations are so many that candidates are compared
# on some of them: as many as pay. A sweep of EP takes the square of their number, and functions of
# few inputs, or of classes that overlap, are carried by few.

# Returns the candidate with the number of points that pays, and the record in `choices`: one in
# growth_factor of its points, or all of them if they take min_class_gain off the log loss of these.
with_enough_points <- function(candidate) {
  problem <- candidate$plan$problem
  few <- compared_rows(problem) == nrow(problem$x)
  if (few || !is.null(candidate$data$setup$augment)) return(candidate)
  split <- split_holdout(problem)
  sizes <- round(size_of(candidate) / c(policy$growth_factor, 1))
  entries <- lapply(sizes, function(size) function(best) trained_part(candidate, split, size))
  names(entries) <- paste(sizes, "points")
  best <- race("points of a class", entries, function(candidate) score_by_holdout(candidate, split),
               gain_in_lpd, part_of_loss(policy$min_class_gain))
  candidate <- with_size(candidate, sizes[best$choices$taken])
  candidate$choices <- best$choices
  candidate
}

# Returns sites of all observations to start EP from: those of a run on some of them, and of the
# others those that the likelihood asks for under its predictions, or none where these are
# no sites: EP of overlapping classes then takes half of the sweeps. found: the score of that run.
foreseen_sites <- function(candidate, found) {
  small <- found$candidate
  problem <- candidate$plan$problem
  at <- match(seq_len(nrow(problem$x)), small$rows)
  others <- which(is.na(at))
  rest <- part_of_problem(problem, others)
  theta <- candidate$table$theta
  latent <- engine_latent(small$plan$problem, theta, found$run, rest$x)
  tilt <- engine_tilt(rest, theta, latent$mean, latent$var)
  left <- 1 + latent$var * tilt$d2
  foreseen <- list(tau = -tilt$d2 / left, nu = (tilt$d1 - latent$mean * tilt$d2) / left)
  valid <- is.finite(foreseen$tau) & is.finite(foreseen$nu) & foreseen$tau > 0
  Map(function(seen, foreseen) {
    all <- some_rows(seen, at)
    replace(all, is.na(all), ifelse(valid, foreseen, 0))
  }, found$run[c("tau", "nu")], foreseen)
}
