#' Fit a Gaussian-process model
#'
#' Regression or classification with a Gaussian-process prior on the latent function, by expectation
#' propagation. Hyperparameters are chosen by maximising the log evidence plus log [priors].
#'
#' The formula method prepares the response and the model matrix as [lm()] does (factors and
#' interactions are coded by contrasts, without an intercept column) and calls the default method.
#'
#' @section What happens to the data:
#' Rows with missing values are left to `na.action`; a missing response is no reason to leave a row
#' out where the likelihood is for rows without labels, [lik_nullcat()]. Inputs are centred and
#' divided by their standard deviations when `scale = TRUE`; a constant input is kept out and
#' reported. For regression a constant (the mean of the response less the offset) is removed from
#' the response and added again at prediction, and the response is standardised inside, so that
#' adding 100 to it or multiplying it by 1e100 changes nothing else.
#'
#' @section The response:
#' Numbers: regression, unless a binary likelihood is given, which then takes 0/1 or -1/1. A
#' logical, or a factor or character vector with two levels: classification; the model is for the
#' probability of the second level. With more levels: one model of all classes by [lik_mprobit()],
#' or each class against the rest if `lik_probit()` or `lik_logit()` is asked for. Whole numbers are
#' classes for `lik_mprobit()` and `lik_softmax()`. An ordered factor with more than two levels:
#' ordered categories, by [lik_ordinal()], which also takes whole numbers and plain factors if asked
#' for.
#'
#' @section Convergence:
#' For streams `fit$convergence` holds `fates`, the number of rows that were projected, declined,
#' added, exchanged or skipped (see [methods]), and `trace`, see [plot][plot.sparsegp]. For fits of
#' all rows at once `fit$convergence` records `sweeps`, `change` (the largest distance of
#' a tilted moment from the posterior's), `converged`, `damped` and `sequential` (sweeps), `skipped`
#' (refused site updates), `widening` (sites of negative precision), `flat` (rows that were kept
#' from having one, see [likelihoods]) and `trace` (log evidence and change, sweep by sweep);
#' `fit$learning` the search. `print()` and `summary()` say when something did not
#' converge, and there is one warning.
#'
#' @param x For the default method a numeric matrix, numeric vector or data frame of numbers with a
#'   row per observation and a column per input; for the formula method a `formula`.
#' @param formula,data Model formula, and a data frame (or environment) to find its variables in.
#'   Terms `offset()` are known prior means of the latent function.
#' @param y Response: one value per row, see below.
#' @param likelihood `NULL` (chosen from the response), a [likelihood][likelihoods], its name, or an
#'   R `family`.
#' @param kernel A [kernel][kernels]; default `kernel_rbf()`.
#' @param method `NULL` (full EP for up to 1000 rows, fewer with several classes, and EP on a given
#'   `basis`, else `method_ep()` with a size that grows with the rows, see [methods]), a
#'   [method][methods] such as `method_ep(size = 100)`, `method_ivm()` or `method_online()`, or its
#'   name.
#' @param learn `TRUE` (learn all hyperparameters that are not `fixed()`), `FALSE`, or a
#'   [learn_control()].
#' @param prior Named list of [priors] that replace the defaults.
#' @param basis `NULL`: left to the method. Or the points that carry the latent function: row
#'   numbers (counted among the rows used; a stream waits until they have come), a matrix with the
#'   inputs' columns, or for formulas a data frame. All rows contribute through them
#'   ([method_ep()]); time and memory grow with the number of rows times the square of, and times,
#'   the size of the basis.
#' @param subset Rows to use, an expression in the variables of `data`, as in [lm()].
#' @param weights Positive numbers: the noise variance of a row is `noise / weight`. Gaussian
#'   likelihood only (for known variances see [lik_gaussian()]), and trials of `lik_binomial()`.
#' @param na.action What to do with rows with missing values: a function such as [na.omit()] or
#'   [na.exclude()]; default `getOption("na.action")`.
#' @param offset Known prior mean of the latent function, one number per row. Not with
#'   `lik_mprobit()` and `lik_softmax()`, which do not notice what all classes have in common.
#' @param scale Standardise the inputs? Kernel arguments and `coef()` are then in scaled units.
#' @param keep_x Keep the inputs in the fit (for plots)? Default: with at most two inputs, and
#'   always when the posterior needs all rows, as full EP does; never for streams.
#' @param verbose Show how learning goes: a progress bar, or where R is not interactive a line for
#'   every evaluation?
#' @param ... Nothing: an unknown argument is an error.
#' @return An object of class `sparsegp`, plain R data that can be saved. Methods: `print`,
#'   [summary][summary.sparsegp], [predict][predict.sparsegp], [plot][plot.sparsegp], `coef`
#'   (hyperparameters on the natural scale), `fitted`, [residuals][residuals.sparsegp], `logLik`
#'   (log evidence), `nobs`, `formula`, [update][update.sparsegp], [simulate][simulate.sparsegp],
#'   [draws()], [sites()], [loo_lpd()], [basis()], [kl()]. Fits by `method_online()` keep no rows:
#'   `fitted`, `residuals`, `sites`, `loo_lpd` and predictions without `newdata` are errors.
#'
#'   Bad input is an error of class `sparsegp_error` that names the argument and the remedy.
#' @references Minka, T. P. *Gaussian EP* (update formulas), eqs 71-94. Seeger, M. (2002). *Notes on
#'   Minka's expectation propagation for Gaussian process classification*.
#' @examples
#' fit <- sparsegp(dist ~ speed, cars)
#' fit
#' predict(fit, data.frame(speed = c(10, 20)), interval = "prediction")
#'
#' crabs <- MASS::crabs[c(1:20, 51:70), ]
#' fit <- sparsegp(sex ~ FL + RW, crabs, likelihood = "probit")
#' predict(fit, crabs[1:3, ], type = "prob")
#'
#' fit <- sparsegp(Species ~ Petal.Length + Petal.Width, iris)
#' summary(fit)
#' @export
sparsegp <- function(x, ...) UseMethod("sparsegp")

