# Makes a likelihood of what a user gives as `likelihood`, and of the response. What was given is
# made a value once, before there are rows; where nothing was given the rows decide.

# Returns a likelihood, or NULL where nothing was given. A name is that of a lik_*(), or of a family
# of glm(): "binomial" is for classes, too.
as_likelihood <- function(likelihood, argument = "likelihood") {
  likelihood <- called(likelihood)
  if (is.null(likelihood)) return(NULL)
  if (inherits(likelihood, "sparsegp_likelihood")) {
    return(uncoupled_likelihood(check_likelihood(likelihood)))
  }
  names <- c(likelihood_names(), "heteroscedastic", "mixture")
  named <- is.character(likelihood) && length(likelihood) == 1L
  of_glm <- named && (likelihood == "binomial" || !likelihood %in% names)
  if (of_glm) likelihood <- family_named(likelihood)
  if (inherits(likelihood, "family")) return(likelihood_of_family(likelihood, argument))
  if (named) return(do.call(paste0("lik_", check_choice(likelihood, names, argument)), list()))
  stop_sparsegp(argument, paste0("is of class ", class(likelihood)[1L]),
                "Give a lik_*() value, a name such as \"probit\", or a family such as binomial()")
}

STATS_FAMILIES <- c("gaussian", "binomial", "poisson", "Gamma", "inverse.gaussian", "quasi",
                    "quasibinomial", "quasipoisson")

# Returns the family of stats that a name stands for, as glm() takes it; anything else unchanged.
family_named <- function(family) {
  if (!is.character(family) || length(family) != 1L || !family %in% STATS_FAMILIES) return(family)
  get(family, asNamespace("stats"), mode = "function")()
}

# Lists what R's generalised linear models call the likelihoods: family and link. Those that R has
# no family for have a name that other packages use.
FAMILIES <- list(
  gaussian = c("gaussian", "identity"), probit = c("binomial", "probit"),
  logit = c("binomial", "logit"), poisson = c("poisson", "log"),
  negbin = c("Negative Binomial", "log"), binomial = c("binomial", "logit"),
  mackay = c("binomial", "logit"), flip = c("binomial", "probit"), step = c("binomial", "identity"),
  nullcat = c("binomial", "probit"), margin = c("binomial", "probit"),
  squares = c("binomial", "logit"),
  ordinal = c("cumulative", "probit"),
  mprobit = c("multinomial", "probit"), softmax = c("multinomial", "logit"),
  coupled_mprobit = c("multinomial", "probit"), coupled_softmax = c("multinomial", "logit"),
  student = c("student", "identity"), laplace = c("laplace", "identity"),
  density = c("density", "identity"), mvnormal = c("gaussian", "identity"),
  custom = c("custom", "identity"), weibull = c("weibull", "log"),
  loglogistic = c("loglogistic", "log"), lognormal = c("lognormal", "log"),
  mixture = c("mixture", "identity"), heteroscedastic = c("gaussian", "identity"),
  gamma = c("Gamma", "log"), beta = c("beta", "logit"),
  zip = c("zero_inflated_poisson", "log"), zinb = c("zero_inflated_negbinomial", "log"),
  hurdle_poisson = c("hurdle_poisson", "log"), hurdle_negbin = c("hurdle_negbinomial", "log")
)

# The likelihoods a family stands for
TO_FAMILY <- c("gaussian", "probit", "logit", "poisson", "gamma")

# Families of MASS, mgcv, brms and glmmTMB: patterns of their names, their link, and the function
# that makes the likelihood of one. mgcv's link of zero-inflated counts is that of the rate's
# logarithm.
FOREIGN_FAMILIES <- list(
  list("^negative binomial|^neg(ative_|_)?binomial|^nbinom2$", "log",
       function(family) lik_negbin(size = foreign_size(family))),
  list("^beta( regression|_family)?$|^beta regression", "logit", function(family) lik_beta()),
  list("^zero[ ._-]inflated[ ._-](poisson|negbin)", c("identity", "log"), function(family) {
    if (grepl("negbin", family$family)) lik_zinb() else lik_zip()
  }),
  list("^hurdle[ ._-](poisson|negbin)", "log", function(family) {
    if (grepl("negbin", family$family)) lik_zinb(hurdle = TRUE) else lik_zip(hurdle = TRUE)
  })
)

# Returns the likelihood of a family of another package, or NULL.
likelihood_of_foreign <- function(family) {
  name <- tolower(as.character(family$family)[1L])
  for (known in FOREIGN_FAMILIES) {
    if (grepl(known[[1L]], name) && family$link[[1L]] %in% known[[2L]]) return(known[[3L]](family))
  }
}

# Returns the `size` of negative binomial counts that a family fixes, as MASS::negative.binomial()
# and mgcv::negbin() do, and mgcv::nb() if it is given one; else NULL.
foreign_size <- function(family) {
  learned <- !identical(family$n.theta %||% 0, 0)
  size <- environment(family$variance)[[".Theta"]]
  if (learned || !is.numeric(size) || length(size) != 1L) return(NULL)
  fixed(if (is.null(family$n.theta)) size else exp(size)) # nb() keeps its logarithm
}

