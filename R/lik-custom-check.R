# What lik_custom(check = TRUE) tries.

# Tries the functions at some responses and latent values.
check_custom <- function(lik) {
  value <- custom_values(lik, custom_start(lik))
  if (lik$custom$response == "ordered") return(invisible())
  f <- c(-0.7, 0.2, 1.1)
  rule <- responses_custom(lik, value, f)
  total <- rowSums(rule$weight)
  wrong <- which(abs(total - 1) > 1e-4)
  if (length(wrong)) {
    stop_sparsegp("log_density", paste0("adds up to ", signif(total[wrong[1L]], 4L),
                                        " over all responses, at f = ", f[wrong[1L]]),
                  "Divide the density by that, or say check = FALSE if it need not be normalised")
  }
  if (!is.null(lik$custom$gradient)) check_custom_gradient(lik, rule, f)
}

custom_start <- function(lik) {
  ifelse(lik$custom$positive, log(pmax(lik$custom$starts, 1e-300)), lik$custom$starts)
}

# Compares derivatives in theta with differences, at a response of each of three latent values.
check_custom_gradient <- function(lik, rule, f) {
  theta <- custom_start(lik)
  y <- rbind(rule$y[cbind(seq_along(f), max.col(rule$weight, "first"))])
  given <- theta_slopes(lik, y, f, theta)
  plain <- lik
  plain$custom["gradient"] <- list(NULL)
  found <- theta_slopes(plain, y, f, theta)
  wrong <- which(abs(given - found) > 1e-5 * (1 + abs(found)), arr.ind = TRUE)
  if (length(wrong) == 0L) return(invisible())
  at <- wrong[1L, ]
  stop_sparsegp("gradient", paste0("is ", signif(given[at[[1L]], at[[2L]]], 5L), " in ",
                                   names(lik$params)[at[[2L]]], " where differences of ",
                                   "log_density give ", signif(found[at[[1L]], at[[2L]]], 5L),
                                   " (of positive parameters times their value)"),
                "Correct it, or leave it out")
}
