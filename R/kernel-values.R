#' Kernels
#'
#' A kernel is the prior covariance of the latent function. Each constructor returns a kernel value;
#' `+` and `*` combine kernels into sums and products.
#'
#' With `r` the distance of two inputs divided by `lengthscale` (with `ard = TRUE`: every input
#' divided by its own length scale first):
#'
#' | constructor | kernel |
#' |---|---|
#' | `kernel_rbf` | \eqn{variance \exp(-r^2/2)}{variance * exp(-r^2 / 2)} |
#' | `kernel_matern12` | \eqn{variance \exp(-r)}{variance * exp(-r)} |
#' | `kernel_matern32` | \eqn{variance (1 + \sqrt 3 r) \exp(-\sqrt 3 r)}{variance * (1 + sqrt(3) r) * exp(-sqrt(3) r)} |
#' | `kernel_matern52` | \eqn{variance (1 + \sqrt 5 r + 5 r^2/3) \exp(-\sqrt 5 r)}{variance * (1 + sqrt(5) r + 5 r^2/3) * exp(-sqrt(5) r)} |
#' | `kernel_rq` | \eqn{variance (1 + r^2/(2\,shape))^{-shape}}{variance * (1 + r^2 / (2 shape))^-shape} |
#' | `kernel_linear` | \eqn{\sum_j variance_j x_j x'_j}{sum_j variance_j x_j x'_j} (one variance for all without `ard`) |
#' | `kernel_poly` | \eqn{variance (1 + x'x' / (p\,lengthscale))^{degree}}{variance * (1 + x'x' / (p lengthscale))^degree}, p inputs (thesis, eq. 5.1) |
#' | `kernel_constant` | \eqn{variance}{variance} |
#' | `kernel_periodic` | \eqn{variance \exp(-2 \sin^2(\pi (x - x')/period)/lengthscale^2)}{variance * exp(-2 sin(pi (x - x') / period)^2 / lengthscale^2)}, one input |
#' | `kernel_factor` | \eqn{variance}{variance} within a level, 0 between levels |
#' | `kernel_trig` | \eqn{variance (1 + 2 \sum_{n=1}^{k0} \cos(2 \pi n (x - x')/period))}{variance * (1 + 2 sum_{n=1}^k0 cos(2 pi n (x - x') / period))}, one input (thesis, eqs 5.28-5.29) |
#'
#' `kernel_trig` is the prior of trigonometric polynomials of order `k0`. Their 2 `k0` + 1
#' coefficients are independent with that variance (`variance * (2 k0 + 1)` is the variance of the
#' function), so 2 `k0` + 1 inducing points (the *basis*) suffice. See [gp_density()].
#'
#' [kernels_of_vectors] has kernels for several responses (`kernel_coregion()`) and for vector
#' fields (`kernel_helmholtz()`).
#'
#' @section Groups:
#' `kernel_factor("g")` gives every level of `g` an effect drawn from a normal distribution of that
#' variance: a random intercept, `(1 | g)` in mixed models. A product with another kernel,
#' `kernel_rbf(vars = "x") * kernel_factor("g", variance = fixed(1))`, gives every level its own
#' function, all with the same smoothness; added to `kernel_rbf(vars = "x")` it models the deviation
#' of each level from the shared function (a factor-smooth interaction). A random slope, through 0
#' at the mean of `x`, is the product `kernel_linear(vars = "x") * kernel_factor("g", variance =
#' fixed(1))`. The levels of `kernel_factor(c("g", "h"))` are the combinations of two factors.
#'
#' [sparsegp()] reads the group terms `(1 | g)`, `(x | g)`, `(1 | a:b)` and `(1 | a/b)` of a formula
#' as such parts, added to the `kernel` (by default `kernel_rbf()`), and gives a message with the
#' kernel. Intercepts and slopes are independent.
#'
#' In a formula `g` is a factor or character, and a term by itself (no `x:g`). The model matrix then
#' has one column with the numbers of the levels, which only factor kernels read: kernels without
#' `vars` read all other inputs. Numbers and columns of a matrix are read unscaled: equal numbers
#' are one level. A new level is predicted as another draw from the prior: with the mean of all
#' levels, and the variance of one.
#'
#' Other kernels read a factor as one input if `coding` of [gp_control()] is `"levels"`, its default
#' without a kernel: kernels of distances place every two levels at the same distance, and kernels
#' of inner products have a random effect for each level. Periodic kernels and fields do not accept
#' factors.
#'
#' @section Hyperparameters:
#' `NULL` (the default): start from the data and learn. A number: the start when [sparsegp()]
#' learns, kept when `learn = FALSE`. `fixed(value)`: kept always. Starts: `variance` the variance
#' of the response (1 for classes), divided among the terms of a sum; `lengthscale` the root of the
#' number of inputs of the kernel; `shape` 1; `period` the highest peak of the periodogram of the
#' response minus a cubic trend (half the range of the input if there is no peak, and for classes
#' without an order). Learning starts from the best of several length scales, see [learn_control()].
#' In a sum of two parts with the same inputs, such as `kernel_rbf() + kernel_rbf()`, one starts
#' longer than the other, and a second periodic part starts at the next peak.
#'
#' @section Time series:
#' `kernel_linear() + kernel_rbf() + kernel_matern12() + kernel_periodic()` is a trend, a line with
#' slow and fast deviations, and a season. The line and the Ornstein-Uhlenbeck part (`matern12`)
#' extend beyond the last row, where a smooth kernel alone returns to the mean: such sums forecast
#' as seasonal ARIMA models do. See `plot(type = "forecast")`.
#'
#' @section On the sphere:
#' With `distance = "sphere"` two inputs are a longitude and a latitude in degrees, in this order:
#' `kernel_matern32(vars = c("lon", "lat"), distance = "sphere")`. The distance is the chord between
#' two places on a sphere of radius 6371.0088 km, so the kernel is that of three Cartesian inputs,
#' and the function is continuous across the date line and at the poles. The great-circle distance,
#' with which most kernels are not positive definite, is 1 % longer at 3000 km. `lengthscale` is in
#' km. Other inputs join by sums and products, `+ kernel_rbf(vars = "elevation")` or
#' `* kernel_matern12(vars = "day")`. Maps of [plot()][plot.sparsegp] have the shape of the Earth at
#' their middle, and [slopes()] are per degree.
#'
#' @section Units:
#' With `scale = TRUE` in [sparsegp()] inputs are centred and divided by their standard deviations,
#' and `lengthscale` is in those units; `summary()` adds the units of the inputs. `period` is always
#' in the units of the input. `variance` is in squared units of the response for regression, of the
#' linear predictor for other likelihoods.
#'
#' @section The papers' parameters:
#' IVM paper eq. 9: v = `variance`, w = p / `lengthscale`^2; eq. 10: w_j = 1 / `lengthscale_j`^2.
#' Csató's thesis eq. 5.2: \eqn{\sigma_k^2}{sigma_k^2} = `lengthscale`^2 / p.
#'
#' @param variance Prior variance: one positive number, or one per input for `kernel_linear(ard =
#'   TRUE)`.
#' @param lengthscale Positive. One number; with `ard = TRUE` one, or one per input in the order
#'   of the inputs.
#' @param shape One positive number; large values approach `kernel_rbf`.
#' @param period One positive number, in the units of the input; fixed at 1, the unit interval, by
#'   default in `kernel_trig`.
#' @param degree A whole number of at least 1. `NULL`: degrees 1 to `r policy$most_degree` are
#'   compared by the log evidence, see [model_structure] ("Degree of a polynomial").
#' @param k0 Order of the trigonometric polynomials: a whole number from 0 to 1e6.
#' @param ard Automatic relevance determination: `TRUE` for one length scale (or variance) per
#'   input.
#' @param vars The inputs of this kernel: column names (of the model matrix, or the variable names
#'   in the formula) or column numbers. `NULL`: all; for `kernel_factor` in a formula all factors,
#'   and for other kernels in the same sum the others.
#' @param distance `"euclidean"`, or `"sphere"` for a longitude and a latitude, see below.
#' @param ...,var Not used: misspelt arguments are errors, and so is `var`, which could be
#'   `variance` or `vars`.
#' @return A value of class `sparsegp_kernel`. Errors are of class `sparsegp_error` and name the
#'   argument.
#' @references Csató, L. (2002). *Gaussian Processes -- Iterative Sparse Approximations*. PhD
#'   thesis, Aston University, eqs 5.1-5.2.
#'
#'   Rasmussen, C. E. and Williams, C. K. I. (2006). *Gaussian Processes for Machine Learning*.
#'   MIT Press, chapter 4.
#' @concept covariance function
#' @concept variogram
#' @concept longitude and latitude
#' @concept great circle
#' @concept random effect
#' @concept tensor product
#' @concept seasonality
#' @examples
#' kernel_matern52(ard = TRUE)
#' kernel_rbf(lengthscale = 2, vars = "age") * kernel_linear(vars = "dose") + kernel_constant()
#' x <- seq(-3, 3, length.out = 50)
#' fit <- sparsegp(x, sin(4 * x) + x, kernel = kernel_periodic() + kernel_linear())
#' coef(fit)
#'
#' # a curve for all, and each chick's deviation from it
#' few <- ChickWeight[ChickWeight$Chick %in% c(1:6, 21:26), ]
#' fit <- sparsegp(weight ~ Time + Chick, few, kernel = kernel_rbf(vars = "Time") +
#'   kernel_rbf(vars = "Time") * kernel_factor("Chick", variance = fixed(1)))
#' predict(fit, data.frame(Time = 10, Chick = c("1", "new")), se.fit = TRUE)
#' @name kernels
NULL

