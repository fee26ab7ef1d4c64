# How many inducing points a class needs: the hold-out by which a default fit of many labels decides
# (R/strategy-class-points.R), beside test rows. For each set of bench/classes_speed.R a ninth, a
# third and all of the points on half of the training rows, 8000 at most, less a fifth held out; the
# CPU seconds of the run, the log probability held out and of test rows, and the gain of each by
# three times the points, with its standard error.
#
# Usage: Rscript bench/class_points.R [SET ...]: all of them without an argument.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
  source(file.path(dirname(self), "classes_sets.R"))
})

internal <- asNamespace("sparsegp")

# Returns the candidate that a default fit has learned, before anything is compared.
learned_candidate <- function(d) {
  learned <- NULL
  stop_there <- function(plan, candidate) {
    learned <<- candidate
    stop("learned")
  }
  with_internal("tune.plan_classification", stop_there, try(sparsegp(d$x, d$y), silent = TRUE))
  learned
}

# Returns log probabilities of test rows under a score's run, recalibrated as it is.
test_scores <- function(scored, d) {
  candidate <- scored$candidate
  x <- internal$scaled_inputs(d$new_x, candidate$model$scaling)
  latent <- internal$engine_latent(candidate$plan$problem, candidate$table$theta, scored$run, x)
  scores <- scored$power *
    internal$below_largest(internal$candidate_scores(candidate, latent$mean, latent$var))
  own <- internal$own_label(scores, as.integer(factor(d$new_y, levels(d$y))))
  own - log(rowSums(exp(scores)))
}

measure <- function(set) {
  d <- SETS[[set]]()
  candidate <- learned_candidate(d)
  problem <- candidate$plan$problem
  policy <- internal$policy
  policy$compare_rows <- min(policy$compare_rows, nrow(problem$x) / 2)
  split <- with_internal("policy", policy, internal$split_holdout(problem))
  last <- NULL
  for (share in c(1 / 9, 1 / 3, 1)) {
    points <- share * internal$size_of(candidate)
    seconds <- sum(system.time(
      scored <- internal$score_by_holdout(internal$trained_part(candidate, split, points), split)
    )[1:2])
    now <- list(held = scored$lpd, test = test_scores(scored, d))
    row <- list(set = set, rows = length(split$trained), points = round(points),
                "CPU seconds" = seconds)
    for (of in names(now)) {
      gain <- now[[of]] - last[[of]]
      row[[of]] <- mean(now[[of]])
      row[[paste(of, "gain")]] <- if (length(gain)) mean(gain) else NA
      row[[paste(of, "se")]] <- if (length(gain)) stats::sd(gain) / sqrt(length(gain)) else NA
    }
    do.call(bench_row, c("Points of a class", row))
    cat(set, format(unlist(row[-1L]), digits = 4L), "\n")
    last <- now
  }
}

asked <- commandArgs(TRUE)
for (set in if (length(asked)) asked else names(SETS)) measure(set)
