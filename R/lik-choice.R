# From what a user gives as `likelihood`, and the response, to a likelihood.

# What a user may give as `likelihood`: nothing, a name, a family, a value. declared: do levels of a
# factor count that have not come yet?
as_likelihood <- function(likelihood, y, declared = FALSE) {
  likelihood <- called(likelihood)
  if (is.null(likelihood)) {
    return(default_likelihood(if (is.factor(y) && !declared) droplevels(y) else y))
  }
  if (inherits(likelihood, "sparsegp_likelihood")) return(likelihood)
  if (inherits(likelihood, "family")) return(likelihood_of_family(likelihood))
  if (is.character(likelihood) && length(likelihood) == 1L) {
    name <- check_choice(likelihood, likelihood_names(), "likelihood")
    return(do.call(paste0("lik_", name), list()))
  }
  stop_sparsegp("likelihood", paste0("is of class ", class(likelihood)[1L]),
                "Give a lik_*() value, a name such as \"probit\", or a family such as binomial()")
}

# Does what a user gives as `likelihood` take rows without a label?
takes_unlabelled <- function(likelihood) {
  !is.null(likelihood) && may_lack_labels(as_likelihood(likelihood, numeric()))
}

default_likelihood <- function(y) {
  if (is.numeric(y)) return(lik_gaussian())
  if (is_two_valued(y)) return(lik_probit())
  if (!is.factor(y) && !is.character(y)) {
    stop_sparsegp("y", paste0("is of class ", class(y)[1L]),
                  "Give numbers, a logical, or a factor")
  }
  if (is.ordered(y)) lik_ordinal() else lik_mprobit()
}

# A matrix of successes and failures, where the likelihood is of trials
are_trials <- function(y) is.matrix(y) && is.numeric(y) && ncol(y) == 2L

# binomial() means trials for such a response, and classes for others.
for_trials <- function(likelihood, y) {
  likelihood <- called(likelihood)
  logit <- inherits(likelihood, "family") && likelihood$family == "binomial" &&
    likelihood$link == "logit"
  if (are_trials(y) && logit) lik_binomial() else likelihood
}

is_two_valued <- function(y) {
  is.logical(y) || (is.factor(y) && nlevels(y) <= 2L) ||
    (is.character(y) && length(unique(y[!is.na(y)])) <= 2L)
}

likelihood_of_family <- function(family) {
  known <- list("gaussian identity" = lik_gaussian, "binomial probit" = lik_probit,
                "binomial logit" = lik_logit, "poisson log" = lik_poisson)
  constructor <- known[[paste(family$family, family$link)]]
  if (!is.null(constructor)) return(constructor())
  stop_sparsegp("likelihood", paste0("is the family ", family$family, "(", family$link,
                                     "), which this package does not know"),
                "Use gaussian(), binomial(\"probit\"), binomial(\"logit\") or poisson()")
}
