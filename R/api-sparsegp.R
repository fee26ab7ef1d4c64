#' Fit a Gaussian-process model
#'
#' @description
#' Regression, classification, counts and survival times with a Gaussian-process prior on the
#' function. Nothing has to be tuned: the kernel, the scales of inputs and response and all
#' hyperparameters are estimated from the data.
#' ```
#' fit <- sparsegp(dist ~ speed, cars)
#' predict(fit, data.frame(speed = c(10, 20)), interval = "prediction")
#' plot(fit)
#' ```
#' `vignette("sparsegp")` is an introduction. [sparsegp_details] describes factors, the prior mean,
#' skewed inputs, units, several components and checkpoints. The article "In your workflow" of the
#' website has examples with other packages, such as tidymodels and emmeans; see also
#' [other-packages].
#'
#' @section The response:
#' | response | model |
#' |---|---|
#' | numbers | regression, on a scale that is chosen ([model_structure]); with a binary likelihood 0/1 or -1/1 are classes |
#' | a logical; a factor or text of two levels | classification: the probability of the second level |
#' | a factor or text of more levels | one model of all classes by [lik_mprobit()], or one-vs-rest models for many rows, and with [lik_probit()] or [lik_logit()] |
#' | an ordered factor of more than two levels | ordered categories by [lik_ordinal()], or a function for each category, whichever predicts better |
#' | `cbind(successes, failures)`; proportions with `weights` and `"binomial"` | trials by [lik_binomial()] |
#' | `survival::Surv()` | times to an event, see [likelihoods_times] |
#' | other columns of numbers, `cbind(u, v)` | several components, see [sparsegp_details] |
#'
#' Counts and positive numbers need a `likelihood`, see [likelihoods]. Whole numbers are classes for
#' [lik_mprobit()] and [lik_softmax()], and ordered categories for [lik_ordinal()].
#'
#' @section What is chosen:
#' Without a `kernel` candidates for the scale of the inputs, the length scales and the kernel are
#' compared by the log evidence of some observations, see [model_structure]. Hyperparameters
#' maximise the log evidence plus log [priors], and with few observations are integrated out
#' ([integration]). [summary()][summary.sparsegp] shows what was chosen, and `fit$choices` all
#' candidates.
#'
#' @param x A formula; or a numeric matrix, vector or data frame of numbers with a row for each
#'   observation and a column for each input.
#' @param formula,data Model formula, and a data frame or environment with its variables, or a
#'   [row_source()], for data too large for memory. `offset()` terms are added to the linear
#'   predictor, as in [glm()]. The data may come first, for pipes: `data |> sparsegp(y ~ x)`.
#' @param y Response: one value for each row, or a matrix with a column for each component.
#' @param likelihood `NULL` (chosen from the response), a [likelihood][likelihoods], its name, or a
#'   family of [glm()] or its name (also written `family =`), where `"binomial"` is for classes and
#'   for trials.
#' @param kernel A [kernel][kernels], or its name, such as `"rbf"` or `"matern52"`. `NULL`: chosen
#'   by the evidence, see [model_structure]; with `learn = FALSE` `kernel_rbf()`.
#' @param weights Positive numbers: the noise variance of an observation is `noise / weight`
#'   (Gaussian likelihood), its number of trials ([lik_binomial()]), or how many observations it
#'   stands for ([lik_poisson()], [lik_negbin()]). Observations of weight 0 are left out, and are
#'   not counted by `nobs()`. For classes see [likelihoods].
#' @param offset A known term of the linear predictor, one number per row; for a formula an
#'   expression in the variables of `data`. Not with several coupled or joint classes.
#' @param subset Rows to use, an expression in the variables of `data`, as in [lm()].
#' @param na.action Treatment of rows with missing values, a function such as [na.omit()] or
#'   [na.exclude()]; default `getOption("na.action")`.
#' @param method `NULL` (exact for small data, inducing points (the *basis*) for larger data), a
#'   [method][fit_methods] such as `method_ep(size = 100)`, or its name.
#' @param learn `TRUE` (learn all hyperparameters that are not `fixed()`), `FALSE`, or a
#'   [learn_control()].
#' @param structure `NULL`: response scale, kernel and input scale are chosen if they are left open,
#'   see [model_structure]. `"fixed"`: [kernel_rbf()] with one length scale, and nothing is chosen.
#' @param scale `TRUE`: each input is divided by its standard deviation; `"common"`: all by one
#'   number; `"log"`: as `TRUE`, with skewed inputs on a log scale; `FALSE`: not scaled. `NULL`:
#'   chosen, see [model_structure], or `TRUE` if a kernel is given. Kernel arguments and `coef()`
#'   are in scaled units.
#' @param basis Your own inducing points (the *basis*): two or more row numbers (among the rows
#'   used), a matrix with the inputs' columns, or for formulas a data frame, see [basis]. `NULL`:
#'   chosen by the method.
#' @param mean The prior mean of the latent function: `NULL` or `"constant"`, a constant that is
#'   integrated out (`NULL` of [fields][kernels_of_vectors]: if its evidence is higher); a formula
#'   such as `~ x + z`, a linear function, likewise; `"average"`, the average of the response, as if
#'   it were known; `"zero"`. For classes and counts, `NULL` and `"average"` estimate the intercept
#'   (`bias`), and `"constant"` integrates it out. See [sparsegp_details].
#' @param control A [gp_control()]: the computational budget, priors, coding of factors, whether
#'   hyperparameters are integrated out, virtual copies, storage, progress messages and checkpoints.
#' @param ... Not used; unknown arguments are an error.
#' @return An object of class `sparsegp`, plain R data that can be saved. Its methods are
#'   [predict][predict.sparsegp], [plot][plot.sparsegp], [summary][summary.sparsegp], `coef`
#'   (hyperparameters on the natural scale), [residuals][residuals.sparsegp], `logLik` (log
#'   evidence), [update][update.sparsegp], [simulate][simulate.sparsegp], [draws()], [loo()],
#'   [compare()], [calibration()], [importance()], [confint][confint.sparsegp],
#'   [merge][merge.sparsegp], more of [lm()]'s ([frames]) and those of [other
#'   packages][other-packages]. Fits by `method_online()` keep no rows, so `fitted`, `residuals` and
#'   predictions without `newdata` are errors.
#'
#'   Bad input is an error of class `sparsegp_error` that names the argument and the remedy.
#' @concept kriging
#' @concept Gaussian process regression
#' @concept emulator
#' @concept surrogate
#' @concept sparse GP
#' @concept inducing points
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' fit
#' predict(fit, data.frame(speed = c(10, 20)), interval = "prediction")
#'
#' fit <- sparsegp(factor(am) ~ wt + hp, mtcars, likelihood = "probit")
#' predict(fit, mtcars[1:3, ], type = "prob")
#'
#' fit <- sparsegp(Species ~ Petal.Length + Petal.Width, iris[1:25 * 6, ])
#' summary(fit)
#'
#' set.seed(1)
#' d <- data.frame(x = runif(25, 0, 3), y = runif(25, 0, 3))
#' d$u <- sin(d$y) + 0.1 * rnorm(25)
#' d$v <- cos(d$x) + 0.1 * rnorm(25)
#' fit <- sparsegp(cbind(u, v) ~ x + y, d, kernel = kernel_helmholtz())
#' predict(fit, d[1:2, ], se.fit = TRUE)
#' @export
sparsegp <- function(x, ...) UseMethod("sparsegp")

