# Fits like another.

# What a fit like another takes from it, so that nothing else may say it.
FROM_LIKE <- c("likelihood", "kernel", "method", "learn", "prior", "scale", "subset", "na.action",
               "augment")

# sparsegp(like = fit): `call` is the user's, its arguments evaluated in `frame`.
fit_like <- function(like, call, frame) {
  check_class(like, "sparsegp", "like", "Give a fit of sparsegp()")
  like <- check_fit_or_waiting(like, "like")
  refuse_no_state(like, "like")
  said <- intersect(names(call), FROM_LIKE)
  if (length(said)) {
    stop_sparsegp(said[1L], "comes from `like`", "Leave it out, or leave `like` out")
  }
  given <- function(name) eval(call[[name]], frame)
  empty <- with_points(without_rows(like, given("keep_x")), given("basis"))
  chunk <- if (is.null(like$terms)) {
    blaming("x", more_rows_of_matrix(like, given("x"), given("y"), given("offset"),
                                     given("weights")))
  } else {
    check_same_formula(like, given("formula"))
    data <- given("data")
    if (is.null(data)) data <- given("x") # d |> sparsegp(like = fit)
    if (is.null(data)) stop_sparsegp("data", "is missing", "Give the rows of the new fit")
    source <- as_source(data)
    if (!is.null(source)) {
      fit <- blaming("data", fold_like(empty, source, call$weights, isTRUE(given("verbose")),
                                       given("checkpoint")))
      fit$call <- call
      return(fit)
    }
    refuse_checkpoint(given("checkpoint"))
    blaming("data", more_rows_of_formula(like, data, given("weights")))
  }
  if (chunk_size(chunk) == 0L) stop_incomplete("data")
  fit <- blaming(if (is.null(like$terms)) "x" else "data", feed(empty, chunk))
  fit["learning"] <- list(NULL)
  fit$call <- call
  fit
}

# The fit without rows on other points: a data frame, or a matrix with the inputs' columns.
with_points <- function(empty, basis) {
  if (is.null(basis)) return(empty)
  if (is.null(dim(basis))) {
    stop_sparsegp("basis", "must be points, beside `like`",
                  "Give a data frame, or a matrix with the inputs' columns")
  }
  # a matrix has the columns of the model matrix, here as in a first call
  by_column <- is.matrix(basis) && !is.null(empty$terms)
  x <- refuse_unseen("basis", blaming("basis", {
    if (by_column) new_inputs_matrix(empty, basis, NULL)$x else new_inputs(empty, basis)$x
  }))
  check_no_missing(basis = x)
  points <- unique(scaled_inputs(check_finite_inputs(x, "basis"), empty$scaling))
  points <- tall_inputs(points, n_outputs(empty))
  states <- lapply(seq_along(empty$state), function(g) {
    found <- joint_basis(empty, points, g)
    d <- nrow(found$R)
    each <- ncol(empty$state[[g]]$t)
    list(points = found$x, R = found$R, S = matrix(0, d, d * each), t = matrix(0, d, each))
  })
  on_points(empty, states)
}

# The fit with the posterior of states, each on its own `points`.
on_points <- function(fit, states) {
  points <- lapply(states, `[[`, "points")
  fit$state <- lapply(states, `[`, c("R", "S", "t"))
  if (is.null(fit$posterior$each)) fit$posterior$basis <- points[[1L]]
  else {
    fit$posterior$each <- Map(utils::modifyList, fit$posterior$each,
                              lapply(points, function(own) list(basis = own)))
    fit$posterior$basis <- unique(do.call(rbind, points))
  }
  with_posterior(fit)
}

check_same_formula <- function(like, formula) {
  if (is.null(formula)) return(invisible())
  same <- identical(deparse(stats::formula(like)), deparse(stats::formula(formula)))
  written <- identical(deparse(like$call$formula), deparse(formula)) # a dot stands in both
  if (same || written) return(invisible())
  stop_sparsegp("formula", "is not that of `like`", "Leave it out")
}
