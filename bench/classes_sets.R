# Sets of classes_speed.R and class_points.R: mlbench's LetterRecognition (14 000 rows, 26 classes),
# Shuttle (10 000, 7 classes of which one has 78 per cent and one a single row) and Satellite;
# kernlab's spam; USPS digits; and ten overlapping classes of mixtures in three of five inputs,
# 20 000 and 5000 rows.

MOST_TEST <- 20000

of_package <- function(package, data, response, rows) {
  held <- new.env()
  utils::data(list = data, package = package, envir = held)
  d <- held[[data]]
  x <- vapply(d[setdiff(names(d), response)], as.numeric, numeric(nrow(d)))
  split_rows(x, d[[response]], rows)
}

split_rows <- function(x, y, rows) {
  set.seed(1)
  order <- sample(nrow(x))
  train <- order[seq_len(rows)]
  test <- utils::head(order[-seq_len(rows)], MOST_TEST)
  list(x = x[train, , drop = FALSE], y = droplevels(y[train]), new_x = x[test, , drop = FALSE],
       new_y = y[test])
}

mixtures <- function(rows) {
  set.seed(5)
  n <- 26000
  centre <- 1.6 * matrix(rnorm(30 * 3), 30)
  part <- sample(30, n, TRUE)
  x <- cbind(centre[part, ] + 0.55 * matrix(rnorm(n * 3), n), matrix(rnorm(n * 2), n))
  colnames(x) <- paste0("x", 1:5)
  split_rows(x, factor(rep(1:10, 3)[part]), rows)
}

usps_digits <- function() {
  train <- read_usps("train")
  test <- read_usps("test")
  list(x = train$x, y = factor(train$digit), new_x = test$x, new_y = test$digit)
}

SETS <- list(
  letter = function() of_package("mlbench", "LetterRecognition", "lettr", 14000),
  shuttle = function() of_package("mlbench", "Shuttle", "Class", 10000),
  satellite = function() of_package("mlbench", "Satellite", "classes", 4435),
  usps = function() usps_digits(),
  spam = function() of_package("kernlab", "spam", "type", 3221),
  mixtures = function() mixtures(20000),
  mixtures_5000 = function() mixtures(5000)
)