#' @rdname sparsegp
#' @export
sparsegp.formula <- function(formula, data, likelihood = NULL, kernel = kernel_rbf(),
                             method = NULL, learn = TRUE, prior = NULL, basis = NULL, subset,
                             weights, na.action, scale = TRUE, keep_x = NULL, verbose = FALSE,
                             ...) {
  check_no_dots(...)
  call <- match.call()
  call[[1L]] <- quote(sparsegp)
  if (length(formula) < 3L) {
    stop_sparsegp("formula", "has no response", "Write it as response ~ inputs")
  }
  setup <- check_setup(likelihood, kernel, method, learn, prior, scale, keep_x, verbose, basis)
  streams <- setup$streams
  frame <- model_frame(match.call(), parent.frame(), drop = !streams, likelihood = likelihood)
  terms <- attr(frame, "terms")
  if (NROW(frame) == 0L && !streams) stop_sparsegp("data", "has no complete rows")
  setup["likelihood"] <- list(for_trials(likelihood, stats::model.response(frame, "any")))
  fit <- if (streams) start_stream(frame_chunk(frame, setup$likelihood), setup, terms)
         else fit_formula(frame, terms, setup)
  fit$call <- call
  fit$terms <- terms
  if (!streams) {
    fit$na.action <- attr(frame, "na.action")
    fit$row_names <- rownames(frame)
  }
  fit
}

fit_formula <- function(frame, terms, setup) {
  inputs <- model_inputs(terms, frame)
  setup$basis <- formula_basis(setup$basis, terms, frame, inputs$x)
  chunk <- frame_chunk(frame, setup$likelihood)
  chunk$x <- inputs$x
  fit <- fit_rows(chunk, setup, inputs$terms)
  fit$xlevels <- stats::.getXlevels(terms, frame)
  fit$contrasts <- attr(inputs$x, "contrasts")
  fit
}

