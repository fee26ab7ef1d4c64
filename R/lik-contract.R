# Defines the contracts that each likelihood fulfils in R.
#
# A likelihood value is plain data: its C type and what was given for its hyperparameters. What R
# has to know of a type, its traits, are three contracts: the rows that C gets and what EP makes of
# them (lik_code), its hyperparameters (lik_hyper), and its responses (lik_sample).

# Returns what is known of the likelihood's rows and sites.
#   response   the name of the codec that reads its response (response-codec.R)
#   data_rows  (y, weights) -> the q x n matrix for C; default: q = 1, the responses
#   weighted   do weights mean anything?
#   repeated   is a weight the number of observations that a row stands for? A new response has none
#   exact      is a site the likelihood itself, so one sweep sets all?
#   has_evidence  is log Z that of an integral, so there is an evidence?
#   modal      does EP find one of several fixed points, by where it starts?
#   tempered   may probabilities of labels be recalibrated, by a power of their odds?
#   density    is log Z that of a density? Else it is a probability's, and at most 0
#   normalised  do the probabilities of a row's labels, as log Z has them, add up to one?
#   label      what print() calls it, where that is not its type
#   least      theta of a label noise that stands for 0 where no response may be impossible; NULL:
#              there is no need
#   remedy     shown when EP diverges because site precisions grow without bound on contradictory
#              labels; NULL: they do not
#   of_value   (traits, lik) -> the traits of this value, where a type leaves them open; NULL: no
#   jumps      is the mean response a step of the latent function, which has no slope?
#   even       is it the same of f and -f? Then nothing is learned from a prior mean of 0
#   beyond_moments  do responses inform on the latent value by far more than mean and variance?
#   alone      of several components: (rows, theta) -> list(lik, theta, rows), a likelihood of each
#              component alone that is nearly equivalent; NULL: there is no such
#   start_rows (rows) -> rows from whose sites EP starts, where a likelihood that does not vanish on
#              one side makes nothing of a vague prior; NULL: it starts from no sites
lik_code <- function(response, data_rows = function(y, weights) rbind(y), weighted = FALSE,
                     repeated = FALSE, exact = FALSE, has_evidence = TRUE, modal = FALSE,
                     tempered = FALSE, density = FALSE, normalised = TRUE, label = NULL,
                     least = NULL, remedy = NULL, jumps = FALSE, even = FALSE,
                     beyond_moments = FALSE, alone = NULL, start_rows = NULL, of_value = NULL) {
  as.list(environment())
}

# Returns what is known of the hyperparameters. about: a list of one for each, by name:
#   argument, log   the constructor's argument, and whether it is searched as a logarithm
#   reach           how far from the start a search may go, if not BOX
#   range, limit    between what bounds, if not 0 and Inf; a bound that a fixed() value may lie on
#   unit_power      which power of the response's unit it has
#   start           (rows, offset) where it starts, on C's scale; of ordered categories, of their
#                   number, too; of several components of what `each` returns
#   prior           (unit, offset) its default prior; or `around`, (start)
#   between, adds_to  of ordered categories: which cut points it is for, and whether coef() adds its
#                   values up from those of another
#   each            of several components: (lik, components) names of what it is for; NULL: of all
# near_none: stands for about$noise where noise is expected to be near none; NULL: it never is
lik_hyper <- function(about = list(), near_none = NULL) {
  list(about = about, near_none = near_none)
}

# Returns what is known of responses under N(mean, var) of the latent values; value: the
# hyperparameters, named, in C's units.
#   draw       (f, value, weights) random responses given latent values
#   outcomes   (mean, var, value, weights) -> list(y, size), a matrix each with a row for each of
#              the rows: a rule by which sums over all responses, or integrals, are those of
#              size * integrand at y, for what p(y) under N(mean, var) weighs. With log_unit, such
#              a matrix, too: y in units of its own, of which the logarithm comes off the mean.
#              NULL of labels, where sites are exact, and where there is no new response
#   entropy    (mean, var, value, weights): mean, under N(mean, var), of the entropy of a response
#              given the latent values, in nats; beside `outcomes`, of several latent values. Of one
#              it is found by `outcomes`
#   noise      of several components: (value, w) -> the covariance of their errors, in C's units;
#              NULL where each row has its own
#   extra_var  (value, weights, within) what a row's response varies beyond one of weight 1; within:
#              the part of that one's variance that is not about the latent function
lik_sample <- function(draw, outcomes = NULL, entropy = NULL, noise = NULL,
                       extra_var = function(value, weights, within) 0) {
  as.list(environment())
}

# Traits that differ from others in the fields given.
traits_like <- function(traits, ...) {
  changes <- list(...)
  stopifnot(names(changes) %in% names(traits))
  traits[names(changes)] <- changes
  traits
}