new_kernel <- function(type, params, ard = FALSE, vars = NULL, degree = 0L, per_input = "",
                       parts = list()) {
  params <- lapply(params, plain_numbers)
  for (name in names(params)) check_hyper(params[[name]], name, range = kernel_range(name))
  structure(
    list(type = type, params = params, ard = check_flag(ard, "ard"), vars = check_vars(vars),
         degree = degree, per_input = per_input, parts = parts),
    class = "sparsegp_kernel"
  )
}

# Refuses unknown arguments of a constructor. var: is there such an argument? It is one by name
# because R would stop at it with words of its own, as it is short for two others.
check_kernel_dots <- function(var, ...) {
  refuse_if(var, "var", "could be short for `variance` and for `vars`",
            "Write vars = \"x\" for the inputs of the kernel, or variance = 1")
  check_no_dots(...)
}

check_vars <- function(vars) {
  if (is.null(vars)) return(vars)
  right <- is.character(vars) || is.numeric(vars)
  if (right && length(vars) && !anyNA(vars) && !anyDuplicated(vars)) return(vars)
  stop_sparsegp("vars", "must be distinct input names or column numbers",
                "Leave it out (NULL) for all inputs")
}

# Between what a hyperparameter lies
kernel_range <- function(name) if (name == "correlation") c(-1, 1) else c(0, Inf)

