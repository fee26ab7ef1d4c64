# Copies of rows that mean the same, as a user's function makes them: rows of an image moved by a
# pixel, for example.

# Checks `augment`.
check_augment <- function(augment, basis, streams) {
  if (is.null(augment)) return(NULL)
  refuse_if(!is.function(augment),
            "augment", paste0("is of class ", toString(dQuote(class(augment), FALSE))),
            paste("Give a function of a matrix of rows, such as shift_images(16, 16) or",
                  "jitter_rows(0.1)"))
  refuse_if(!is.null(basis),
            "basis", "is given, and `augment` has points chosen from rows and their copies",
            "Leave one of them out")
  if (streams) refuse_augment("is for rows in memory, and a stream does not keep its rows")
  augment
}

refuse_augment <- function(why) {
  stop_sparsegp("augment", why, "Leave it out, or put the copies among the rows")
}

# Copies of the rows of x, in the same columns: list(x, of), where of[i] says which row of x the
# copy x[i, ] is of. One that equals its row is left out.
copies_of_rows <- function(augment, x) {
  made <- tryCatch(augment(x), error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp("augment", paste0("failed on a matrix of ", counted(nrow(x), "row"), ": ",
                                    conditionMessage(e)))
  })
  sets <- if (is.list(made) && !is.data.frame(made)) made else list(made)
  if (length(sets) == 0L) stop_sparsegp("augment", "made no copies")
  of <- lapply(sets, rows_of_set, nrow(x))
  copies <- do.call(rbind, Map(copy_set, sets, of, MoreArgs = list(x = x)))
  of <- unlist(of)
  other <- rowSums(copies != x[of, , drop = FALSE]) > 0
  list(x = copies[other, , drop = FALSE], of = of[other])
}

# Returns the rows that a set of copies is of: its attribute "row", or all, in their order.
rows_of_set <- function(set, n) {
  count <- NROW(set)
  of <- attr(set, "row")
  if (is.null(of)) {
    if (count == n) return(seq_len(n))
    stop_sparsegp("augment", paste0("made ", counted(count, "row"), " of ", n),
                  paste("Return as many rows as are given, a list of such sets, or give the",
                        "attribute \"row\" which row each is a copy of"))
  }
  if (is.numeric(of) && length(of) == count && all(of %in% seq_len(n))) return(as.integer(of))
  stop_sparsegp("augment", paste0("made rows whose attribute \"row\" does not say, by numbers ",
                                  "from 1 to ", n, ", which row each is a copy of"))
}

copy_set <- function(set, of, x) {
  attr(set, "row") <- NULL
  set <- check_inputs(set, "augment")
  refuse_if(ncol(set) != ncol(x),
            "augment", paste0("made rows of ", counted(ncol(set), "column"), ", not of ", ncol(x)))
  if (!all(is.finite(set))) stop_sparsegp("augment", "made values that are missing or infinite")
  if (setequal(colnames(set), colnames(x))) set <- set[, colnames(x), drop = FALSE]
  unname(set)
}

# ---- Functions that make copies ----

#' Virtual copies of rows (data augmentation)
#'
#' An image that is moved by a pixel shows the same digit; an instrument might have shown any
#' reading within its error. The argument `augment` of [gp_control()] takes a function that makes
#' such copies of rows. `shift_images()` and `jitter_rows()` make such functions; a function of your
#' own serves as well.
#'
#' @details
#' ## What happens
#'
#' A fit by *virtual informative vectors* finds its inducing points (the *basis*), adds copies of
#' these alone, with their labels, and chooses again among all. Copies of other rows would add
#' little.
#'
#' Hyperparameters, length scales and margins are learned from the rows alone, as without `augment`.
#' The inducing points of that fit (of full EP: all rows) are its informative vectors, for
#' one-vs-rest classes those of each class. Then the same `method` chooses points anew from rows and
#' copies, with the same hyperparameters: `size` points again, or without a method as many as rows
#' and copies together would have (for many labelled rows three quarters more).
#'
#' Labels have no weights, and every copy counts as a row. With weights that add up to a row's one,
#' held-out errors of handwritten digits were the same, and probabilities no better. Base rates stay
#' those of the data, as biases are learned without copies: mean predicted probabilities of a digit
#' were within half a point of its proportion. If copies make probabilities overconfident, their
#' temperature (see [fit_methods]) corrects that: it is estimated again with each row's copies left
#' out.
#'
#' With Gaussian noise a row and its copies share the row's weight (each of m copies has `weight /
#' (m + 1)`), so intervals keep the width of a fit without copies: copies that are hardly moved
#' leave the fit as it was. Counts, trials, several components and other likelihoods of numbers are
#' an error.
#'
#' [logLik()] is the log evidence of the rows without copies, at which hyperparameters were learned.
#' Leave-one-out answers ([loo()], [loo_lpd()], [residuals()]) are those of a row without its
#' copies. `predict()` has the same arguments as without copies. `print()` shows the number of
#' copies, `fit$copies$made` has it for each class: `vectors` (rows copied), `copies`, `points` of
#' the basis, and how many of these were `copied`. [basis()] has, for each point, the row it is or
#' is a copy of, and in the attribute `copies` which copy, 0 for the row itself.
#' [update()][update.sparsegp] takes more rows as if the inputs were not kept: the earlier sites of
#' rows and copies are kept.
#'
#' ## A function of your own
#'
#' It is called with some of the rows: a numeric matrix with a column for each input, in the inputs'
#' units (with a formula, the columns of the model matrix). It returns copies in the same columns: a
#' matrix or data frame with as many rows, in the same order; a list of such sets; or one set of any
#' number of rows whose attribute `"row"` gives the number of the row of which each is a copy.
#' Copies that equal their row are left out.
#'
#' @param nrow,ncol Pixels of an image from top to bottom and from left to right; whole numbers.
#' @param by Number of pixels to move, a whole number of at least 1.
#' @param directions 4: up, down, left, right; 8: the diagonals, too.
#' @param background Value of the pixels that an image leaves when it moves: one number; `NULL`: the
#'   median of the pixels at the edges of the images given.
#' @param byrow `TRUE` if the inputs are the pixels row by row, from the top; `FALSE` if they are
#'   column by column, as in an R matrix.
#' @param sd Standard deviation of the normal numbers that are added, in the inputs' units: one
#'   number, or one for each input (0: it is unchanged); at least 0.
#' @param copies Number of copies of each row, a whole number of at least 1.
#' @param seed Seed of the random numbers, a whole number: the same rows then have the same copies,
#'   and the state of R's generator is restored. `NULL`: numbers are drawn from R's generator.
#' @return A function that takes a matrix of rows and returns a list of matrices of the same size:
#'   `directions` of them, or `copies`.
#'
#'   Errors of class `sparsegp_error`: arguments out of range, images of another size, a number of
#'   `sd` that is not that of the inputs; from [sparsegp()] a function that fails, or that
#'   returns other columns, other rows, missing values, or nothing but the rows themselves.
#' @references Seeger, M., Lawrence, N. D. and Herbrich, R. *Efficient Nonparametric Bayesian
#'   Modelling with Sparse Gaussian Process Approximations*, sections 5 and 6.5. Schölkopf, B. and
#'   Smola, A. J. (2002). *Learning with Kernels*, section 11.3.
#' @examples
#' moved <- shift_images(2, 3, background = 0)
#' moved(rbind(1:6))
#' jitter_rows(0.1, copies = 2)(cbind(a = 1:3, b = 0))
#'
#' # a bright bar, upright or lying, anywhere in an image of 5 x 5 pixels
#' set.seed(1)
#' bar <- function(upright) {
#'   image <- matrix(rnorm(25, sd = 0.5), 5)
#'   at <- sample(1:5, 1)
#'   if (upright) image[2:4, at] <- 2 else image[at, 2:4] <- 2
#'   c(t(image))
#' }
#' upright <- rep(c(TRUE, FALSE), 100)
#' x <- t(sapply(upright, bar))
#' seen <- 1:20