# On a scale of its own a response is read by another codec (response-transformed.R).
lik_traits <- function(lik) {
  if (!is.null(lik$extension)) return(extension_traits(lik$extension))
  traits <- traits_of(lik$type)
  if (!is.null(traits$of_value)) return(traits$of_value(traits, lik))
  if (isTRUE(lik$noiseless)) traits$about$noise <- traits$near_none
  scale <- lik$transform$name
  if (is.null(scale) || scale == "identity") return(traits)
  traits$response <- paste(traits$response, scale, sep = ".")
  traits
}

# The traits of a type are what the function <type>_traits() in R/lik-<name>.R returns, which is
# called once (util-registry.R).
traits_of <- function(type) {
  traits <- registered("traits", type)
  if (is.null(traits)) stop_damaged("its likelihood is not one of this package")
  traits
}

lik_label <- function(lik) lik_traits(lik)$label %||% lik$type

is_modal <- function(lik) lik_traits(lik)$modal

# lik: NULL while the rows have not decided
lik_codec <- function(lik) {
  if (is.null(lik)) codec_defaults() else codec_named(lik_traits(lik)$response)
}

# Returns the names of the codecs that may have read a response for this likelihood.
readers_of <- function(lik) {
  codec <- lik_codec(lik)
  codecs <- c(list(codec), if (!is.null(codec$more)) list(codec$more()))
  unlist(lapply(codecs, function(codec) c(codec$name, ordered_as(codec)$name)))
}

new_likelihood <- function(type, params) {
  params <- lapply(params, plain_numbers)
  check_lik_params(traits_of(type), params)
  structure(list(type = type, params = params), class = "sparsegp_likelihood")
}

# Stops where values of hyperparameters are not what `traits` have them be.
check_lik_params <- function(traits, params) {
  codec <- codec_named(traits$response)
  for (name in names(params)) {
    about <- traits$about[[name]]
    check_hyper(params[[name]], about$argument, positive = about$log,
                single = !codec$labelled && is.null(about$each), range = hyper_range(about),
                limit = about$limit)
    refuse_if(length(unlist(params[[name]])) > MAX_CLASSES,
              about$argument, paste("must be at most", MAX_CLASSES, "numbers"))
  }
}

# Returns what C has of a likelihood's type (util-catalogue.R).
lik_in_catalogue <- function(lik) {
  if (!is.null(lik$custom)) custom_in_c(lik$custom)
  else if (is.null(lik$extension)) catalogue()$likelihoods[[lik$type]]
  else extension_in_c(lik$extension)
}

# Stops where a likelihood is not what a constructor makes: users can write to its parts, and it may
# come from a file.
check_likelihood <- function(lik) {
  refuse_if(!holds(is_likelihood(lik)), "likelihood",
            "was not made by a lik_*() function, or was changed afterwards",
            "Create it again; do not assign to parts of a likelihood")
  check_lik_params(lik_traits(lik), lik$params)
  lik
}

is_likelihood <- function(lik) {
  known <- !is.null(lik$extension) || !is.null(registered("traits", lik$type))
  is_made(lik, "sparsegp_likelihood") && known && is_text(lik$type) &&
    identical(lik$type == "custom", !is.null(lik$custom)) && is.list(lik$params) &&
    !is.object(lik$params) && is.null(invalid_part("likelihood", lik)) &&
    setequal(names(lik$params), hyper_names(lik))
}

# Returns the hyperparameters of which a likelihood has values: of a covariance that is not full
# no correlations.
hyper_names <- function(lik) {
  names <- names(lik_traits(lik)$about)
  if (is.null(lik$covariance) || lik$covariance == "full") names
  else setdiff(names, "correlation")
}

# Log evidences of labels and counts are log probabilities. EP on its way to no fixed point shows by
# one above 0; SLACK of a nat for each row is more than rounding makes of 0.
is_impossible <- function(lik, logz, rows) isTRUE(logz > most_evidence(lik, rows))

# Returns the largest log evidence that so many rows can have.
most_evidence <- function(lik, rows) {
  SLACK <- 1e-6
  if (lik_traits(lik)$density) Inf else SLACK * rows
}

# One kernel for each class?
own_kernels <- function(lik) isFALSE(lik$shared)

# Returns how many sets of kernel hyperparameters there are.
kernel_sets <- function(lik, processes) if (own_kernels(lik)) processes else 1L

# Returns how many models the latent functions are of: one, or if the likelihood sees one function
# at a time (one-vs-rest) a model of each.
count_models <- function(lik, processes) if (lik_in_catalogue(lik)$classes) 1L else processes

# Does a row's likelihood see the latent functions of all classes?
is_coupled <- function(lik, processes) processes > count_models(lik, processes)

