# The family of hand fits of bench/regret.R: what somebody would try who looks at the data. A line
# of FAMILY is list(name, applies, call): applies(facts) says of a case whether the fit makes sense,
# call(facts) returns the arguments of sparsegp() besides formula and data.
#
# facts: n and p, observations and inputs; kind, "number", "count" or "label"; likelihood, what the
# case gives; y; skewness, the largest of an input that is a number; spacing, the median distance of
# neighbours along a single input, in its standard deviations, NA with more inputs.

facts_of <- function(case, train) {
  inputs <- train[setdiff(names(train), "y")]
  is_number <- vapply(inputs, function(x) is.numeric(x) || inherits(x, c("Date", "POSIXct")), NA)
  x <- if (length(inputs) == 1L && is_number) as.numeric(inputs[[1L]])
  list(n = nrow(train), p = length(inputs), likelihood = case$likelihood, y = train$y,
       kind = if (!is.null(case$likelihood)) "count" else
         if (is.numeric(train$y)) "number" else "label",
       skewness = max(0, vapply(inputs[is_number], function(x) abs(skewness_of(as.numeric(x))), 0)),
       spacing = if (is.null(x)) NA else stats::median(diff(sort(unique(x)))) / stats::sd(x))
}

skewness_of <- function(x) if (stats::sd(x) > 0) mean((x - mean(x))^3) / stats::sd(x)^3 else 0

# ---- When a fit makes sense, by facts ----

up_to <- function(n, p = Inf) function(facts) facts$n <= n && facts$p <= p
of_numbers <- function(n, p = Inf) {
  function(facts) facts$kind == "number" && facts$n <= n && facts$p <= p
}
several_inputs <- function(n, p) function(facts) facts$p > 1L && facts$p <= p && facts$n <= n
one_number <- function(n) function(facts) !is.na(facts$spacing) && facts$n <= n
on_scale <- function(suits) {
  function(facts) facts$kind == "number" && facts$n <= 350 && suits(facts$y)
}
and <- function(a, b) function(facts) a(facts) && b(facts)

# Is an input skewed, which a default fit may see on a log scale?
skewed_inputs <- function(facts) facts$skewness >= 1 && facts$n <= 700

# ---- Starts of length scales, in standard deviations of the inputs ----

# Twice the distance of neighbours; of several inputs, whose distances grow with their number
short <- function(facts) if (is.na(facts$spacing)) 0.1 * sqrt(facts$p) else 2 * facts$spacing
long <- function(facts) if (is.na(facts$spacing)) 2 * sqrt(facts$p) else 1
middle <- function(facts) sqrt(short(facts) * long(facts))

starts_at <- function(length) function(facts) list(kernel = kernel_rbf(lengthscale = length(facts)))
with_kernel <- function(kernel) function(facts) list(kernel = kernel)
with_scale <- function(transform) {
  function(facts) list(likelihood = lik_gaussian(transform = transform))
}

# Noise of 1e-8 of the response's variance
without_noise <- function(kernel) {
  function(facts) {
    list(likelihood = lik_gaussian(fixed(1e-8 * stats::var(facts$y))), kernel = kernel)
  }
}

# Likelihoods whose evidence takes long are not integrated over their hyperparameters.
AT_MODE <- gp_control(integrate = "none")

hand <- function(name, applies, call) list(name = name, applies = applies, call = call)

# Kernels of several inputs cost as one of one does, but each scale of the response is a race.
FAMILY <- list(
  hand("short start", up_to(3000), starts_at(short)),
  hand("middle start", up_to(3000), starts_at(middle)),
  hand("long start", up_to(1500), starts_at(long)),
  hand("short + long", one_number(1000), function(facts) {
    list(kernel = kernel_rbf(lengthscale = long(facts)) + kernel_rbf(lengthscale = short(facts)))
  }),
  hand("Matern 1/2", up_to(1000), with_kernel(kernel_matern12())),
  hand("periodic part", one_number(1000), with_kernel(kernel_rbf() + kernel_periodic())),
  hand("ARD", several_inputs(1000, 60), with_kernel(kernel_rbf(ard = TRUE))),
  hand("linear, ARD", several_inputs(1000, 200), with_kernel(kernel_linear(ard = TRUE))),
  hand("inputs unchanged", skewed_inputs, function(facts) list(scale = TRUE)),
  hand("identity", on_scale(is.numeric), with_scale("identity")),
  hand("square root", on_scale(function(y) all(y > 0)), with_scale("sqrt")),
  hand("logarithm", on_scale(function(y) all(y > 0)), with_scale("log")),
  hand("Box-Cox", on_scale(function(y) all(y > 0)), with_scale("boxcox")),
  hand("logit", on_scale(function(y) all(y > 0 & y < 1)), with_scale("logit")),
  hand("asinh", on_scale(is.numeric), with_scale("asinh")),
  hand("no noise", of_numbers(300, 20), without_noise(kernel_rbf())),
  hand("no noise, ARD", and(of_numbers(150, 20), several_inputs(150, 20)),
       without_noise(kernel_rbf(ard = TRUE))),
  hand("Student noise", of_numbers(200, 60), function(facts) {
    list(likelihood = "student", kernel = kernel_rbf(lengthscale = middle(facts)),
         control = AT_MODE)
  }),
  hand("uneven noise", and(of_numbers(120), one_number(120)), function(facts) {
    list(likelihood = "heteroscedastic", control = AT_MODE)
  })
)

# Returns the calls of a case by name: "default", those of the family, and the case's own.
calls_of <- function(case, train) {
  facts <- facts_of(case, train)
  chosen <- Filter(function(hand) isTRUE(hand$applies(facts)), FAMILY)
  calls <- lapply(chosen, function(hand) hand$call(facts))
  names(calls) <- vapply(chosen, `[[`, "", "name")
  c(list(default = list()), case$own, calls)
}
