# Fits like another.

# Arguments whose values a fit like another takes from it, of sparsegp() and of gp_control().
FROM_LIKE <- c("likelihood", "kernel", "method", "learn", "scale", "subset", "na.action",
               "structure", "mean")
CONTROL_FROM_LIKE <- c("prior", "augment", "coding")

# sparsegp(control = gp_control(like = fit)): `call` is the user's, its arguments evaluated in
# `frame`.
fit_like <- function(call, control, frame) {
  like <- check_fit_or_waiting(control$like, "like")
  refuse_no_state(like, "like")
  like <- full_sums(like)
  given <- !vapply(control[CONTROL_FROM_LIKE], is.null, NA)
  said <- c(intersect(names(call), FROM_LIKE), CONTROL_FROM_LIKE[given])
  refuse_if(length(said), said[1L], "comes from `like`", "Leave it out, or leave `like` out")
  given <- function(name) eval(call[[name]], frame)
  empty <- with_points(without_rows(like, control$keep_x), given("basis"))
  fit <- if (is.null(like$terms)) {
    blaming("x", feed_all(empty, given("x"), given("y"), given("offset"), given("weights")))
  } else {
    check_same_formula(like, given("formula"))
    data <- given("data")
    if (is.null(data)) data <- given("x") # d |> sparsegp(control = gp_control(like = fit))
    if (is.null(data)) stop_sparsegp("data", "is missing", "Give the rows of the new fit")
    # an offset beside a formula has become a part of it (sparsegp.formula())
    refuse_if(!is.null(call$offset) && is.null(call$formula), "offset",
              "is a part of the formula of `like`", "Leave it out: it is read with the rows")
    weights <- eval(call[["weights"]], if (is.data.frame(data)) data, frame)
    source <- as_source(data)
    if (is.null(source)) refuse_checkpoint(control$checkpoint)
    blaming("data", if (is.null(source)) feed_all(empty, data, weights = weights)
                    else chunked_like(empty, source, call$weights, control$verbose,
                                      control$checkpoint))
  }
  fit$call <- call
  fit
}

# Stops at arguments beside `like` that sparsegp() has for neither a formula nor a matrix.
check_dots_beside_like <- function(data, formula, subset, ...) check_control(gp_control(), ...)

# Returns a fit without rows with these, of which there is at least one.
feed_all <- function(empty, ...) {
  rows <- read_rows(recipe_of(empty), ...)
  if (chunk_size(rows) == 0L) stop_incomplete("data")
  fit <- feed(empty, rows)
  fit["learning"] <- list(NULL)
  fit
}

# Returns the fit without rows on other points: a data frame, or a matrix with the inputs' columns.
with_points <- function(empty, basis) {
  if (is.null(basis)) return(empty)
  refuse_if(is.null(dim(basis)), "basis", "must be points, beside `like`",
            "Give a data frame, or a matrix with the inputs' columns")
  x <- check_whole_inputs(read_basis(recipe_of(empty), basis), "basis")
  points <- stack_components(unique(scaled_inputs(x, empty$scaling)), n_outputs(empty))
  states <- lapply(seq_along(empty$state), function(g) {
    found <- joint_basis(empty, points, g)
    d <- nrow(found$R) + length(empty$posterior$trend$coef)
    each <- ncol(empty$state[[g]]$t)
    list(points = found$x, R = found$R, S = matrix(0, d, d * each), t = matrix(0, d, each))
  })
  on_points(empty, states)
}

check_same_formula <- function(like, formula) {
  if (is.null(formula)) return(invisible())
  same <- identical(deparse(stats::formula(like)), deparse(stats::formula(formula)))
  written <- identical(deparse(like$call$formula), deparse(formula)) # a dot stands in both
  refuse_if(!same && !written, "formula", "is not that of `like`", "Leave it out")
}
