# Slopes: derivatives of latent functions, and of the mean response, along an input. With the
# latent function f and its derivative f' at a row, jointly normal (src/slopes.h), the mean response
# g(f) has the derivative g'(f) f'. Over the posterior its mean is the derivative of what predict()
# returns, E g(f): by Stein's lemma E g'(f) f' = E[g'] E f' + E[g''] Cov(f, f'), and Cov(f, f') is
# half the derivative of Var f.
#
# Moments of slopes are a list:
#   value, slope  moments of f and of f' in C's units, as those of predictions: mean and var
#   between       Cov(f', f) in the shape of var; of a row's w values a block, f' by f
#   offset, shift known means of f and their derivatives
# An answer is a list with an entry, or a row with a column for each output, for each row:
#   mean, sd    of the slope over the posterior, in the response's units
#   below       (q) -> the probability that it is less; NULL: it is normal
#   value, slope   its best linear predictor's coefficients of f and f' (C's units), for averages:
#               lists of a matrix for each output, with a column for each latent function
# Generics, dispatched on the codec:
#   link_slopes(object, moments)       the answer of the latent functions
#   response_slopes(object, moments)   the answer of the mean response
#   slope_outputs(object, scale)       names of what has slopes, NULL of one response

link_slopes <- function(object, moments) UseMethod("link_slopes", codec_of(object))
response_slopes <- function(object, moments) UseMethod("response_slopes", codec_of(object))
slope_outputs <- function(object, scale) UseMethod("slope_outputs", codec_of(object))

slope_answer <- function(object, moments, scale) {
  if (scale == "link") link_slopes(object, moments) else response_slopes(object, moments)
}

# ---- Moments ----

# Returns the moments of slopes of a fit, no ensemble, at scaled inputs x along v.
row_slopes <- function(fit, x, v, offset, shift) {
  model <- list(spec = fit$spec, lik = fit$likelihood, processes = processes(fit),
                width = n_outputs(fit))
  w <- n_outputs(fit)
  C <- processes(fit)
  n <- nrow(x) %/% w
  found <- slope_moments(model, kernel_theta(fit), fit$posterior, x, v)
  mean <- array(found$mean, c(2L * w, n, C))
  var <- array(found$var, c(2L * w, 2L * w, n, C))
  own <- seq_len(w)
  names <- class_names(fit$response)
  shaped <- function(values) {
    if (is.null(names)) as.double(values)
    else matrix(as.double(values), ncol = C, dimnames = list(NULL, names))
  }
  list(value = list(mean = shaped(mean[own, , ]), var = shaped(var[own, own, , ])),
       slope = list(mean = shaped(mean[w + own, , ]), var = shaped(var[w + own, w + own, , ])),
       between = shaped(var[w + own, own, , ]), offset = offset, shift = shift)
}

# Returns latent moments of f + h f', h a number for each row.
moved_along <- function(moments, h, w) {
  blocks <- rep(h, each = w * w)
  turned <- transposed_blocks(moments$between, w)
  list(mean = moments$value$mean + rep(h, each = w) * moments$slope$mean,
       var = moments$value$var + blocks * (moments$between + turned) +
         blocks^2 * moments$slope$var,
       offset = moments$offset + h * moments$shift)
}

transposed_blocks <- function(blocks, w) {
  blocks[] <- aperm(array(blocks, c(w, w, length(blocks) %/% w^2)), c(2L, 1L, 3L))
  blocks
}

# Returns moments of some of the rows, of one value each.
some_slopes <- function(moments, rows) {
  own <- function(part) lapply(part, some_rows, rows)
  list(value = own(moments$value), slope = own(moments$slope),
       between = some_rows(moments$between, rows), offset = some_rows(moments$offset, rows),
       shift = some_rows(moments$shift, rows))
}

# Returns the mean of a shift of the latent functions as C has it.
shift_in_c <- function(object, moments) moments$shift / object$response$unit

# ---- The mean ----