#' @rdname sparsegp
#' @export
sparsegp.formula <- function(formula, data, likelihood = NULL, kernel = NULL, weights, offset,
                             subset, na.action, method = NULL, learn = TRUE, structure = NULL,
                             scale = NULL, basis = NULL, mean = NULL, control = gp_control(), ...) {
  call <- with_own_words(match.call(), parent.frame())
  if ("family" %in% ...names()) return(eval(with_family(call), parent.frame()))
  check_control(control, ...)
  call[[1L]] <- quote(sparsegp)
  if (!missing(offset)) {
    refuse_if(is.character(call$offset), "offset", "is text",
              "Give an expression in the variables of `data`, not text")
    call$formula <- formula <- with_offset(formula, call$offset)
    call$offset <- NULL
  }
  if (!is.null(control$like)) return(fit_like(call, control, parent.frame()))
  refuse_if(length(formula) < 3L, "formula", "has no response", "Write it as response ~ inputs")
  groups <- read_group_terms(formula, if (!is.null(kernel)) as_kernel(kernel))
  if (!is.null(groups)) {
    call$formula <- formula <- groups$formula
    call$kernel <- groups$kernel
    kernel <- eval(groups$kernel)
  }
  check_foreign_terms(formula)
  setup <- check_setup(likelihood, kernel, method, learn, structure, scale, basis, mean, control)
  setup["coding"] <- list(control$coding)
  data <- if (!missing(data)) evaluated(data, "data", "cannot be evaluated", "Give a data frame")
  source <- source_for(data, formula, call, setup)
  recipe <- new_recipe(formula, call, parent.frame(), setup$likelihood, time_column(setup$method),
                       drop = is.null(source) && !setup$streams)
  fit <- if (!is.null(source)) {
    if (!is.null(setup$augment)) {
      refuse_augment("is for rows in memory, and these come from a row_source()")
    }
    blaming("data", fit_source(source, recipe, setup, control$checkpoint))
  } else {
    refuse_checkpoint(control$checkpoint)
    first <- first_rows(recipe, data, setup)
    if (setup$streams) {
      blaming("data", start_stream(first$rows, first$setup, first$recipe$terms, first$clocks))
    } else {
      made <- fit_read(first$recipe, first$rows, first$setup)
      made$clocks <- first$clocks
      with_frame(made, first$rows$x)
    }
  }
  fit$call <- call
  integrated_fit(packed_fit(fit), setup)
}

