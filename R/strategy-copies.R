# Virtual informative vectors (IVM paper, 6.5; Schoelkopf and Smola 2002, 11.3). When a fit has its
# points, copies of them that mean the same (data-copies.R) join the rows, and the method chooses
# again, among all. Points that were not chosen lie where the function does not depend on them, so
# that copies of these would add little.
#
# Copies have sites as rows do. Leave-one-out predictions of a row leave out its copies, too: its
# cavity is without their sites, as these contain its label.
#
#   asked     the method as the user gave it, or left it open
#   vectors   the rows that carry the fit, or a list of those of each latent function
#   with      (rows) -> list(problem, of): the plan's rows, and after them copies of these, the
#             i-th of row of[i]
#   logz      log evidence of the rows without copies
#   sites     of the rows without copies
plan_copies <- function(problem, asked, vectors, with, logz, sites) {
  new_plan("plan_copies", problem, asked = asked, vectors = vectors, with = with, logz = logz,
           sites = sites)
}

#' @export
run_plan.plan_copies <- function(plan, theta) {
  run <- one_vs_rest(plan$problem, theta, function(theta, class) {
    run_with_copies(plan, theta, class)
  })
  if (run$status == 0L) run$logz <- plan$logz
  run
}

# class: the one latent function, of several, that theta is of.
run_with_copies <- function(plan, theta, class) {
  vectors <- plan$vectors
  if (is.list(vectors)) {
    vectors <- if (is.null(class)) unique(unlist(vectors)) else vectors[[class]]
  }
  made <- plan$with(vectors)
  problem <- problem_of_class(made$problem, class)
  basis <- list(rows = seq_len(problem_rows(problem)))
  again <- among_copies(plan_for(plan$asked, problem, basis), copied_sites(plan, made$of, class))
  again <- plan_unlearned(again, list(theta = theta))$plan
  run <- run_plan(again, theta)
  if (run$status != 0L) return(run)
  run$options <- again$problem$options
  without_copies(run, problem, theta, made$of, problem_of_class(plan$problem, class))
}

# A copy begins with the site of its row.
copied_sites <- function(plan, of, class) {
  rows <- c(seq_len(problem_rows(plan$problem)), of)
  lapply(plan$sites, function(each) {
    each <- some_rows(each, rows)
    if (is.null(class)) each else each[, class]
  })
}

# ---- What is said of the rows ----

OF_ROWS <- c("tau", "nu", "mean", "var", "cav_mean", "cav_var")

# The run as one of its rows, those of the problem `alone`, each with all of its weight.
without_copies <- function(run, problem, theta, of, alone) {
  n <- problem_rows(alone)
  cavities <- apart_from_copies(run, problem, theta, of)
  for (field in OF_ROWS) run[[field]] <- some_rows(run[[field]], seq_len(n))
  run[c("cav_mean", "cav_var")] <- cavities
  if (!all(run$cav_var > 0)) return(list(status = catalogue()$statuses[["not_finite"]]))
  run$lpd <- engine_tilt(alone, theta, run$cav_mean, run$cav_var)$logz
  with_origins(run, n, of)
}

# Points by the rows that they are, or are copies of. basis_copies: which copy of its row a point
# is, 0 for the row itself. copies: how many rows have copies, how many these are, how many points
# there are, and how many of them are copies.
with_origins <- function(run, n, of) {
  row <- c(seq_len(n), of)
  number <- c(integer(n), stats::ave(of, of, FUN = seq_along))
  run$basis_copies <- number[run$basis_rows]
  run$basis_rows <- row[run$basis_rows]
  run["basis_rows_of"] <- list(if (!is.null(run$basis_rows_of)) {
    lapply(run$basis_rows_of, function(points) row[points])
  })
  trace <- run$selection$trace
  if (!is.null(trace)) {
    run$selection$trace$copy <- number[trace$row]
    run$selection$trace$row <- row[trace$row]
  }
  run$copies <- data.frame(vectors = length(unique(of)), copies = length(of),
                           points = length(run$basis_copies), copied = sum(run$basis_copies > 0))
  run
}

# Cavities of the rows, where they have copies without the sites of these.
apart_from_copies <- function(run, problem, theta, of) {
  n <- problem_rows(problem) - length(of)
  copies <- split(n + seq_along(of), of)
  rows <- as.integer(names(copies))
  found <- lapply(run[c("cav_mean", "cav_var")], some_rows, seq_len(n))
  for (class in seq_len(problem$processes)) {
    each <- class_cavities(run, problem, theta, class, Map(c, rows, copies))
    at <- (class - 1L) * n + rows
    found$cav_mean[at] <- each["mean", ]
    found$cav_var[at] <- each["var", ]
  }
  found
}

COPIES_AT_ONCE <- 2000L # points whose covariances are looked at together

# groups: of rows, each with its copies. The marginal of a group is N(m, C) of what the points carry
# and, of the row itself, a rest of variance r. With sites T and nu it is, without them,
#   C0 = C (I - T C)^-1,   m0 = (I - C T)^-1 (m - C nu),
# of which the row's own entries and r are its cavity.
class_cavities <- function(run, problem, theta, class, groups) {
  of_class <- function(field) matrix(run[[field]], ncol = problem$processes)[, class]
  mean <- of_class("mean")
  var <- of_class("var")
  tau <- of_class("tau")
  nu <- of_class("nu")
  one <- function(group, C) {
    left <- solve(diag(length(group)) - C * rep(tau[group], each = length(group)),
                  cbind(mean[group] - C %*% nu[group], C[, 1L]))
    c(mean = left[[1L, 1L]], var = left[[1L, 2L]] + var[group[1L]] - C[[1L, 1L]])
  }
  block <- cumsum(lengths(groups)) %/% COPIES_AT_ONCE
  do.call(cbind, unname(lapply(split(groups, block), function(groups) {
    mapply(one, groups, carried_covariances(run, problem, theta, class, groups))
  })))
}

# Covariances, under the posterior, of what the points carry of each group of rows. Where all is
# carried, that is all covariance there is.
carried_covariances <- function(run, problem, theta, class, groups) {
  own <- class_kernel_theta(theta[seq_len(problem$nkernel)], problem$lik, problem$processes, class)
  posterior <- class_posterior(run, class)
  rows <- unlist(groups)
  cross <- kernel_matrix(problem$spec, own, posterior$basis, problem$x[rows, , drop = FALSE])
  seen <- crossprod(if (is.null(posterior$H)) posterior$G else posterior$H, cross)
  place <- split(seq_along(rows), rep(seq_along(groups), lengths(groups)))
  Map(function(at, group) {
    C <- crossprod(seen[, at, drop = FALSE])
    if (!is.null(posterior$H)) return(C)
    x <- problem$x[group, , drop = FALSE]
    kernel_matrix(problem$spec, own, x, x) - C
  }, place, groups)
}