# Rows as they come: inputs (a model frame, or a matrix), response, offset, weights.
frame_chunk <- function(frame, likelihood) {
  read_trials(list(x = frame, y = stats::model.response(frame, "any"),
                   offset = check_per_row(stats::model.offset(frame), nrow(frame), "offset", 0),
                   weights = stats::model.weights(frame)), likelihood)
}

#' @rdname sparsegp
#' @export
sparsegp.default <- function(x, y, likelihood = NULL, kernel = kernel_rbf(), method = NULL,
                             learn = TRUE, prior = NULL, basis = NULL, weights = NULL,
                             na.action = NULL, offset = NULL, scale = TRUE, keep_x = NULL,
                             verbose = FALSE, ...) {
  call <- match.call()
  call[[1L]] <- quote(sparsegp)
  if (missing(x)) stop_sparsegp("x", "is missing", "Give a formula or a matrix first")
  check_no_dots(...)
  setup <- check_setup(likelihood, kernel, method, learn, prior, scale, keep_x, verbose, basis)
  if (missing(y)) y <- NULL
  setup["likelihood"] <- list(for_trials(likelihood, y))
  refuse_two_weights(likelihood, !is.null(weights))
  if (has_variances(likelihood)) {
    refuse_wrong_count(likelihood$variances, NROW(x))
    weights <- weights_of_variances(likelihood)
  }
  read <- matrix_chunk(x, y, offset, weights, na.action, setup$likelihood)
  if (setup$streams) {
    setup["na.action"] <- list(na.action)
    fit <- start_stream(read$chunk, setup)
  } else {
    if (read$given == 0L) stop_sparsegp("x", "has no rows")
    if (length(read$rows) == 0L) stop_sparsegp("x", "has no complete rows")
    setup$basis <- matrix_basis(basis, read$chunk$x)
    fit <- fit_rows(read$chunk, setup)
    fit$na.action <- read$omitted
    fit$row_names <- read$names
  }
  fit$call <- call
  fit
}

# A matrix of inputs and what goes with it as a chunk of rows: without those `na.action` leaves out.
matrix_chunk <- function(x, y, offset, weights, na.action, likelihood) {
  x <- check_inputs(x)
  n <- nrow(x)
  if (is.null(y)) stop_sparsegp("y", "is missing", "Give one response per row of `x`")
  trials <- read_trials(list(y = y, weights = weights), likelihood)
  y <- trials$y
  weights <- trials$weights
  y <- check_response_length(y, n)
  offset <- check_per_row(offset, n, "offset", 0)
  weights <- if (!is.null(weights)) check_per_row(weights, n, "weights", 1, positive = TRUE)
  frame <- data.frame(x = I(x), offset = offset)
  if (!takes_unlabelled(likelihood)) frame$y <- I(y)
  frame$weights <- weights
  omitted <- attr(apply_na_action(frame, na.action), "na.action")
  rows <- if (is.null(omitted)) seq_len(n) else seq_len(n)[-omitted]
  list(chunk = list(x = if (is.null(omitted)) x else x[rows, , drop = FALSE], # no needless copy
                    y = y[rows], offset = offset[rows], weights = weights[rows],
                    omitted = length(omitted)),
       given = n, rows = rows, omitted = omitted,
       names = if (is.null(rownames(x))) as.character(rows) else rownames(x)[rows])
}

check_response_length <- function(y, n) {
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  if (!is.null(dim(y)) || is.list(y)) {
    stop_sparsegp("y", "must be one vector", "Fit one model per response")
  }
  if (length(y) == n) return(y)
  stop_sparsegp("y", paste0("has ", length(y), " values for ", n, " rows of `x`"))
}

# A frame without missing values is left alone: na.omit() would copy it.
apply_na_action <- function(frame, na.action) {
  if (is.null(na.action)) na.action <- getOption("na.action")
  if (is.null(na.action)) return(frame)
  if (is.character(na.action)) na.action <- get0(na.action, mode = "function")
  if (!is.function(na.action)) stop_sparsegp("na.action", "is not a function", "Use na.omit")
  if (!anyNA(frame, recursive = TRUE)) return(frame)
  tryCatch(na.action(frame), error = function(e) {
    stop_sparsegp("na.action", paste0("refused the data: ", conditionMessage(e)),
                  "Remove the rows with missing values, or use na.action = na.omit")
  })
}