# Returns data as a source of the columns that a call names, or NULL, see as_source().
source_for <- function(data, formula, call, setup) {
  source <- as_source(data)
  if (is.null(source)) return(NULL)
  others <- c(as.character(time_column(setup$method)), setup$likelihood$custom$data)
  narrowed_to(source, variables_of_call(list(formula, setup$mean), call, others))
}

# Returns the call with what its user wrote in place of `..1`, which stands for an argument that a
# function passes on as `...`. frame: of that function.
with_own_words <- function(call, frame) {
  symbols <- which(vapply(as.list(call), is.symbol, NA))
  words <- vapply(as.list(call)[symbols], as.character, "")
  passed <- grepl("^[.][.][0-9]+$", words)
  written <- if (any(passed)) as.list(eval(quote(substitute(list(...))), frame))[-1L]
  call[symbols[passed]] <- written[as.integer(substring(words[passed], 3L))]
  call
}

# Returns a call whose `family`, as glm() names it, is the likelihood.
with_family <- function(call) {
  refuse_if(!is.null(call$likelihood), "family", "is given beside `likelihood`", "Give one")
  call[[1L]] <- sparsegp # as found here, and not where the call is evaluated
  call$likelihood <- NULL
  names(call)[names(call) == "family"] <- "likelihood"
  call
}

