# What users would pick beside sparsegp(), each tuned as its users tune it: forest, boosted trees,
# support vector machine, additive model, elastic net and BART. bench/zoo.R times and scores them.
#
# A peer of numbers is a function(x, y, new) of data frames and a vector. It returns
# list(mean, sd, held): the predictive distribution at `new` is normal, or a mixture of normals of
# equal weights with a column for each (the sd is recycled), and `held` is the mean log density of
# held-out responses, or NULL if the peer tunes without holding out. The sd of a peer
# without a predictive distribution is that of its held-out errors.
#
# A peer of labels returns a matrix of probabilities with a column for each level.

FLOOR <- 1e-3 # probability of a class that no tree has voted for

# ---- Inputs, errors ----

# Returns an indicator matrix of `x` for peers that take no factors; ordered factors are scores, and
# columns that are constant in `by` are left out. Sparse if it is wide.
design <- function(x, by = x, sparse = FALSE) {
  make <- if (sparse) Matrix::sparse.model.matrix else stats::model.matrix
  both <- list(x = with_scores(x), by = with_scores(by))
  columns <- lapply(both, function(x) make(~ ., x)[, -1L, drop = FALSE])
  moving <- apply(columns$by, 2L, function(x) any(x != x[1L]))
  columns$x[, moving, drop = FALSE]
}

with_scores <- function(x) {
  x[] <- lapply(x, function(x) if (is.ordered(x)) as.integer(x) else x)
  x
}

# The largest number of columns of a dense design
WIDEST <- 1000L

n_columns <- function(x) sum(vapply(x, function(x) max(1L, nlevels(x) - 1L), 1L))

normal <- function(mean, mse) {
  list(mean = as.matrix(mean), sd = sqrt(mse), held = -(log(2 * pi * mse) + 1) / 2)
}

# ---- Forest: the best of six small ones by its out-of-bag error or log probability ----

# The forest of 500 trees whose settings give the least error(forest) with 150.
tuned_forest <- function(x, y, sizes, error, ...) {
  grow <- function(mtry, size, trees) {
    ranger::ranger(x = x, y = y, mtry = mtry, min.node.size = size, num.trees = trees,
                   num.threads = 1, seed = 1, respect.unordered.factors = "order", ...)
  }
  p <- ncol(x)
  grid <- expand.grid(mtry = unique(ceiling(c(sqrt(p), p / 3, 2 * p / 3))), size = sizes)
  errors <- mapply(function(mtry, size) error(grow(mtry, size, 150)), grid$mtry, grid$size)
  best <- grid[which.min(errors), ]
  grow(best$mtry, best$size, 500)
}

by_ranger <- function(x, y, new) {
  best <- tuned_forest(x, y, c(1, 5), function(fit) fit$prediction.error)
  normal(stats::predict(best, new, num.threads = 1)$predictions, best$prediction.error)
}

labels_by_ranger <- function(x, y, new) {
  loss <- function(fit) -mean(own_log(pmax(fit$predictions, FLOOR), y), na.rm = TRUE)
  best <- tuned_forest(x, y, c(3, 10), loss, probability = TRUE)
  pmax(stats::predict(best, new, num.threads = 1)$predictions[, levels(y)], FLOOR)
}

# ---- Boosted trees: depth and number of trees by five folds ----

boosted <- function(x, y, new, task) {
  sparse <- n_columns(x) > WIDEST
  train <- xgboost::xgb.DMatrix(design(x, sparse = sparse), label = y)
  tried <- lapply(c(2, 4, 6), function(depth) {
    given <- c(task, list(max_depth = depth, eta = 0.1, subsample = 0.8, colsample_bytree = 0.8,
                          nthread = 1))
    set.seed(1)
    log <- xgboost::xgb.cv(given, train, nrounds = 1000, nfold = 5, verbose = FALSE,
                           early_stopping_rounds = 20)$evaluation_log
    log <- as.data.frame(log)
    error <- log[[grep("^test_.*_mean$", names(log))]]
    list(given = given, rounds = which.min(error), error = min(error))
  })
  best <- tried[[which.min(vapply(tried, `[[`, 0, "error"))]]
  set.seed(1)
  fit <- xgboost::xgb.train(best$given, train, nrounds = best$rounds, verbose = 0)
  list(answer = stats::predict(fit, xgboost::xgb.DMatrix(design(new, x, sparse))),
       error = best$error)
}