# or_trials: binomial() means trials for a response of two columns, or of shares whose weights are
# the trials, and classes for others.
likelihood_of_family <- function(family, argument) {
  type <- Find(function(type) identical(FAMILIES[[type]], c(family$family, family$link)), TO_FAMILY)
  foreign <- if (is.null(type)) likelihood_of_foreign(family)
  if (!is.null(foreign)) return(foreign)
  if (is.null(type)) {
    instead <- INSTEAD[vapply(names(INSTEAD), grepl, NA, as.character(family$family)[1L],
                              ignore.case = TRUE)]
    others <- paste("Use gaussian(), binomial(\"probit\"), binomial(\"logit\"), poisson() or",
                    "Gamma(\"log\")")
    stop_sparsegp(argument, paste0("is the family ", family$family, ", link ",
                                   toString(family$link), ", which is not supported"),
                  c(instead, others)[[1L]])
  }
  lik <- get(paste0("lik_", type), mode = "function")()
  if (type == "logit") lik$or_trials <- TRUE
  lik
}

# Names what to use instead of families that are not available, by patterns of their names in stats,
# MASS, mgcv, brms and glmmTMB.
INSTEAD <- c(
  "^gaussian$" = "Its link is \"identity\"; for a log link fit the logarithm, log(y) ~ x",
  "^binomial$" = paste("Its links are \"logit\" and \"probit\": binomial(\"probit\") is nearest to",
                       "others"),
  "^poisson$" = "Its link is \"log\": give poisson()",
  "^quasibinomial" = "Use binomial(); overdispersed proportions have likelihood = \"beta\"",
  "^quasi$" = "Use gaussian(), or likelihood = \"heteroscedastic\" where the spread varies",
  "^zip(lss|oisson)" = paste("likelihood = \"zip\", with one probability of an excess zero, is",
                             "nearest"),
  "zero.?inflated|^zip|hurdle" = "Use likelihood = \"zip\" or \"zinb\", which have a log link",
  "^gamma$" = paste("Its link is \"log\": give Gamma(\"log\"), or fit the logarithm, log(y) ~ x;",
                    "likelihood = \"heteroscedastic\" is for a spread of its own"),
  "quasipoisson|^neg|nbinom|^com" = "Use likelihood = \"negbin\", for counts that vary more",
  "tweedie|^twlss" = paste("Zeros beside positive numbers are not supported; log(y + 1) ~ x, or",
                           "likelihood = \"heteroscedastic\", is nearest"),
  "^beta" = "Use likelihood = \"beta\", which has a logit link, or fit qlogis(y) ~ x",
  "^gammals" = "likelihood = \"gamma\", whose shape is one number, is nearest",
  "weibull" = "Use likelihood = \"weibull\", for times to an event",
  "log.?normal" = "Use likelihood = \"lognormal\", or lik_gaussian(transform = \"log\")",
  "log.?logistic" = "Use likelihood = \"loglogistic\", for times to an event",
  "gamma|inverse.gaussian" =
    "Use likelihood = \"gamma\", fit log(y) ~ x, or use likelihood = \"heteroscedastic\"",
  "ordered|cumulative|ratio$|^acat" = paste("Make the response an ordered factor:",
                                            "likelihood = \"ordinal\""),
  "scaled t|^student" = "Use likelihood = \"student\"",
  "multinom|categorical" = "Make the response a factor: likelihood = \"softmax\" or \"mprobit\"",
  "multivariate normal" = "Give the components as the response: cbind(u, v) ~ x",
  "^gaulss|^shash|^gevlss|^gumbls" = "Use likelihood = \"heteroscedastic\"",
  "^cox" = "Give Surv(time, status) as the response: likelihood = \"weibull\""
)

# Resolves what was given, once the response is there. Two columns of counts are trials unless
# a likelihood is given; other columns are components.
resolve_likelihood <- function(lik, y, weights = NULL) {
  if (is.null(lik) && !is.null(dim(y))) lik <- likelihood_of_columns(y)
  if (is.null(lik)) return(NULL)
  if (is_vectors(y) && identical(lik$type, "gaussian")) return(for_vectors(lik))
  if (!isTRUE(lik$or_trials)) return(lik)
  proportions <- is.numeric(y) && (!is.null(weights) || any(y != round(y), na.rm = TRUE))
  if (are_trials(y) || proportions) lik_binomial() else lik_logit()
}

# Returns the likelihood that a response of several columns asks for, or NULL.
likelihood_of_columns <- function(y) UseMethod("likelihood_of_columns")

#' @export
likelihood_of_columns.sparsegp_mixture <- function(y) lik_mixture()

#' @export
likelihood_of_columns.sparsegp_times <- function(y) open_times()

#' @export
likelihood_of_columns.default <- function(y) {
  refuse_if(may_be_times(y), "y",
            "has columns that are named as those of times to an event, and may be components",
            paste("Give Surv(time, status), or a likelihood: \"weibull\" for times,",
                  "\"gaussian\" for components"))
  if (!is_vectors(y)) return(NULL)
  if (are_trials(y) && is.null(illegal_counts(y[!is.na(y)]))) lik_binomial() else lik_gaussian()
}

# Returns what was given, or what suits the rows. declared: do levels of a factor count that have
# not come?
likelihood_for <- function(lik, y, declared = FALSE) {
  if (!is.null(lik)) return(lik)
  if (is.factor(y) && !declared) y <- droplevels(y)
  if (is.numeric(y)) return(lik_gaussian())
  if (is.logical(y)) return(lik_probit())
  refuse_if(!has_levels(y), "y", paste0("is of class ", class(y)[1L]),
            "Give numbers, a logical, or a factor")
  if (nlevels(as.factor(y)) <= 2L) lik_probit()
  else if (is.ordered(y)) lik_ordinal() else lik_mprobit()
}