DISTANCES <- c("euclidean", "sphere")

on_sphere <- function(leaf) identical(leaf$distance, "sphere")

new_stationary <- function(type, variance, lengthscale, ard, vars, distance, ...) {
  kernel <- new_kernel(type, list(variance = variance, lengthscale = lengthscale, ...), ard, vars,
                       per_input = "lengthscale")
  distance <- check_choice(distance, DISTANCES, "distance")
  if (distance == "euclidean") return(kernel)
  refuse_if(kernel$ard, "ard",
            paste("= TRUE is not available on the sphere, where coordinates share a",
                  "length scale"),
            "Multiply by a kernel of the other inputs, as in ?kernels, \"On the sphere\"")
  kernel$distance <- distance
  kernel
}

#' @rdname kernels
#' @export
kernel_rbf <- function(variance = NULL, lengthscale = NULL, ard = FALSE, vars = NULL,
                       distance = "euclidean", ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_stationary("rbf", variance, lengthscale, ard, vars, distance)
}

#' @rdname kernels
#' @export
kernel_matern12 <- function(variance = NULL, lengthscale = NULL, ard = FALSE, vars = NULL,
                            distance = "euclidean", ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_stationary("matern12", variance, lengthscale, ard, vars, distance)
}

#' @rdname kernels
#' @export
kernel_matern32 <- function(variance = NULL, lengthscale = NULL, ard = FALSE, vars = NULL,
                            distance = "euclidean", ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_stationary("matern32", variance, lengthscale, ard, vars, distance)
}

#' @rdname kernels
#' @export
kernel_matern52 <- function(variance = NULL, lengthscale = NULL, ard = FALSE, vars = NULL,
                            distance = "euclidean", ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_stationary("matern52", variance, lengthscale, ard, vars, distance)
}

#' @rdname kernels
#' @export
kernel_rq <- function(variance = NULL, lengthscale = NULL, ard = FALSE, vars = NULL, shape = NULL,
                      distance = "euclidean", ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_stationary("rq", variance, lengthscale, ard, vars, distance, shape = shape)
}

