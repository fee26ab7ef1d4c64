# Adds to the help page of sparsegp() the calls for users of mgcv.

#' @name sparsegp
#' @rdname sparsegp
#' @section Coming from mgcv:
#' `k =`, `method = "REML"` and `select =` have no counterpart: nothing needs to be set.
#'
#' | you want (in `mgcv`) | write | shown in |
#' |---|---|---|
#' | a smooth for each level, `s(x, by = g)`, `s(x, g, bs = "fs")` | `kernel_rbf(vars = "x") * kernel_factor("g")` | [kernel_factor()], `vignette("groups")` |
#' | an offset, `offset(z)` | `y ~ x + offset(z)` | [likelihoods_counts] |
#' | a random effect, `s(g, bs = "re")` | `kernel_rbf() + kernel_factor("g")` | [kernel_factor()], `vignette("groups")` |
#' | a season, `s(x, bs = "cc")` | `kernel_rbf() + kernel_periodic()` | [kernel_periodic()], `vignette("time-series")` |
#' | a tensor product, `te(x, z)`, `ti(x, z)` | `kernel_rbf(ard = TRUE)`; `kernel_rbf(vars = "x") * kernel_rbf(vars = "z")` | [kernel_rbf()], `vignette("coming-from")` |
#' | quantiles, `qgam` | `predict(fit, new, "quantile", at = 0.9)` | [predict][predict.sparsegp], `vignette("likelihoods")` |
#' | a forecast, `predict()` at later times | `plot(fit, "forecast", ahead = 8)`, `predict(fit, new)` | [plot][plot.sparsegp], `vignette("time-series")` |
#' | several outputs, `mvn()` | `cbind(u, v) ~ x` | [kernel_coregion()], [sparsegp_details] |
#' | predictions without an input, `exclude =` | `predict(fit, new, "terms")`, `plot(fit, "x")`, `update(fit, . ~ . - z)`; columns that `newdata` lacks are an error that names them | [predict][predict.sparsegp], [plot][plot.sparsegp] |
#' | the importance of inputs | `importance(fit)` | [importance()] |
NULL
