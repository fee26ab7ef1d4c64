#' Federated fits: rows that stay where they are
#'
#' @description Rows of several hospitals, machines or days can be fitted where they are: every
#' place makes a fit of its own rows on a common basis, and the fits are merged. Rows do not travel;
#' what travels is the fit of each place.
#'
#' *Experimental: `shard()` may change in a minor version, see [stability].*
#'
#' @details
#' 1. One place makes the first fit, from its own rows or from simulated ones. It
#'    determines kernel, hyperparameters, scaling, removed constant and basis for all.
#' 2. Every place makes `sparsegp(data = its rows, control = gp_control(like = first))`;
#'    `data` may be a [row_source()].
#' 3. `merge()` of all these fits is the fit of all rows: exactly so with Gaussian noise, and with
#'    other likelihoods but for sites that were found among the rows of one place (see
#'    [merge][merge.sparsegp]). The first fit is one of those merged only if its rows are to count.
#'
#' @section What leaves a place:
#' `shard(fit)` is the fit without anything about single rows, as it may be sent: no inputs, no
#' responses, nothing of the environment the formula was written in. What it does hold is
#'
#' * the *points of the basis: these are rows*, all their inputs, unless `basis =` was given. Where
#'   no row may be shown, give points that are no rows: a grid, public rows, or random draws within
#'   the ranges of the inputs; twice as many of them carry about as much;
#' * means and standard deviations of inputs and response, names and levels of factors, and
#'   hyperparameters, all of the rows of the *first* fit;
#' * two sums over its own rows, \eqn{S}{S} and \eqn{t}{t}: with d points d (d + 3) / 2 numbers,
#'   their number, and the log evidence. Sums over few rows can give a row away: for one row with
#'   Gaussian noise they are its inputs (projected on the basis) and its response. Every place
#'   should have many more rows than there are points; sums do not add noise, as differential
#'   privacy requires.
#'
#' @section On a cluster:
#' ```
#' first <- sparsegp(y ~ x + z, some_rows, method = method_ep(size = 200))
#' cl <- parallel::makeCluster(hosts)
#' parallel::clusterExport(cl, "first")
#' fits <- parallel::parLapply(cl, files, function(file) {
#'   library(sparsegp)
#'   shard(sparsegp(data = row_source(file), control = gp_control(like = first)))
#' })
#' all <- Reduce(merge, fits)
#' ```
#'
#' @section On Spark:
#' Every partition gives its fit as a line of text, `sparklyr::spark_apply()` collects them. (The
#' part that runs in R is tested; the call of Spark is not.) A partition should have many
#' times as many rows as there are points, if necessary after `sdf_repartition()`. R and this
#' package are needed on every node.
#' ```
#' lines <- sparklyr::spark_apply(table, function(rows, first) {
#'   fit <- sparsegp::sparsegp(data = rows, control = gp_control(like = first))
#'   data.frame(fit = paste(serialize(sparsegp::shard(fit), NULL), collapse = ""))
#' }, context = shard(first), columns = list(fit = "character"))
#' of_text <- function(text) {
#'   bytes <- substring(text, seq(1, nchar(text), 2), seq(2, nchar(text), 2))
#'   unserialize(as.raw(strtoi(bytes, 16L)))
#' }
#' all <- Reduce(merge, lapply(dplyr::collect(lines)$fit, of_text))
#' ```
#'
#' @param fit A fit of [sparsegp()] on a basis, see [merge][merge.sparsegp], or a stream's after
#'   its pilot.
#' @return The fit as it may be sent. It predicts, merges, accepts rows and serves as `like`, as
#'   before; functions that need its rows (`fitted()`, `loo_lpd()`) are errors. Errors, of class
#'   `sparsegp_error`: full EP, whose posterior is made of all rows; a stream that waits, which
#'   holds rows.
#' @examples
#' set.seed(1)
#' rows <- function(n) {
#'   d <- data.frame(x = runif(n, -2, 2))
#'   transform(d, y = sin(3 * x) + 0.2 * rnorm(n))
#' }
#' # points that are nobody's rows
#' points <- data.frame(x = seq(-2, 2, length.out = 12))
#' first <- sparsegp(y ~ x, rows(200), basis = points)
#' places <- lapply(c(300, 500), function(n) {
#'   shard(sparsegp(data = rows(n), control = gp_control(like = first)))
#' })
#' Reduce(merge, places)
#' @name shards
#' @export
shard <- function(fit) {
  check_class(fit, "sparsegp", "fit", "Give a fit of sparsegp()")
  refuse_if(inherits(fit, "sparsegp_waiting"), "fit", "is a stream that holds its first rows",
            "Add rows until its pilot sample is complete")
  fit <- check_fit(fit, "fit")
  refuse_no_state.sparsegp(fit, "fit") # of a stream, too
  fit[c(ROW_FIELDS, "x", "frame", "na.action")] <- list(NULL)
  fit[c("basis_rows", "basis_rows_of", "modes")] <- list(NULL)
  fit$convergence["selection"] <- list(NULL)
  if (!is.null(fit$terms)) attr(fit$terms, ".Environment") <- globalenv()
  fit$call <- bare_call(fit$call)
  fit
}

# Removes values that are not words of the call: do.call() puts whole data frames there.
bare_call <- function(call) {
  whole <- vapply(as.list(call), function(part) is.language(part) || is.atomic(part) &&
                    length(part) <= 1L, NA)
  with_global_formulas(call[c(TRUE, whole[-1L])])
}

with_global_formulas <- function(call) {
  for (name in names(Filter(function(part) inherits(part, "formula"), as.list(call)))) {
    environment(call[[name]]) <- globalenv()
  }
  call
}