# ---- From numbers to a fit ----

# Every argument that is not data, checked.
check_setup <- function(likelihood, kernel, method, learn, prior, scale, keep_x, verbose, basis) {
  kernel <- called(kernel)
  check_class(kernel, "sparsegp_kernel", "kernel", "Give a kernel_*() value such as kernel_rbf()")
  if (!is.null(keep_x)) check_flag(keep_x, "keep_x")
  method <- as_method(method)
  control <- as_learn(learn)
  check_criterion(control, method, basis)
  refuse_variances_of_stream(likelihood, identical(method$type, "online"))
  list(likelihood = likelihood, kernel = kernel, method = method,
       streams = identical(method$type, "online"), control = control, prior = prior,
       scale = check_flag(scale, "scale"), keep_x = keep_x,
       verbose = check_flag(verbose, "verbose"), basis = basis)
}

# What is read off the rows before anything is learned: response, scaling, and the table of
# hyperparameters with starts and priors. chunk$x is a matrix by now.
read_model <- function(chunk, setup, input_terms = colnames(chunk$x)) {
  x <- chunk$x
  check_finite_inputs(x)
  y <- check_response_length(chunk$y, nrow(x))
  lik <- as_likelihood(setup$likelihood, y, declared = setup$streams)
  check_no_missing(x = x, y = if (!may_lack_labels(lik)) y, offset = chunk$offset,
                   weights = chunk$weights)
  if (!is.null(chunk$weights) && !lik_traits(lik)$weighted) {
    stop_sparsegp("weights", paste0("are not defined for the ", lik$type, " likelihood"),
                  "They divide the noise variance of a Gaussian likelihood; leave them out")
  }
  response <- read_response(y, lik, chunk$offset, chunk$weights, setup$streams)
  scaling <- scale_inputs(x, setup$scale)
  resolved <- resolve_kernel(setup$kernel, list(names = colnames(x), terms = input_terms,
                                                kept = scaling$kept))
  rows <- lik_traits(lik)$data_rows(response$y, response$weights)
  env <- list(response_unit = response$unit, input_scale = scaling$seen, input_unit = scaling$sd,
              input_range = scaling$range)
  if (is_joint(lik) && any(chunk$offset != 0)) {
    stop_sparsegp("offset", "shifts the latent functions of all classes alike, which says nothing",
                  "Leave it out, or set each class against the rest by lik_probit()")
  }
  table <- hyper_table(resolved, lik, env, rows, chunk$offset / response$unit, setup$prior,
                       if (response$latents > 1L) response$levels, response$levels)
  list(lik = lik, response = response, scaling = scaling, kernel = resolved,
       spec = spec_for_c(resolved), table = table, rows = rows)
}

# What cannot be had with several latent functions.
check_several <- function(model, setup) {
  method <- setup$method
  chooses <- is.null(setup$basis) && isTRUE(method$size < length(model$response$y))
  if (own_kernels(model$lik) && (method$type == "online" || method$type == "ep" && chooses)) {
    stop_sparsegp("likelihood", paste("has shared = FALSE, and", method$label,
                                      "chooses points for all classes by one kernel"),
                  paste0("Use shared = TRUE, method_ivm(), full EP",
                         if (method$type == "ep") ", or give a `basis`"))
  }
  if (model$response$latents == 1L || method$type != "ivm") return(invisible())
  if (method$refine == "active") {
    stop_sparsegp("method", "has refine = \"active\", which is for one latent function",
                  "Use refine = \"basis\" or \"none\"")
  }
  if (method$exchange > 0) {
    stop_sparsegp("method", "has exchange moves, which are for one latent function",
                  "Use exchange = 0, or method_ep(size =)")
  }
}

# What C needs but hyperparameters (engine.R).
problem_of <- function(model, chunk, method) {
  list(x = scaled_inputs(chunk$x, model$scaling), kernel = model$kernel, spec = model$spec,
       nkernel = sum(model$table$part == "kernel"), lik = model$lik, rows = model$rows,
       latents = model$response$latents,
       offset = chunk$offset / model$response$unit, method = method)
}

