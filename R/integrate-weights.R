# Points and weights around the mode. x: coordinates along the axes; q_j: the densities along these
# (integrate-surface.R); p: the posterior density. Points are the mode, nodes on both sides of each
# axis, where densities were looked at, and corners of a cube, a widths of the sides away. By
# weights W_c of corners and v of nodes,
#   int g p dx = g(mode) (1 - sum W_c - sum v) + sum v g + sum W_c r_c g,
# r = p / prod_j q_j relative to that at the mode. At the nodes r is 1, as the densities along the
# axes are exact there, and corners make good what is not their product. For r = 1 the moments of
# each q_j up to the fourth are exact (q_j need not be normal), and E x_i^2 x_j^2: a rule of degree
# five for normal densities, where corners have every four signs equally often. With a = sqrt(2)
# moments of sixth order are exact, too; a is smaller where the mode's weight would be.

# Returns list(x, weight): points, a row each, the mode first, then all nodes, then corners, and
# weights that sum to one. densities: of axes, see axis_density(); nodes: for each the places where
# densities were looked at; widths: for each those of its sides, minus and plus
composite_points <- function(densities, nodes, widths) {
  LEAST <- 0.1 # weight of the mode
  if (length(nodes) > policy$composite_axes) return(cube_points(densities))
  signs <- if (length(nodes) > 1L) cube_corners(length(nodes))
  for (a in sqrt(seq(2, 9 / 7, length.out = 15L))) {
    corners <- corner_points(densities, widths, a, signs)
    own <- Map(node_weights, densities, nodes, corners$along)
    middle <- 1 - sum(corners$weight) - sum(unlist(own))
    if (middle >= LEAST) break
  }
  x <- Map(function(j, at) outer(at, seq_along(nodes) == j), seq_along(nodes), nodes)
  weight <- c(max(middle, LEAST), unlist(own), corners$weight)
  list(x = rbind(0, do.call(rbind, x), corners$x), weight = weight / sum(weight))
}

# The same where axes are many: of points z for normal variables, the middle and corners at distance
# f sqrt(q) from it, of equal weights 1 / (f^2 N) (a central composite design without points on the
# axes, Rue, Martino and Chopin 2009, section 6.5), which integrate polynomials of degree three
# exactly. They go to where the densities along the axes have the same probabilities below.
cube_points <- function(densities) {
  RADIUS <- 1.1 # f
  z <- rbind(0, RADIUS * cube_corners(length(densities)))
  corners <- nrow(z) - 1L
  x <- vapply(seq_along(densities), function(j) place_on_axis(densities[[j]], z[, j]), z[, 1L])
  list(x = x, weight = c(1 - 1 / RADIUS^2, rep(1 / (RADIUS^2 * corners), corners)))
}

# Returns list(x, weight, along): corners, their weights W_c, and for each axis list(x, weight), its
# coordinates of all corners. On each axis the mean is that of the density; the weight of all is
# such that E x_i^2 x_j^2 is.
corner_points <- function(densities, widths, a, signs) {
  if (is.null(signs)) return(list(weight = NULL, along = list(list(x = 0, weight = 0))))
  sides <- t(vapply(widths, function(width) c(-a, a) * width, numeric(2L)))
  mean <- vapply(densities, density_moment, 0, k = 1)
  plus <- pmin(pmax((mean - sides[, 1L]) / (sides[, 2L] - sides[, 1L]), 0.1), 0.9)
  up <- t(signs) > 0
  x <- t(ifelse(up, sides[, 2L], sides[, 1L]))
  each <- exp(colSums(log(ifelse(up, plus, 1 - plus))))
  each <- each / sum(each)
  square <- vapply(densities, density_moment, 0, k = 2)
  weight <- exp(-2 * mean(log(colSums(each * x^2) / square))) * each
  list(x = x, weight = weight,
       along = lapply(seq_along(widths), function(j) list(x = x[, j], weight = weight)))
}

density_moment <- function(density, k) {
  value <- exp(density$log_density) * density$x^k
  sum(diff(density$x) * (value[-1L] + value[-length(value)])) / 2
}

# Returns weights of an axis's nodes that with its coordinates of the corners have the density's
# moments of order 1 to the number of nodes. Where that makes one negative the worst is 0, and a
# moment less is exact.
node_weights <- function(density, nodes, corners) {
  weight <- numeric(length(nodes))
  left <- seq_along(nodes)
  if (length(left) == 0L) return(weight)
  unit <- max(abs(nodes))
  while (length(left)) {
    order <- seq_along(left)
    rest <- vapply(order, function(k) {
      density_moment(density, k) - sum(corners$weight * corners$x^k)
    }, 0) / unit^order
    found <- tryCatch(solve(outer(order, nodes[left] / unit, function(k, x) x^k), rest),
                      error = function(e) -abs(nodes[left]))
    if (all(found >= 0)) {
      weight[left] <- found
      break
    }
    left <- left[-which.min(found)]
  }
  weight
}
