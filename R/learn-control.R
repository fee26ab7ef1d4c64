# How hyperparameters are learned: the user's choices.

#' How hyperparameters are learned
#'
#' `sparsegp(learn = learn_control())` is the default: the log evidence plus log priors is
#' maximised. `learn = FALSE` keeps hyperparameters at their starts.
#'
#' @param criterion The criterion that is maximised: the log `"evidence"` of EP, or for
#'   [method_ivm()] also the `"ivm"`'s own criterion.
#' @param inner Maximum number of iterations of a search; whole number of at least 1, or `NULL`: 200
#'   for the evidence, 8 for `"ivm"`.
#' @param outer Rounds of selection and search, for methods that choose their basis; whole number of
#'   at least 1, or `NULL`: 2 for the evidence, 15 for `"ivm"`.
#' @param strategy How sites are updated while the `"ivm"` criterion is maximised: `"constant"`,
#'   `"hybrid"` or `"exact"`, see below.
#' @param restarts Further searches from random starts; whole number of at least 0.
#' @param rows Rows of a source ([row_source()]) on which hyperparameters are learned; whole number
#'   of at least 1, or `Inf`: after a search on 10 000 rows another on all. For data frames all rows
#'   are used.
#' @return A value of class `sparsegp_learn`. Errors are of class `sparsegp_error`.
#' @details
#' ## The evidence
#'
#' `optim(method = "L-BFGS-B")` maximises it with exact gradients, in the logarithms of all
#' hyperparameters but `bias`, each of which is searched within 10 to either side of the start. A
#' length scale without a start, of one input whose values are a grid of times, is at least half a
#' step: a shorter one cannot be distinguished from noise by the rows, but predictions between them
#' differ. Sites start from those of the last evaluation. Length scales without a start begin at the
#' best of a few values, from the width of the data to the distance between neighbouring rows (of
#' more than `r policy$neighbour_inputs` inputs, to 0.15 of the width): a function of many cycles is
#' found, and not treated as noise. If an evaluation is cheap (up to some 460 observations of full
#' EP) the search is repeated from the next best, until two searches end within 0.1 of the best log
#' evidence. Restarts begin at random values around the start; the best end is kept.
#'
#' With `ard = TRUE` a search may switch off, by long length scales, inputs that matter only
#' together, and end in an optimum from which no single one of them is missed. Length scales that
#' were given no start and ended long are therefore put back to 1, 2 and 4 times their starts, the
#' inputs are ranked there by the gradient, and the first 1, 2, 4, ... switched on again. If one of
#' these points raises the log evidence by more than 1, the search continues from the best, at most
#' three times. This costs about ten evaluations when no better optimum exists. Most of
#' these use a third of the observations, but at least `r policy$ranking_rows`, and end EP early.
#' If the search for [model_structure] has gained less than `r policy$min_relevance_gain` nats by a
#' length scale for each input, 0.15 and 0.4 times the starts are tried, too, and inputs are also
#' ranked from all of them switched off: a common length scale may have smoothed away an input along
#' which the function varies fast, or be so short that it fits noise.
#'
#' `fit$learning` records the search: `evaluations` and how many of them were `failures`, the
#' `objective` of every start, whether it `converged`, the last `gradient`, what ended `at_bound`,
#' and for methods that choose their basis the objective of each of the `rounds`.
#'
#' ## The informative vector machine's criterion
#'
#' With `criterion = "ivm"` the hyperparameters of `method_ivm()` maximise \eqn{\log Q(D|\theta) =
#' -\phi}{log Q(D|theta) = -phi} (IVM paper, eq. 11) plus log priors: the evidence of the active
#' observations' sites, and the predictive densities of all other candidates, without refinement. It
#' costs a fraction of batch EP's evidence. `refine` then runs at the learned values.
#'
#' The criterion has optima far apart. The search begins at the best of some seven starts, each of
#' which takes a selection: for classes with the variance times `r policy$ivm_variances[1]` and
#' `r policy$ivm_variances[2]` (and the corresponding bias), then with length scales times
#' `r policy$ivm_widths[1]` and `r policy$ivm_widths[2]` there. A start that was given is one of
#' them; [fixed()] values stay.
#'
#' A round is a major and at most `inner` minor steps. The major step selects the active set and its
#' sites at the current hyperparameters; minor steps search with both sets held (section 3.3). The
#' paper's 15 rounds of 8 steps are the default. The `strategy` determines the sites in minor steps
#' (6.1.1):
#'
#' | | sites | search |
#' |---|---|---|
#' | `"constant"` | held | `optim(method = "L-BFGS-B")`; value and gradient (eqs 14, 12) agree, but the further it goes the less the sites fit |
#' | `"hybrid"` | set anew for each search direction | quasi-Newton (BFGS) directions, line searches at held sites; the criterion may increase from one direction to the next |
#' | `"exact"` | set anew at every evaluation, in the order of inclusion | `optim()` on the criterion itself, with the gradient of held sites: many line searches fail |
#'
#' Reselection makes the criterion jump, so it need not rise from round to round. The best major
#' step is kept, the start included; `fit$learning$start` and `rounds` are the objectives at the
#' start and at the major step that ends each round, and `line_searches` counts those that failed.
#' Learning counts as converged when the last round was not the best by more than 1. Where `pool`
#' reduces the candidates only those left count, which in regression are the noisier ones: noise is
#' then overestimated. Where one class is rare the criterion may push the bias far out and fill a
#' small active set with that class alone. Inputs that act only together are not searched for. The
#' evidence with `refine = "basis"` is safer, and takes longer.
#'
#' @concept hyperparameter optimisation
#' @concept marginal likelihood
#' @concept type II maximum likelihood
#' @references Seeger, Lawrence and Herbrich, *Efficient Nonparametric Bayesian Modelling with
#'   Sparse Gaussian Process Approximations*, sections 3.3 and 6.1.
#' @seealso [priors], [fixed()], [curvature] for standard errors of hyperparameters.
#' @examples
#' set.seed(1)
#' fit <- sparsegp(dist ~ speed, cars, learn = learn_control(restarts = 2))
#' fit$learning$objective
#'
#' sparsegp(dist ~ speed, cars, kernel = kernel_rbf(lengthscale = 5), learn = FALSE)
#' @export
learn_control <- function(criterion = c("evidence", "ivm"), inner = NULL, outer = NULL,
                          strategy = c("constant", "hybrid", "exact"), restarts = 0,
                          rows = 10000) {
  criterion <- check_choice(criterion, names(LEARN_DEFAULTS), "criterion")
  default <- LEARN_DEFAULTS[[criterion]]
  strategy <- check_choice(strategy, names(STRATEGIES), "strategy")
  structure(list(criterion = criterion,
                 inner = check_count(if (is.null(inner)) default[["inner"]] else inner, "inner"),
                 outer = check_count(if (is.null(outer)) default[["outer"]] else outer, "outer"),
                 strategy = strategy, restarts = check_count(restarts, "restarts", 0L),
                 rows = check_count_or_inf(rows, "rows")),
            class = "sparsegp_learn")
}

