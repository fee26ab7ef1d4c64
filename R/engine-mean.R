# The mean of a problem whose coefficients are integrated out (kernel-mean.R).

# Returns the functions of a problem's mean at its rows, or NULL.
functions_of_mean <- function(problem) {
  if (!is.null(problem$mean)) mean_functions(problem$mean, problem$x)
}

# Returns a problem whose mean is known, for algorithms that have no room for its coefficients.
without_mean <- function(problem) {
  refuse_if(isTRUE(problem$mean$asked), "mean",
            paste("has coefficients to integrate out, and", problem$options$label,
                  "visits each observation once"),
            paste("Use mean = \"average\" or \"zero\", another method, or a kernel with",
                  "kernel_constant() or kernel_linear()"))
  problem["mean"] <- list(NULL)
  problem
}
