# Tables of packages performance and parameters, and what package butcher may leave out of a fit.

#' @exportS3Method performance::model_performance
model_performance.sparsegp <- function(model, metrics = "all", verbose = TRUE, ...) {
  model <- ready(model)
  table <- loo(model)
  lpd <- table$lpd[!is.na(table$lpd)]
  scores <- loo_scores(table)
  found <- data.frame(ELPD = sum(lpd), ELPD_SE = sum_error(lpd))
  found$R2 <- scores$r2
  found$RMSE <- scores$sd
  found$Error <- scores$error
  found$Concordance <- scores$concordance
  structure(found, class = c("performance_model", "data.frame"))
}

#' @exportS3Method parameters::model_parameters
model_parameters.sparsegp <- function(model, ci = 0.95, ...) {
  model <- ready(model)
  free <- learned_rows(model)
  interval <- confint(model, level = ci)
  found <- data.frame(Parameter = rownames(interval), Coefficient = unname(coef(model)[free]),
                      SE = sqrt(diag(vcov(model))), CI = ci, CI_low = interval[, 1L],
                      CI_high = interval[, 2L], row.names = NULL)
  structure(found, ci = ci)
}

# ---- butcher ----

# The environment of the formula, which update() and model.frame() may need and predict() does not.
#' @exportS3Method butcher::axe_env
axe_env.sparsegp <- function(x, verbose = FALSE, ...) {
  x <- ready(x)
  if (!is.null(x$terms)) attr(x$terms, ".Environment") <- globalenv()
  x$call <- with_global_formulas(x$call)
  x
}

# Values in the call that are not words of it.
#' @exportS3Method butcher::axe_call
axe_call.sparsegp <- function(x, verbose = FALSE, ...) {
  x <- ready(x)
  x$call <- bare_call(x$call)
  x
}

# The model frame; the inputs and responses stay, because the posterior is made of them.
#' @exportS3Method butcher::axe_data
axe_data.sparsegp <- function(x, verbose = FALSE, ...) {
  x <- ready(x)
  x["frame"] <- list(NULL)
  x
}