class_kernel_theta <- function(theta, lik, processes, class) {
  sets <- kernel_sets(lik, processes)
  matrix(theta, ncol = sets)[, min(class, sets)]
}

#' @export
format.sparsegp_likelihood <- function(x, ...) {
  given <- Filter(Negate(is.null), x$params)
  show <- function(value) {
    text <- format(given_value(value), digits = 4L, trim = TRUE)
    if (length(text) > 1L) text <- paste0("c(", toString(text), ")")
    if (is_fixed(value)) paste0("fixed(", text, ")") else text
  }
  arguments <- paste0(names(given), " = ", vapply(given, show, ""), recycle0 = TRUE)
  if (!is.null(x$covariance)) {
    arguments <- c(arguments, paste0("covariance = \"", x$covariance, "\""))
  }
  if (has_variances(x)) arguments <- paste("variance =", format_variances(x$variances))
  if (!is.null(x$transform)) {
    arguments <- c(arguments, paste("transform =", format_scale(x$transform)))
  }
  if (isFALSE(x$shared)) arguments <- c(arguments, "shared = FALSE")
  if (!is.null(x$coupled)) arguments <- c(arguments, paste("coupled =", x$coupled))
  paste0(lik_label(x), "(", toString(arguments), ")")
}

#' @export
print.sparsegp_likelihood <- function(x, ...) {
  cat("<likelihood> ", format(check_likelihood(x)), "\n", sep = "")
  invisible(x)
}

# width: latent values of one process that a row's likelihood sees at once; q: numbers in a data
# row, which some types leave open; power: to which EP raises the likelihood (method_ep())
lik_for_c <- function(lik, processes, width = 1L, q = 0L, power = 1) {
  spec <- list(type = lik$type, q = as.integer(q), processes = as.integer(processes),
               width = as.integer(width), power = as.double(power))
  if (!is.null(lik$custom)) {
    spec[c("q", "custom")] <- list(custom_in_c(lik$custom)$q, lik$custom)
  }
  if (is.null(lik$extension)) return(spec)
  c(spec, list(extension = lik$extension$names, support = SUPPORTS[[lik$extension$response]]))
}

# How latent values lie in C (types.h): never inferred from lengths or dimensions.
layout_for_c <- function(processes, width = 1L) {
  list(processes = as.integer(processes), width = as.integer(width))
}

# ---- Likelihoods of other packages (lik-extension.R) ----

# Returns the traits of a likelihood of another package.
extension_traits <- function(extension) {
  codec <- c(number = "numbers", count = "counts", label = "labels")[[extension$response]]
  about <- lapply(stats::setNames(nm = names(extension$start)), extension_hyper, extension)
  c(lik_code(response = codec, density = extension$response == "number",
             label = extension$names[["name"]]),
    lik_hyper(about = about),
    lik_sample(draw = function(f, value, weights) {
      if (!is.null(extension$draw)) return(as.double(extension$draw(f, value)))
      stop_sparsegp("object", "has a likelihood of another package that cannot draw responses",
                    "Give lik_extension(draw =)")
    }))
}

# Returns what is known of one hyperparameter (lik-contract.R).
extension_hyper <- function(name, extension) {
  start <- extension$start[[name]]
  range <- c(extension$lower[[name]], extension$upper[[name]])
  searched <- any(is.finite(range))
  own <- extension$prior[[name]]
  list(argument = name, log = searched, unit_power = extension$unit_power[[name]],
       range = if (searched) range else c(0, Inf),
       start = function(rows, offset) {
         if (searched) to_search(start, range[1L], range[2L]) else start
       },
       prior = function(unit, offset) if (is.null(own)) theta_prior(start, range)(unit) else own)
}

# Returns the fields that C's catalogue has of built-in types (util-catalogue.R), for this one.
extension_in_c <- function(extension) {
  list(q = 1L, npar = length(extension$start), width = 1L, classes = FALSE,
       par = names(extension$start), exact = FALSE, ordered = extension$ordered)
}

SUPPORTS <- c(number = 0L, count = 2L, label = 0L) # sg_support (lik.h)

is_lik_extension <- function(x) {
  each <- length(x$start)
  is.list(x) && is_extension(x$names) && is_word(x$response, names(SUPPORTS)) &&
    all(vapply(x[c("start", "lower", "upper", "unit_power")], are_doubles, NA, each)) &&
    are_priors(x$prior) && is_flag(x$ordered) && (is.null(x$draw) || is.function(x$draw))
}

# ---- Likelihoods that are R functions (lik-custom.R) ----

# Returns the fields that C's catalogue has of built-in types (util-catalogue.R), for this one.
custom_in_c <- function(custom) {
  replace(HOSTED, c("q", "width"),
          list(2L + length(custom$data), max(1L, length(custom$components))))
}
