# The parts of a sum of kernels under a posterior of sites (fit-terms.R).

EFFECT_PLACES <- 1000L # whose covariances are looked at together

# Moments of the parts' sum as centred_moments() has them, from the joint moments of the parts at
# the places and at the rows that they are centred over. chosen: a flag for each part of the kernel.
centred_site_moments <- function(spec, theta, chosen, posterior, rows, x, each = 1L) {
  places <- nrow(x) %/% each
  at_once <- max(1L, EFFECT_PLACES %/% each)
  found <- lapply(row_blocks(places, at_once), function(at) {
    block <- x[rep((at - 1L) * each, each = each) + seq_len(each), , drop = FALSE]
    joint <- site_moments(spec, theta, posterior, rbind(block, rows), parts = chosen,
                            joint = TRUE)
    own <- seq_len(nrow(block))
    members <- matrix(joint$mean[own] - mean(joint$mean[-own]), ncol = each, byrow = TRUE)
    contrast <- cbind(kronecker(diag(length(at)), t(rep(1 / each, each))),
                      matrix(-1 / nrow(rows), length(at), nrow(rows)))
    list(mean = rowMeans(members), members = members,
         var = pmax(rowSums((contrast %*% joint$var) * contrast), 0))
  })
  field <- function(name) lapply(found, `[[`, name)
  list(mean = unlist(field("mean")), var = unlist(field("var")),
       members = do.call(rbind, field("members")))
}