fit_rows <- function(chunk, setup, input_terms = colnames(chunk$x)) {
  model <- read_model(chunk, setup, input_terms)
  if (is.null(setup$method)) {
    setup$method <- default_method(nrow(chunk$x), setup$basis, model$response$latents)
  }
  check_several(model, setup)
  problem <- problem_of(model, chunk, setup$method)
  basis <- resolve_basis(setup$basis, problem$x, model$scaling)
  problem$basis <- basis$x
  problem$chosen <- basis$rows
  learned <- learn_model(problem, model$table, setup$control, setup$verbose)
  run <- check_run(final_run(learned$problem, learned), learned$table)
  warn_about(run, learned$record)
  fit <- new_fit(model, setup, learned, run, nrow(problem$x))
  fit$convergence <- convergence_of(run, fit$log_evidence - run$logz)
  keep_rows(fit, chunk, model, run, setup$keep_x)
}

# One warning at most: learning cannot settle where EP did not.
warn_about <- function(run, record) {
  if (run$converged) return(warn_about_search(record))
  warn_sparsegp("EP did not converge in ", counted(run$sweeps, "sweep"), " (change ",
                signif(run$change, 3), "); raise method_ep(sweeps =) or lower its damping.")
}

# What every fit has; n: rows seen.
new_fit <- function(model, setup, learned, run, n) {
  response <- model$response
  structure(
    list(
      likelihood = model$lik, kernel = setup$kernel, method = setup$method,
      hyper = learned$table, learning = learned$record, spec = model$spec,
      scaling = model$scaling, response = response[c("centre", "unit", "levels", "latents")],
      posterior = c(run[c("basis", "alpha", "G", "H")], list(each = run$each)),
      basis_rows = run$basis_rows, basis_rows_of = run$basis_rows_of,
      jitter = run$jitter, n = n,
      log_evidence = run$logz - n * log(response$unit), # a density of y, not of y / unit
      # what only a fit of all rows at once fills in (keep_rows()); a stream's keeps none
      x = NULL, y = NULL, data_rows = NULL, offset = NULL, weights = NULL, latent = NULL,
      cavity = NULL, sites = NULL
    ),
    class = "sparsegp"
  )
}

# How EP went. shift: from the evidence in C's units to that of the response.
convergence_of <- function(run, shift) {
  trace <- data.frame(sweep = seq_len(ncol(run$trace)), log_evidence = run$trace[1L, ] + shift,
                      change = run$trace[2L, ])
  if (any(run$exchanges > 0)) trace$exchanges <- run$exchanges
  selection <- run$selection
  if (!is.null(selection$trace$log_evidence)) {
    selection$trace$log_evidence <- selection$trace$log_evidence + shift
  }
  c(run[c("sweeps", "change", "converged", "damped", "sequential", "skipped")],
    list(flat = run$flat, widening = sum(run$tau < 0), trace = trace, selection = selection))
}

# What a fit of all rows at once knows of each of them.
keep_rows <- function(fit, chunk, model, run, keep_x) {
  response <- model$response
  x <- chunk$x
  attr(x, "contrasts") <- NULL
  fit$y <- if (is.null(response$levels)) response$given
           else class_factor(response$y, response$levels, model$lik)
  fit$data_rows <- model$rows
  fit$offset <- chunk$offset
  fit["weights"] <- list(response$weights)
  by_class <- function(...) {
    if (response$latents == 1L) list(...) else lapply(list(...), `colnames<-`, response$levels)
  }
  fit$latent <- by_class(mean = run$mean, var = run$var)
  fit$cavity <- c(by_class(mean = run$cav_mean, var = run$cav_var), list(lpd = run$lpd))
  fit$sites <- by_class(tau = run$tau, nu = run$nu)
  if (is.null(keep_x)) keep_x <- ncol(x) <= 2L
  if (keep_x) fit[["x"]] <- x
  fit
}
