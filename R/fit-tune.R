# Fits of labels that are settled by what they say of rows they have not seen: length scales, as
# many points want shorter ones than the evidence of a few did, a margin between the classes or
# least squares (fit-squares.R), and a power of the odds, where probabilities are too sure or not
# sure enough. All by leave-one-out probabilities, but for least squares. A shorter length scale is
# expected, and only has to be better; the others have to gain more than two standard errors.

SHORTER_YET <- c(0.7, 0.5, 0.35, 0.25) # times the length scales learned

MARGIN <- 8 # width; wider ones do the same

SURE <- 2 # standard errors

# make: (learned, rows) -> the fit of these rows, NULL for all; learned: what learn_settled()
# returns; as_margin: (learned, width) -> the same with a margin, or NULL where it may have none;
# as_squares: (learned) -> the same by least squares, or NULL.
#
# list(fit, learned, what): the fit, what was learned for it, and what was tuned.
tuned_fit <- function(learned, make, as_margin, as_squares) {
  what <- if (!is.null(learned$record)) tunes(learned$plan)
  at <- which(learned$table$base == "lengthscale" & learned$table$free)
  looked <- if ("lengthscale" %in% what && length(at)) look_around(learned, make, as_margin, at)
  if (is.null(looked)) {
    fit <- make(learned, NULL)
    if ("power" %in% what) fit <- with_power(fit, best_power(fit))
    return(list(fit = fit, learned = learned, what = what))
  }
  found <- try_squares(looked, make, as_squares, at)
  looked$tried <- found$tried
  if (is.null(found$fit)) return(c(look_once_more(looked, make, at), list(what = what)))
  fit <- with_power(found$fit, best_power(found$fit))
  fit$tuning <- found[c("factor", "tried")]
  list(fit = fit, learned = found$learned, what = what)
}

with_power <- function(fit, found) {
  if (found$power != 1) fit$power <- found$power
  fit
}

# Half the points bear longer length scales than all of them: the next shorter one has its turn with
# all, and the better of the two is the fit.
look_once_more <- function(looked, make, at) {
  factors <- c(looked$factor, SHORTER_YET[SHORTER_YET < looked$factor][1L])
  tried <- looked$tried
  best <- NULL
  for (factor in factors[!is.na(factors)]) {
    learned <- at_length(looked$learned, at, factor / looked$factor)
    learned$plan$sites <- if (is.null(best)) learned$plan$sites else best$fit$sites
    fit <- make(learned, NULL)
    found <- best_power(fit)
    tried <- rbind(tried, tried_row(fit, factor, found))
    if (is.null(best) || mean(found$lpd) > mean(best$found$lpd)) {
      best <- list(fit = fit, learned = learned, factor = factor, found = found)
    }
  }
  best$fit$tuning <- list(factor = best$factor, tried = tried)
  list(fit = with_power(best$fit, best$found), learned = best$learned)
}

# Its length scales, times a factor.
at_length <- function(learned, at, factor) {
  learned$table$theta[at] <- learned$table$theta[at] + log(factor)
  learned
}

# By what a fit was judged: each row without its own site, or rows held out
LEFT_OUT <- "leave-one-out"
HELD_BACK <- "held out"

tried_row <- function(fit, factor, found, rows = LEFT_OUT) {
  data.frame(rows = fit$n, points = nrow(bases_of(fit)[[1L]]), factor = factor,
             likelihood = fit$likelihood$type, power = found$power, judged_by = rows,
             lpd = mean(found$lpd))
}