by_xgboost <- function(x, y, new) {
  unit <- stats::sd(y)
  made <- boosted(x, (y - mean(y)) / unit, new,
                  list(objective = "reg:squarederror", eval_metric = "rmse"))
  normal(mean(y) + unit * made$answer, (unit * made$error)^2)
}

labels_by_xgboost <- function(x, y, new) {
  code <- as.integer(y) - 1
  if (nlevels(y) == 2L) {
    second <- boosted(x, code, new, list(objective = "binary:logistic", eval_metric = "logloss"))
    return(two_columns(second$answer, y))
  }
  task <- list(objective = "multi:softprob", eval_metric = "mlogloss", num_class = nlevels(y))
  prob <- boosted(x, code, new, task)$answer
  if (!is.matrix(prob)) prob <- matrix(prob, nrow(new), byrow = TRUE)
  `colnames<-`(prob, levels(y))
}

two_columns <- function(second, y) {
  `colnames<-`(cbind(1 - second, second), levels(y))
}

# ---- Support vector machine: kernel width and cost by five folds ----

WIDTHS_AND_COSTS <- expand.grid(gamma = c(0.1, 0.5, 2), cost = c(1, 10))
FOLDED <- 1500L # most observations of the folds

svm_inputs <- function(x, new) {
  if (n_columns(x) > WIDEST) stop("more than ", WIDEST, " columns")
  train <- design(x)
  list(x = scaled_by(train, train), new = scaled_by(design(new, x), train))
}

by_e1071 <- function(x, y, new) {
  d <- svm_inputs(x, new)
  unit <- stats::sd(y)
  svm <- tuned_svm(d$x, (y - mean(y)) / unit, WIDTHS_AND_COSTS, FOLDED)
  normal(mean(y) + unit * stats::predict(svm$model, d$new), unit^2 * svm$mse)
}

labels_by_e1071 <- function(x, y, new) {
  d <- svm_inputs(x, new)
  svm_prob(tuned_svm(d$x, y, WIDTHS_AND_COSTS, FOLDED), d$new)[, levels(y)]
}

# ---- Elastic net: ridge, lasso and half of each; lambda by ten folds ----

netted <- function(x, y, new, ...) {
  sparse <- n_columns(x) > WIDEST
  d <- design(x, sparse = sparse)
  set.seed(1)
  fold <- sample(rep(1:10, length.out = nrow(d)))
  tried <- lapply(c(0, 0.5, 1), function(alpha) {
    glmnet::cv.glmnet(d, y, alpha = alpha, foldid = fold, ...)
  })
  error <- vapply(tried, function(fit) min(fit$cvm), 0)
  best <- tried[[which.min(error)]]
  list(answer = stats::predict(best, design(new, x, sparse), s = "lambda.min", type = "response"),
       error = min(error))
}

by_glmnet <- function(x, y, new) {
  made <- netted(x, y, new)
  normal(c(made$answer), made$error)
}

labels_by_glmnet <- function(x, y, new) {
  if (nlevels(y) == 2L) return(two_columns(c(netted(x, y, new, family = "binomial")$answer), y))
  netted(x, y, new, family = "multinomial")$answer[, levels(y), 1L]
}

# ---- Additive model: smooths of numbers, a surface of longitude and latitude, random effects of
# factors with many levels ----

MANY_LEVELS <- 20L