# The numbers for "ivm" are those of section 6.1 of the IVM paper.
LEARN_DEFAULTS <- list(evidence = c(inner = 200, outer = 2), ivm = c(inner = 8, outer = 15))

# Returns how searches on a pilot sample end.
pilot_control <- function(control) {
  utils::modifyList(control, list(within = policy$search_tolerance, outer = 1L))
}

#' @export
print.sparsegp_learn <- function(x, ...) {
  x <- check_learn(x)
  shown <- x[x$criterion == "ivm" | names(x) != "strategy"] # the evidence has no strategies
  cat("<learning> ", toString(paste(names(shown), shown, sep = " = ")), "\n", sep = "")
  invisible(x)
}

# Returns what learn_control() makes of the same settings: users can write to them.
check_learn <- function(learn) {
  settings <- unclass(learn)
  refuse_if(!holds(is_made(learn, "sparsegp_learn") && are_settings(settings, learn_control)),
            "learn", "was not made by learn_control(), or was changed afterwards",
            "Create it again")
  do.call(learn_control, settings)
}

# learn = TRUE, FALSE or a learn_control(); FALSE becomes NULL
as_learn <- function(learn) {
  if (inherits(learn, "sparsegp_learn")) return(check_learn(learn))
  if (is.logical(learn) && length(learn) == 1L && !is.na(learn)) {
    return(if (learn) learn_control())
  }
  stop_sparsegp("learn", "must be TRUE, FALSE or a learn_control()")
}

# Before there are rows.
check_criterion <- function(control, method, basis) {
  if (is.null(control) || control$criterion == "evidence") return(invisible())
  refuse_if(!control$criterion %in% criteria(method),
            "learn", "has criterion = \"ivm\", which only method_ivm() can be learned by",
            "Use method = method_ivm(), or learn_control(criterion = \"evidence\")")
  refuse_if(!is.null(basis), "learn", "has criterion = \"ivm\", which chooses its rows itself",
            "Leave out `basis`, or use learn_control(criterion = \"evidence\")")
}