# Factors of the length scales in turn, by smaller plans, for as long as one is better, and the one
# learned where no other was; then a margin, which makes probabilities surer, unless they are too
# sure as it is. learned: at the best, with the sites found there where they are of all rows.
look_around <- function(learned, make, as_margin, at) {
  plan <- learned$plan
  n <- nrow(plan$problem$x)
  rows <- sort(spread_problem(plan$problem)[seq_len(min(n, LOOK_ROWS))])
  learned$plan <- smaller_plan(plan, rows)
  tried <- NULL
  best <- NULL
  look <- function(learned, factor, errors) {
    fit <- make(learned, if (length(rows) < n) rows)
    found <- best_power(fit)
    tried <<- rbind(tried, tried_row(fit, factor, found))
    learned$plan$sites <- fit$sites
    is_better <- is.null(best) || is_gain(found$lpd - best$lpd, errors)
    if (is_better) best <<- c(list(learned = learned, factor = factor), found)
    is_better
  }
  look_at <- function(factor, errors) {
    one <- at_length(learned, at, factor)
    one$plan$sites <- best$learned$plan$sites
    look(one, factor, errors)
  }
  for (factor in SHORTER_YET) if (!look_at(factor, 0)) break
  # the one learned, unless the first shorter one gains more than its standard error
  if (best$factor == SHORTER_YET[1L]) look_at(1, -1)
  wide <- if (best$power >= 1) as_margin(best$learned, MARGIN)
  if (!is.null(wide)) look(wide, best$factor, SURE)
  found <- best$learned
  plan$problem$lik <- found$plan$problem$lik
  if (length(rows) == n) plan$sites <- found$plan$sites
  found$plan <- plan
  list(learned = found, factor = best$factor, power = best$power, tried = tried)
}

# What was learned for the probit, for a margin in its place: of width 4 it is about as steep. The
# model is read anew for the margin's hyperparameters.
with_margin <- function(learned, model, width) {
  learned <- under_model(learned, model)
  table <- learned$table
  steeper <- width / 4
  variance <- table$base == "variance"
  bias <- table$base == "bias"
  table$theta[variance] <- table$theta[variance] + 2 * log(steeper)
  table$theta[bias] <- table$theta[bias] * steeper
  learned$table <- table
  learned$plan$sites <- list(tau = learned$plan$sites$tau / steeper^2,
                             nu = learned$plan$sites$nu / steeper)
  learned
}

# What was learned, as another likelihood's model has it.
under_model <- function(learned, model) {
  known <- learned$table
  at <- match(model$table$name, known$name)
  learned$table <- model$table
  learned$table$theta <- ifelse(is.na(at), model$table$theta, known$theta[at])
  learned$model <- model
  learned$plan$problem$lik <- model$lik
  learned
}

may_have_margin <- function(learned, setup) {
  learned$model$lik$type == "probit" && may_have_other(learned, setup)
}

# Only where nothing was said of the likelihood, nor of the variance of the one kernel.
may_have_other <- function(learned, setup) {
  variance <- learned$table$base == "variance"
  is.null(setup$likelihood) && sum(variance) == 1L && learned$table$free[variance]
}

# By more than so many standard errors of the mean, as rows differ.
is_gain <- function(differences, errors) {
  mean(differences) > errors * standard_error(differences)
}

standard_error <- function(differences) stats::sd(differences) / sqrt(length(differences))

POWERS <- c(0.25, 4)

# The power and the rows' log probabilities at it, leave-one-out ones or of rows held out. Of all
# powers whose mean is within two standard errors of the best it is the one nearest to 1: new rows
# are seldom easier than those at hand.
best_power <- function(fit) power_for(log_scores(fit, loo_latent(fit)), fit$y)

power_for <- function(scores, y) {
  lpd <- function(log_power) own_label(log_tempered(scores, exp(log_power)), y)
  best <- stats::optimize(function(log_power) mean(lpd(log_power)), log(POWERS),
                          maximum = TRUE)$maximum
  at_best <- lpd(best)
  worse <- function(share) {
    loss <- at_best - lpd(share * best)
    mean(loss) - SURE * standard_error(loss)
  }
  # near the best the loss is quadratic in the distance and its standard error linear
  share <- if (worse(0) <= 0) 0 else if (worse(0.99) >= 0) 1
           else stats::uniroot(worse, c(0, 0.99), tol = 1e-3)$root
  list(power = exp(share * best), lpd = lpd(share * best))
}