gam_terms <- function(x) {
  is_number <- !vapply(x, is.factor, NA)
  distinct <- vapply(x, function(x) length(unique(x)), 1L)
  place <- grep("^(lon|long|longitude|lat|latitude)$", names(x)[is_number], value = TRUE)
  if (length(place) != 2L) place <- character()
  smooth <- setdiff(names(x)[is_number & distinct > 5L], place)
  if (length(c(smooth, place)) == 0L) stop("no input to smooth")
  k <- min(10, (nrow(x) / 2 - n_columns(x[!is_number])) %/% max(1L, length(smooth)))
  if (k < 2) stop("too many inputs for the observations")
  surface <- if (length(place)) sprintf("te(%s, k = %d)", toString(place), max(3, min(k, 8)))
  smooths <- sprintf("s(`%s`, k = %d)", smooth, pmin(k, distinct[smooth] - 1))
  if (k < 3) smooths <- sprintf("`%s`", smooth)
  rest <- setdiff(names(x), c(smooth, place))
  many <- vapply(x[rest], nlevels, 1L) > MANY_LEVELS
  c(surface, if (length(smooth)) smooths, sprintf("`%s`", rest[!many]),
    sprintf("s(`%s`, bs = \"re\")", rest[many]))
}

# Large sets take bam(), as its help suggests.
additive <- function(x, y, family = stats::gaussian()) {
  terms <- gam_terms(x)
  d <- cbind(x, .y = y)
  many_classes <- family$family == "multinom"
  formula <- stats::reformulate(terms, ".y")
  if (many_classes) {
    formula <- c(formula, rep(list(stats::reformulate(terms)), nlevels(factor(y)) - 2L))
  }
  if (nrow(x) > 1000L && !many_classes) {
    mgcv::bam(formula, family, d, method = "fREML", discrete = TRUE)
  } else {
    mgcv::gam(formula, family, d, method = "REML")
  }
}

without_order <- function(x) {
  x[] <- lapply(x, function(x) if (is.ordered(x)) factor(x, ordered = FALSE) else x)
  x
}

by_mgcv <- function(x, y, new) {
  fit <- additive(without_order(x), y)
  answer <- stats::predict(fit, without_order(new), se.fit = TRUE)
  list(mean = as.matrix(c(answer$fit)), sd = as.matrix(sqrt(c(answer$se.fit)^2 + fit$sig2)))
}

labels_by_mgcv <- function(x, y, new) {
  x <- without_order(x)
  new <- without_order(new)
  code <- as.integer(y) - 1
  if (nlevels(y) == 2L) {
    fit <- additive(x, code, stats::binomial())
    return(two_columns(c(stats::predict(fit, new, type = "response")), y))
  }
  fit <- additive(x, code, mgcv::multinom(K = nlevels(y) - 1L))
  `colnames<-`(stats::predict(fit, new, type = "response"), levels(y))
}

# ---- BART: the sample of its posterior, a smaller one of many observations ----

sampled <- function(x, y, new) {
  set.seed(1)
  dbarts::bart(with_scores(x), y, with_scores(new), verbose = FALSE, nthread = 1L,
               ndpost = if (length(y) > 1000L) 300L else 1000L, nskip = 250L,
               keeptrainfits = FALSE)
}

by_dbarts <- function(x, y, new) {
  fit <- sampled(x, y, new)
  list(mean = t(fit$yhat.test), sd = matrix(fit$sigma, nrow(new), length(fit$sigma), byrow = TRUE))
}

labels_by_dbarts <- function(x, y, new) {
  if (nlevels(y) > 2L) stop("two classes only")
  two_columns(colMeans(stats::pnorm(sampled(x, as.integer(y) - 1, new)$yhat.test)), y)
}

# ---- All of them, cheap ones first ----

PEERS <- list(
  number = list(glmnet = by_glmnet, mgcv = by_mgcv, ranger = by_ranger, xgboost = by_xgboost,
                e1071 = by_e1071, dbarts = by_dbarts),
  class = list(glmnet = labels_by_glmnet, mgcv = labels_by_mgcv, ranger = labels_by_ranger,
               xgboost = labels_by_xgboost, e1071 = labels_by_e1071, dbarts = labels_by_dbarts)
)