#' @rdname kernels
#' @export
kernel_linear <- function(variance = NULL, ard = FALSE, vars = NULL, ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_kernel("linear", list(variance = variance), ard, vars, per_input = "variance")
}

#' @rdname kernels
#' @export
kernel_poly <- function(degree = NULL, variance = NULL, lengthscale = NULL, vars = NULL, ..., var) {
  check_kernel_dots(!missing(var), ...)
  degree <- if (is.null(degree)) NA_integer_ else check_count(degree, "degree")
  new_kernel("poly", list(variance = variance, lengthscale = lengthscale), vars = vars,
             degree = c(degree = degree))
}

#' @rdname kernels
#' @export
kernel_constant <- function(variance = NULL) {
  new_kernel("constant", list(variance = variance))
}

#' @rdname kernels
#' @export
kernel_factor <- function(vars = NULL, variance = NULL, ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_kernel("factor", list(variance = variance), vars = vars)
}

#' @rdname kernels
#' @export
kernel_periodic <- function(variance = NULL, lengthscale = NULL, period = NULL, vars = NULL, ...,
                            var) {
  check_kernel_dots(!missing(var), ...)
  new_kernel("periodic", list(variance = variance, lengthscale = lengthscale, period = period),
             vars = vars)
}

#' @rdname kernels
#' @export
kernel_trig <- function(k0 = 5, variance = NULL, period = fixed(1), vars = NULL, ..., var) {
  check_kernel_dots(!missing(var), ...)
  new_kernel("trig", list(variance = variance, period = period), vars = vars,
             degree = c(k0 = check_count(k0, "k0", 0L, 1e6)))
}

#' @export
Ops.sparsegp_kernel <- function(e1, e2) {
  type <- c("+" = "sum", "*" = "product")[.Generic]
  refuse_if(is.na(type) || missing(e2), .Generic, "is not defined for kernels",
            "Combine kernels with + and *")
  remedy <- "Combine a kernel with another kernel, as in kernel_rbf() + kernel_linear()"
  check_class(e1, "sparsegp_kernel", .Generic, remedy)
  check_class(e2, "sparsegp_kernel", .Generic, remedy)
  parts_of <- function(e) {
    refuse_if(!holds(is_made(e, "sparsegp_kernel") && is_text(e$type)), .Generic,
              "has a kernel that was changed after it was made", "Create it again")
    if (e$type == type) e$parts else list(e)
  }
  new_kernel(unname(type), list(), parts = c(parts_of(e1), parts_of(e2)))
}

#' @export
format.sparsegp_kernel <- function(x, ...) {
  if (length(x$parts)) {
    inner <- vapply(x$parts, format, "")
    if (x$type == "sum") return(paste(inner, collapse = " + "))
    if (x$type != "product") return(paste0(x$type, "(", inner, ")"))
    brackets <- vapply(x$parts, function(part) part$type == "sum", NA)
    return(paste(ifelse(brackets, paste0("(", inner, ")"), inner), collapse = " * "))
  }
  show <- function(name) {
    value <- x$params[[name]]
    if (is.null(value)) return(NULL)
    digits <- if (name == "period") 7L else 4L # a phase is the sum of many periods
    text <- paste(format(given_value(value), digits = digits, trim = TRUE), collapse = ", ")
    if (length(given_value(value)) > 1L) text <- paste0("c(", text, ")")
    paste0(name, " = ", if (is_fixed(value)) paste0("fixed(", text, ")") else text)
  }
  arguments <- c(
    paste0(names(x$degree), " = ", x$degree, recycle0 = TRUE)[shows_degree(x)],
    unlist(lapply(names(x$params), show)),
    if (x$ard) "ard = TRUE",
    if (!is.null(x$vars)) paste0("vars = ", toString(x$vars)),
    if (on_sphere(x)) "distance = \"sphere\""
  )
  own <- x$custom$label %||% if (!is.null(x$extension)) x$extension[["name"]]
  paste0(own %||% x$type, "(", paste(arguments, collapse = ", "), ")")
}

# Is the degree a user's, and no longer open?
shows_degree <- function(kernel) !is.null(names(kernel$degree)) && !anyNA(kernel$degree)

#' @export
print.sparsegp_kernel <- function(x, ...) {
  cat("<kernel> ", format(x), "\n", sep = "")
  invisible(x)
}