#' @rdname sparsegp
#' @export
sparsegp.default <- function(x, y, likelihood = NULL, kernel = NULL, weights = NULL, offset = NULL,
                             na.action = NULL, method = NULL, learn = TRUE, structure = NULL,
                             scale = NULL, basis = NULL, mean = NULL, control = gp_control(), ...) {
  call <- with_own_words(match.call(expand.dots = TRUE), parent.frame())
  if ("family" %in% ...names()) return(eval(with_family(call), parent.frame()))
  call[[1L]] <- quote(sparsegp)
  if ("formula" %in% names(call) || !missing(y) && inherits(y, "formula")) {
    first <- formula_first(call)
    if (identical(first, call)) { # which has brought us here
      stop_sparsegp("formula", "is not a formula", "Write it as response ~ inputs")
    }
    return(eval(first, parent.frame()))
  }
  if (!is.null(check_class(control, "sparsegp_control", "control", "Give gp_control()")$like)) {
    check_dots_beside_like(...)
    return(fit_like(call, control, parent.frame()))
  }
  if (missing(x)) stop_sparsegp("x", "is missing", "Give a formula or a matrix first")
  refuse_if(is.character(x), "x", "is text", "Give numbers, or write the formula without quotes")
  check_control(control, ...)
  setup <- check_setup(likelihood, kernel, method, learn, structure, scale, basis, mean, control)
  y <- if (!missing(y)) plain_column(y, "y")
  setup <- complete_setup(setup, y, weights)
  lik <- setup$likelihood
  weights <- weights_of_fit(lik, weights, NROW(x))
  refuse_if(!is.null(time_column(setup$method)),
            clock_argument(setup$method), "names a column, and the rows are a matrix",
            "Fit a formula, or give a half-life in rows")
  recipe <- new_matrix_recipe(na.action, lik)
  rows <- read_rows(recipe, x, y, offset, weights)
  names <- colnames(rows$x)
  setup$kernel <- share_inputs(setup$kernel, names, names)
  setup["na.action"] <- list(na.action)
  if (chunk_size(rows) == 0L && !setup$streams) {
    if (is.null(rows$omitted)) stop_sparsegp("x", "has no rows", "Give one row per observation")
    stop_incomplete("x", c(as.list(as.data.frame(check_inputs(x))), list(y = y),
                           list("(weights)" = weights)[!is.null(weights)]))
  }
  fit <- if (setup$streams) blaming("x", start_stream(rows, setup))
         else fit_read(recipe, rows, setup)
  fit$call <- call
  integrated_fit(packed_fit(fit), setup)
}

# Returns the call with the formula first, where the data stand there: d |> sparsegp(y ~ x), or
# sparsegp(data = d, formula = y ~ x).
formula_first <- function(call) {
  names <- names(call)
  if (all(c("data", "x") %in% names)) stop_sparsegp("x", "is given beside `data`", "Give one")
  if (!"formula" %in% names) names[names == "y"] <- "formula"
  if (!"data" %in% names) names[names == "x"] <- "data"
  names(call) <- names
  call[c(1L, order(names[-1L] != "formula") + 1L)]
}

# Every argument that is not data, checked.
check_setup <- function(likelihood = NULL, kernel = NULL, method = NULL, learn = TRUE,
                        structure = NULL, scale = NULL, basis = NULL, mean = NULL,
                        control = gp_control()) {
  if (!is.null(kernel)) kernel <- as_kernel(kernel)
  likelihood <- as_likelihood(evaluated(likelihood, "likelihood", "cannot be made", paste(
    "It is not looked up in `data`: for known variances of rows write",
    "lik_gaussian(variance = data$column)"
  )))
  method <- as_method(method, control$effort)
  search <- as_learn(learn)
  refuse_if(!is.null(scale) && !is_flag(scale) && !is_word(scale, c("common", "log")),
            "scale", "must be TRUE, FALSE, \"common\", \"log\" or NULL",
            paste("TRUE divides every input by its own standard deviation, \"common\" all by",
                  "one; \"log\" takes logarithms of skewed inputs before"))
  check_criterion(search, method, basis)
  if (streams(method)) refuse_rows_of_likelihood(likelihood)
  list(likelihood = likelihood, kernel = kernel, method = method,
       streams = streams(method), control = search, prior = control$prior,
       scale = scale, keep_x = control$keep_x, verbose = control$verbose, basis = basis,
       augment = check_augment(control$augment, basis, streams(method)),
       structure = check_structure(structure), integrate = control$integrate,
       mean = check_mean(mean))
}

check_structure <- function(structure) {
  if (is.null(structure) || identical(structure, "fixed") || is_known_structure(structure)) {
    return(structure)
  }
  stop_sparsegp("structure", "must be NULL or \"fixed\"",
                "Leave it out for a model whose structure is chosen, or give a kernel")
}
