# Models, rows and changes for the tests of invariances: what must not change an answer.

# Rows with a response of every kind, and an input g that has levels.
invariant_rows <- function(n = 48L) {
  set.seed(21)
  d <- data.frame(a = rnorm(n), b = runif(n, 0, 3),
                  g = factor(c("p", "q", "r")[1L + seq_len(n) %% 3L]))
  f <- sin(1.5 * d$a) + 0.4 * d$b
  d$y <- f + 0.3 * rnorm(n)
  d$count <- rpois(n, exp(f / 2))
  d$two <- factor(ifelse(f + 0.5 * rnorm(n) > 0.6, "yes", "no"))
  d$three <- factor(c("k", "l", "m")[max.col(cbind(f, 1.2 - f, d$b - 1) + 0.4 * rnorm(3 * n))])
  d$rank <- cut(f + 0.4 * rnorm(n), c(-Inf, 0.2, 1, Inf), c("low", "mid", "high"),
                ordered_result = TRUE)
  d$u <- sin(d$b) + 0.1 * rnorm(n)
  d$v <- cos(d$a) + 0.1 * rnorm(n)
  d
}

# Inputs of rows that were not fitted
invariant_new <- function() {
  data.frame(a = seq(-2, 2, length.out = 12L), b = c(0.2, 2.5, 1.1), g = factor(c("q", "r", "p")))
}

# Builds a model: its response, what sparsegp() is given besides, and what it is of.
# numbers: real ones, whose origin and unit have no meaning; labels: classes; components: a row has
# two latent values; field: its inputs share one unit and are paired with the components.
invariant_model <- function(response, ..., numbers = FALSE, labels = FALSE, components = FALSE,
                            field = FALSE) {
  list(response = response, given = list(...), numbers = numbers, labels = labels,
       components = components, field = field)
}

INVARIANT_MODELS <- list(
  gaussian = invariant_model("y", numbers = TRUE),
  probit = invariant_model("two", likelihood = "probit", labels = TRUE),
  poisson = invariant_model("count", likelihood = "poisson"),
  student = invariant_model("y", likelihood = "student", numbers = TRUE),
  softmax = invariant_model("three", likelihood = "softmax", labels = TRUE),
  ordinal = invariant_model("rank"),
  heteroscedastic = invariant_model("y", likelihood = lik_heteroscedastic(), numbers = TRUE,
                                    components = TRUE),
  vector = invariant_model("cbind(u, v)", kernel = kernel_helmholtz(), numbers = TRUE,
                           components = TRUE, field = TRUE),
  negbin = invariant_model("count", likelihood = "negbin"),
  mprobit = invariant_model("three", likelihood = "mprobit", labels = TRUE),
  classes = invariant_model("three", labels = TRUE)
)

# Fits a model. learn: FALSE for hyperparameters at their starts; `...` replaces what the model
# gives.
invariant_fit <- function(model, rows, learn = FALSE, inputs = c("a", "b"), ...) {
  given <- model$given
  given[names(list(...))] <- list(...)
  formula <- stats::reformulate(inputs, str2lang(model$response))
  # at the mode: the curvature around it is by forward differences, which have a direction
  do.call(sparsegp, c(list(formula, rows, learn = learn,
                      control = gp_control(integrate = "none")), given))
}

# Returns a matrix: probabilities of classes in the alphabet's order, else means and standard
# deviations.
answers_of <- function(fit, new = invariant_new()) {
  if (inherits(codec_of(fit), "response_factor")) {
    p <- predict(fit, new, type = "prob")
    return(p[, sort(colnames(p)), drop = FALSE])
  }
  p <- predict(fit, new, se.fit = TRUE)
  cbind(p$fit, p$se.fit)
}

# Expects the same answers, relative to the largest, and the same log evidence, relative to 1 or to
# itself where that is larger.
expect_invariant <- function(answers, wanted, evidence, wanted_evidence, tolerance, label) {
  expect_lte(max(abs(answers - wanted)), tolerance * max(abs(wanted)), label = label)
  expect_lte(abs(evidence - wanted_evidence), tolerance * max(1, abs(wanted_evidence)),
             label = paste(label, "log evidence"))
}

# The same of two fits of the same rows.
expect_same_fit <- function(fit, wanted, tolerance, label) {
  expect_invariant(answers_of(fit), answers_of(wanted), fit$log_evidence, wanted$log_evidence,
                   tolerance, label)
}

# Builds a change: of rows to be fitted and of new ones, and of the inputs' order. `back` takes
# answers back; log_unit: by what the log density of a number falls. `given` is for both fits, a
# function of the model, and `applies` says to which models a change applies.
invariant_change <- function(rows = identity, new = rows, back = identity, log_unit = 0,
                             inputs = c("a", "b"), changed = inputs,
                             given = function(model) list(), applies = function(model) TRUE) {
  list(rows = rows, new = new, back = back, log_unit = log_unit, inputs = inputs,
       changed = changed, given = given, applies = applies)
}

expect_no_change <- function(model, change, learn, tolerance, label) {
  rows <- invariant_rows()
  new <- invariant_new()
  given <- change$given(model)
  one <- unchanged_fit(model, learn, change$inputs, given)
  two <- do.call(invariant_fit, c(list(model, change$rows(rows), learn, change$changed), given))
  values <- nrow(rows) * if (model$field) 2L else 1L
  expect_invariant(change$back(answers_of(two, change$new(new))), answers_of(one, new),
                   two$log_evidence + change$log_unit * values, one$log_evidence,
                   tolerance, label)
}

# The fit of the rows as they are, made once for all changes that compare with it.
unchanged_fit <- local({
  made <- list()
  function(model, learn, inputs, given) {
    key <- paste(deparse(list(model, learn, inputs, given)), collapse = "")
    if (is.null(made[[key]])) {
      arguments <- c(list(model, invariant_rows(), learn, inputs), given)
      made[[key]] <<- do.call(invariant_fit, arguments)
    }
    made[[key]]
  }
})

in_reverse <- function(labels) {
  factor(labels, rev(levels(labels)), ordered = is.ordered(labels))
}

change_columns <- function(names, change) {
  function(rows) {
    names <- intersect(names, names(rows))
    rows[names] <- lapply(rows[names], change)
    rows
  }
}
