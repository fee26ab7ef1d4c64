# The prior mean of the latent function, as a user gives it and as a posterior has it.
#
# A mean whose coefficients are integrated out is a record:
#   terms      names of its functions: "constant", inputs
#   vars       their columns of the scaled inputs; 0 is the constant
#   at, sd     each column is centred at `at` and divided by `sd`, so that one prior suits all
#   variance   of the coefficients' prior, in C's units
#   width      components of the response that have coefficients of their own
#   asked      did the user ask for it? Then nothing else stands in where it cannot be integrated
#   vague      FALSE: the prior is meant as it is, that of the bias of a likelihood
# and in a stored posterior (posterior.R) besides, with phi the functions times their prior standard
# deviations and everything else as src/full_trend.h has it,
#   coef, J, root   the posterior means of the coefficients, W phi L^-1 and L^-1

MEAN_RECORD <- c("terms", "vars", "at", "sd", "variance", "width", "asked", "vague")

# Returns that record of the mean of a posterior, or NULL.
mean_record <- function(trend) trend[intersect(MEAN_RECORD, names(trend))]

MEANS <- c("constant", "average", "zero")

# Returns the argument `mean`, checked: NULL, a word or a formula.
check_mean <- function(mean) {
  if (is.null(mean) || is_word(mean, MEANS)) return(mean)
  if (inherits(mean, "formula") && length(mean) == 2L) {
    check_mean_terms(stats::terms(mean, allowDotAsName = TRUE))
    return(mean)
  }
  stop_sparsegp("mean", "is not a mean", paste("Give \"constant\", \"average\" or \"zero\", or a",
                                            "formula of inputs such as ~ x + z"))
}

check_mean_terms <- function(terms) {
  linear <- all(attr(terms, "order") == 1L) && attr(terms, "intercept") == 1L &&
    is.null(attr(terms, "offset"))
  refuse_if(!linear, "mean", "has interactions, an offset or no constant",
            "Write it as ~ x + z; make columns of products, and give kernels `vars`")
}

# Returns the record of the mean that `setup` asks for, or NULL: the mean is known. width:
# components with coefficients of their own, 0 where the response has none to integrate. at(column):
# a scaled input. of_bias: is the mean the bias of a likelihood (model-mean.R)?
resolve_mean <- function(setup, inputs, width, at, of_bias = FALSE) {
  mean <- setup$mean
  if (is_word(mean, c("average", "zero"))) return(NULL)
  asked <- !is.null(mean)
  if (of_bias) width <- 1L
  refuse_if(asked && width == 0L,
            "mean", "has coefficients to integrate out, and the response is not of numbers",
            paste("Leave it out: labels and counts have a bias, see their likelihood, which",
                  "\"constant\" integrates out if there is one latent function"))
  refuse_if(asked && !is.null(setup$augment),
            "mean", "has coefficients to integrate out, which `augment` does not support",
            "Use mean = \"average\" or \"zero\", or leave `augment` out")
  # streams and copies see no coefficients; rows of a source arrive like those of a stream
  average <- setup$streams && is.null(setup$known) || !is.null(setup$augment)
  if (width == 0L || !asked && average) return(NULL)
  terms <- if (inherits(mean, "formula")) mean_labels(mean, inputs)
  vars <- mean_columns(terms, inputs)
  values <- lapply(vars, at)
  spread <- vapply(values, stats::sd, 0)
  list(terms = c("constant", inputs$names[inputs$kept][vars]), vars = c(0L, vars),
       at = c(0, vapply(values, base::mean, 0)), sd = c(1, spread),
       variance = policy$mean_variance, width = width, asked = asked)
}

# Returns the terms of a mean's formula, in which a dot is all inputs.
mean_labels <- function(mean, inputs) {
  if (!"." %in% all.vars(mean)) return(attr(stats::terms(mean), "term.labels"))
  names <- unique(inputs$terms %||% inputs$names)
  sum <- Reduce(function(one, other) call("+", one, other), lapply(names, as.name))
  mean[[2L]] <- do.call(substitute, list(mean[[2L]], list(. = call("(", sum))))
  labels <- attr(stats::terms(mean), "term.labels")
  quoted <- paste0("`", names, "`") # as labels have names that are calls
  at <- match(labels, quoted)
  ifelse(is.na(at), labels, names[at])
}

# Returns the columns of scaled inputs of a mean's terms; inputs: as of resolve_kernel().
mean_columns <- function(terms, inputs) {
  if (length(terms) == 0L) return(integer())
  wrong <- setdiff(terms, c(inputs$names, inputs$terms))
  refuse_if(length(wrong), "mean", paste0("has terms that are not inputs: ", toString(wrong)),
            "Make them inputs, and restrict the kernels to other inputs by `vars`")
  at <- resolve_vars(terms, inputs)
  at <- match(at[inputs$kept[at]], which(inputs$kept))
  if (!any(inputs$levels[at] > 0)) return(at)
  stop_sparsegp("mean", "has a factor among its terms",
                paste("Name the others, as in ~ x + z, or use",
                       "coding = \"contrasts\", kernel_linear()",
                      "or kernel_factor() of it"))
}

# Returns the functions of a mean at scaled inputs, each times the prior standard deviation of its
# coefficient: a matrix with a row for each of x and a column for each coefficient, those of the
# first component first.
mean_functions <- function(mean, x) {
  columns <- matrix(1, nrow(x), length(mean$vars))
  for (j in which(mean$vars > 0L)) columns[, j] <- (x[, mean$vars[j]] - mean$at[j]) / mean$sd[j]
  columns <- columns * sqrt(mean$variance)
  if (!".component" %in% colnames(x)) return(columns)
  own <- x[, ncol(x)]
  do.call(cbind, lapply(seq_len(mean$width), function(component) columns * (own == component)))
}

# Returns the derivatives of these functions along directions v of x, scaled as x is.
mean_slopes <- function(mean, x, v) {
  if (".component" %in% colnames(x)) v[, ncol(x)] <- x[, ncol(x)]
  colnames(v) <- colnames(x)
  mean$at <- 0 * mean$at # as the functions are linear
  slopes <- mean_functions(mean, v)
  slopes[, rep_len(mean$vars == 0L, ncol(slopes))] <- 0
  slopes
}

# Returns what is added to a log evidence for the vague prior of the coefficients: with their
# density at 0 in place of N(0, variance), that of N(0, 1) in units of the response, it is the
# evidence under a prior that is worth about one observation.
mean_normalisation <- function(mean) {
  if (is.null(mean) || isFALSE(mean$vague)) return(0)
  length(mean$vars) * mean$width * log(mean$variance) / 2
}

# Returns the coefficients of a posterior's mean in C's units, of the constant and for one standard
# deviation of each input, and their covariance matrix: a list.
mean_coefficients <- function(trend) {
  size <- sqrt(trend$variance)
  list(mean = c(trend$coef) * size, cov = tcrossprod(trend$root * size))
}
