# Student's t noise: the twin of src/lik_student.c.

#' @rdname likelihoods_numbers
#' @order 11
#' @export
lik_student <- function(scale = NULL, df = fixed(4), transform = NULL) {
  with_transform(new_likelihood("student", list(scale = scale, df = df)), transform)
}

student_traits <- function() c(lik_code("numbers", density = TRUE), lik_hyper(
  about = list(scale = noise_scale, df = list(
    argument = "df", log = TRUE, unit_power = 0, range = c(2, Inf),
    start = function(rows, offset) log(5 - 2),
    prior = function(unit, offset) prior_gamma(2, 0.1)
  ))
), lik_sample(
  draw = function(f, value, weights) {
    f + value[["scale"]] * stats::rt(length(f), value[["df"]])
  },
  outcomes = function(mean, var, value, weights) number_outcomes(mean, var, value[["scale"]])
))