# Returns the derivative, at h = 0, of the mean response under f + h f', which is that of predict():
# by differences of fourth order over a hundredth of a unit of the latent function, or of its
# standard deviation, whichever is farther. The error is about 1e-9 of the slope.
mean_slopes_of_response <- function(object, moments) {
  FAR <- 0.01
  w <- n_outputs(object)
  n <- length(moments$shift)
  reach <- abs(moments$slope$mean) + sqrt(pmax(own_variances(moments$slope$var, w), 0))
  reach <- apply(matrix(reach, nrow = w), 2L, max)
  reach <- do.call(pmax, as.data.frame(matrix(reach, n, processes(object))))
  h <- FAR / pmax(reach, abs(shift_in_c(object, moments)), 1e-150)
  at <- function(times) mean_response(object, moved_along(moments, times * h, w))
  (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
}

# Returns the diagonals of blocks, as means are shaped.
own_variances <- function(var, w) c(block_diagonals(var, w))

# ---- One latent function ----

#' @export
link_slopes.response <- function(object, moments) {
  unit <- object$response$unit
  none <- 0 * moments$shift
  list(mean = moments$slope$mean * unit + moments$shift, sd = sqrt(moments$slope$var) * unit,
       value = list(cbind(none)), slope = list(cbind(none + unit)))
}

# The mean of a response that scales with the latent function is the latent function.
#' @export
response_slopes.response_numbers <- function(object, moments) link_slopes(object, moments)

#' @export
response_slopes.response_counts <- function(object, moments) {
  response_slopes.response(object, moments)
}

# Integrates over nodes of f, given which f' is normal with mean m and variance t2.
#' @export
response_slopes.response <- function(object, moments) {
  refuse_jumps(object)
  nodes <- resolved_nodes(object, moments)
  c(list(mean = mean_slopes_of_response(object, moments)), nodes[c("sd")],
    list(below = function(q) slope_below(nodes, q), value = list(cbind(nodes$value)),
         slope = list(cbind(nodes$slope))))
}

# Steps between nodes, in standard deviations of f: of a first look, and the least. Agreement of
# moments with every second node, whose square is about the error.
FIRST_STEP <- 1 / 8
LEAST_STEP <- 1 / 128
SLOPES_AGREE <- 1e-4

# Returns the nodes of all rows (nodes_of_slopes()), half as far apart until every second one gives
# the same moments, which is up to the row alone.
resolved_nodes <- function(object, moments) {
  open <- seq_along(moments$shift)
  parts <- list()
  step <- FIRST_STEP
  repeat {
    found <- lapply(row_blocks(length(open), 200L), function(rows) {
      own <- nodes_of_slopes(object, some_slopes(moments, open[rows]), step)
      own$row <- open[rows]
      own
    })
    good <- lapply(found, function(own) own$agrees | step <= LEAST_STEP)
    parts <- c(parts, Map(function(own, good) lapply(own, some_rows, good), found, good))
    open <- open[!unlist(good)]
    if (length(open) == 0L) break
    step <- step / 2
  }
  bound <- function(field) {
    each <- lapply(parts, `[[`, field)
    do.call(if (is.matrix(each[[1L]])) rbind_padded else c, each)
  }
  nodes <- lapply(stats::setNames(nm = names(parts[[1L]])), bound)
  lapply(nodes, some_rows, order(nodes$row))
}

# Binds matrices that may have fewer columns, which are nodes: others have no weight.
rbind_padded <- function(...) {
  parts <- list(...)
  most <- max(vapply(parts, ncol, 0L))
  do.call(rbind, lapply(parts, function(part) {
    cbind(part, matrix(0, nrow(part), most - ncol(part)))
  }))
}

refuse_jumps <- function(object) {
  if (!lik_traits(object$likelihood)$jumps) return(invisible())
  stop_sparsegp("scale", paste0("= \"response\" is not defined for the ", object$likelihood$type,
                                " likelihood, whose response is a step of the latent function"),
                "Use scale = \"link\", or lik_flip()")
}

# Returns for each row, with a column for each node, the weight of f there, g'(f), and the mean of
# f' given f; its standard deviation `t`; the moments of g'(f) f' that follow; and whether those of
# every second node agree.
nodes_of_slopes <- function(object, moments, step) {
  CLOSE <- 1e-4 # differences of g, with an error of about 1e-9
  s2 <- location(object, moments$value)$var
  s <- sqrt(s2)
  z <- normal_nodes(step, s * max(1, object$response$unit))
  weight <- stats::dnorm(z) / sum(stats::dnorm(z))
  latent <- c(moments$value, moments["offset"])
  g <- vapply(z, function(z) {
    response_at(object, latent, z * s + CLOSE) - response_at(object, latent, z * s - CLOSE)
  }, s)
  g <- matrix(g, ncol = length(z)) / (2 * CLOSE)
  along <- ifelse(s2 > 0, c(moments$between) / s, 0)
  m <- c(moments$slope$mean) + shift_in_c(object, moments) + outer(along, z)
  t2 <- pmax(c(moments$slope$var) - along^2, 0)
  slopes <- g * m
  squares <- g^2 * (m^2 + t2)
  mean <- drop(slopes %*% weight)
  square <- drop(squares %*% weight)
  slope <- drop(g %*% weight)
  tilt <- drop((slopes * rep(z, each = length(s))) %*% weight) # E[g' f' (f - mean)] / s
  half <- weight * c(2, 0)[1L + seq_along(z) %% 2L]
  agrees <- abs(drop(squares %*% half) - square) <= SLOPES_AGREE * square &
    abs(drop(slopes %*% half) - mean) <= SLOPES_AGREE * sqrt(square)
  kept <- !(weight * (1 + colSums(abs(g))) <= 1e-17) # far out where the link does not grow
  list(g = g[, kept, drop = FALSE], m = m[, kept, drop = FALSE], t = sqrt(t2),
       weight = outer(rep(1, length(s)), weight[kept]),
       agrees = is.na(agrees) | agrees, sd = sqrt(pmax(square - mean^2, 0)), slope = slope,
       value = ifelse(s > 0, (tilt - slope * along) / s, 0))
}

# Returns P(g'(f) f' < q): of nodes without a slope g' that of 0.
slope_below <- function(nodes, q) {
  sd <- abs(nodes$g) * nodes$t
  centre <- nodes$g * nodes$m
  below <- ifelse(sd > 0, stats::pnorm((q - centre) / sd), as.double(centre < q))
  rowSums(below * nodes$weight)
}

#' @export
slope_outputs.response <- function(object, scale) NULL

# ---- Several latent values ----

#' @export
slope_outputs.response_components <- function(object, scale) components(object)

#' @export
slope_outputs.response_spreads <- function(object, scale) {
  if (scale == "link") components(object)
}

#' @export
slope_outputs.response_classes <- function(object, scale) object$response$levels

#' @export
slope_outputs.response_ordered_classes <- function(object, scale) {
  if (scale == "link") NextMethod()
}

# Each component by itself
#' @export
link_slopes.response_components <- function(object, moments) {
  names <- components(object)
  w <- length(names)
  units <- component_units(object$response)
  mean <- by_component(moments$slope$mean, names)
  sd <- sqrt(by_component(own_variances(moments$slope$var, w), names))
  none <- matrix(0, nrow(mean), w)
  list(mean = sweep(mean, 2L, units, "*") + moments$shift, sd = sweep(sd, 2L, units, "*"),
       value = rep(list(none), w),
       slope = lapply(seq_len(w), function(c) `[<-`(none, , c, units[c])))
}

#' @export
response_slopes.response_components <- function(object, moments) link_slopes(object, moments)

# An offset is known of the mean alone, which is the first component.
#' @export
link_slopes.response_spreads <- function(object, moments) {
  answer <- link_slopes.response_components(object, moments)
  answer$mean[, 2L] <- answer$mean[, 2L] - moments$shift
  answer
}

#' @export
response_slopes.response_spreads <- function(object, moments) {
  answer <- link_slopes(object, moments)
  list(mean = unname(answer$mean[, 1L]), sd = unname(answer$sd[, 1L]), value = answer$value[1L],
       slope = answer$slope[1L])
}

#' @export
link_slopes.response_classes <- function(object, moments) {
  unit <- object$response$unit
  mean <- moments$slope$mean * unit
  none <- 0 * unname(mean)
  list(mean = mean, sd = sqrt(moments$slope$var) * unit,
       value = rep(list(none), ncol(mean)),
       slope = lapply(seq_len(ncol(mean)), function(c) `[<-`(none, , c, unit)))
}

#' @export
link_slopes.response_coupled <- function(object, moments) {
  link_slopes.response_components(object, moments)
}

# ---- Mixtures and quantiles ----

# Returns the answer of an ensemble by those of its members.
mixed_slopes <- function(answers, weights) {
  mean <- mixed(lapply(answers, `[[`, "mean"), weights)
  list(mean = mean,
       sd = sqrt(mixed(lapply(answers, function(own) own$sd^2 + (own$mean - mean)^2), weights)),
       below = function(q) {
         mixed(lapply(answers, function(own) below_of(own, q)), weights)
       })
}

below_of <- function(answer, q) {
  if (!is.null(answer$below)) return(answer$below(q))
  out <- stats::pnorm((q - answer$mean) / answer$sd)
  ifelse(answer$sd > 0, out, as.double(answer$mean < q))
}

# Returns a quantile, whose distance from the mean is bounded by Cantelli's inequality. Where the
# link is sharp the distribution function all but jumps at 0.
slope_quantile <- function(answer, p) {
  if (is.null(answer$below)) return(answer$mean + stats::qnorm(p) * answer$sd)
  lower <- answer$mean - answer$sd * sqrt((1 - p) / p) * (1 + 1e-6)
  upper <- answer$mean + answer$sd * sqrt(p / (1 - p)) * (1 + 1e-6)
  near <- 1e-9 * answer$sd
  none <- answer$below(-near) <= p & answer$below(near) >= p
  increasing_root(function(q) answer$below(q) - p, ifelse(none, 0, lower), ifelse(none, 0, upper),
                  1e-9)
}