#' fit <- sparsegp(x[seen, ], upright[seen])
#' virtual <- update(fit, control = gp_control(augment = shift_images(5, 5)))
#' virtual
#' sapply(list(fit, virtual), function(f) {
#'   mean(predict(f, x[-seen, ], type = "class") == upright[-seen])
#' })
#' @concept virtual informative vectors
#' @concept invariances
#' @name copies
NULL

#' @rdname copies
#' @export
shift_images <- function(nrow, ncol, by = 1, directions = 4, background = NULL, byrow = TRUE) {
  size <- c(check_count(nrow, "nrow"), check_count(ncol, "ncol"))
  by <- check_count(by, "by")
  refuse_if(by >= max(size), "by", "moves every pixel out of the image",
            paste("Give less than", max(size)))
  refuse_if(!is.numeric(directions) || !identical(directions %in% c(4, 8), TRUE),
            "directions", "must be 4 or 8")
  if (!is.null(background)) check_number(background, "background")
  check_flag(byrow, "byrow")
  function(rows) {
    refuse_if(ncol(rows) != prod(size), "augment",
              paste0("moves images of ", size[1L], " x ", size[2L], " pixels, ",
                     "and rows have ", counted(ncol(rows), "input")),
              "Give shift_images() the size of the images, one input for each pixel")
    place <- matrix(seq_len(prod(size)), size[1L], size[2L], byrow = byrow)
    at_edge <- row(place) %in% c(1L, size[1L]) | col(place) %in% c(1L, size[2L])
    background <- background %||% stats::median(rows[, place[at_edge]])
    apply(by * WAYS[seq_len(directions), ], 1L, shifted_images, rows, place, background,
          simplify = FALSE)
  }
}

# Down and right: the four ways, and the diagonals.
WAYS <- cbind(down = c(-1, 1, 0, 0, -1, -1, 1, 1), right = c(0, 0, -1, 1, -1, 1, -1, 1))

# place: the input at each pixel
shifted_images <- function(way, rows, place, background) {
  moved <- rows
  moved[] <- background
  above <- row(place) - way[["down"]]
  left <- col(place) - way[["right"]]
  inside <- above >= 1 & above <= nrow(place) & left >= 1 & left <= ncol(place)
  moved[, place[inside]] <- rows[, place[cbind(above[inside], left[inside])]]
  moved
}

#' @rdname copies
#' @export
jitter_rows <- function(sd, copies = 4, seed = 1) {
  good <- is.numeric(sd) && length(sd) > 0L && all(is.finite(sd)) && all(sd >= 0) && any(sd > 0)
  if (!good) stop_sparsegp("sd", "must be numbers of at least 0, and not all 0")
  copies <- check_count(copies, "copies")
  if (!is.null(seed)) check_count(seed, "seed", 0L)
  function(rows) {
    refuse_if(!length(sd) %in% c(1L, ncol(rows)), "augment",
              paste0("has ", length(sd), " standard deviations for ", counted(ncol(rows), "input")),
              "Give jitter_rows() one sd, or one for each input")
    generator <- with_seed(seed)
    on.exit(generator$restore())
    each <- rep(rep_len(sd, ncol(rows)), each = nrow(rows))
    replicate(copies, rows + each * stats::rnorm(length(rows)), simplify = FALSE)
  }
}
