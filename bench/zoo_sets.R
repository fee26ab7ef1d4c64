# The data sets of bench/zoo.R: ../zoo/sets.tsv beside the data folder names package, data set,
# response, kind ("number" or "class"), and columns that would give the response away.

MOST_TRAINING <- 4000L # training observations, unless asked otherwise, and as many of the test

# Returns the table of the sets; half: "develop" for every other one of a kind, "kept" for the rest.
zoo_table <- function(folder = Sys.getenv("SPARSEGP_DATA")) {
  sets <- utils::read.delim(file.path(folder, "..", "zoo", "sets.tsv"), colClasses = "character",
                            na.strings = NULL)
  number <- stats::ave(seq_len(nrow(sets)), sets$kind, FUN = seq_along)
  sets$half <- ifelse(number %% 2 == 1, "develop", "kept")
  sets$name <- paste(sets$package, sets$data, sep = "/")
  sets
}

# Returns a data set as a data frame. A file without an object of its name holds its columns in
# several objects.
zoo_object <- function(package, data) {
  held <- new.env()
  suppressWarnings(utils::data(list = data, package = package, envir = held))
  found <- mget(ls(held), held)
  if (length(found) == 0L) return(as.data.frame(getExportedValue(package, data)))
  if (data %in% names(found)) return(as.data.frame(found[[data]]))
  frames <- vapply(found, is.data.frame, NA)
  do.call(data.frame, c(unname(found[frames]), found[!frames]))
}

# Returns the complete observations, texts as factors, without the columns to drop, those of which a
# third is missing, constant ones, and names of the observations.
zoo_rows <- function(set) {
  rows <- zoo_object(set$package, set$data)
  rows <- rows[setdiff(names(rows), strsplit(set$drop, ",", fixed = TRUE)[[1L]])]
  rows <- rows[!is.na(rows[[set$response]]), ]
  rows <- rows[colMeans(is.na(rows)) < 1 / 3]
  rows <- rows[stats::complete.cases(rows), ]
  texts <- vapply(rows, function(x) is.character(x) || is.factor(x) && !is.ordered(x), NA)
  rows[texts] <- lapply(rows[texts], factor)
  if (set$kind == "class") rows[[set$response]] <- factor(rows[[set$response]])
  rows[vapply(rows, function(x) {
    length(unique(x)) > 1L && (!is.factor(x) || nlevels(x) <= nrow(rows) / 2)
  }, NA)]
}

# Splits a set at random, with a fixed seed: two thirds are for training, up to `most`. Returns
# list(name, response, kind, formula, train, test).
zoo_split <- function(set, most = MOST_TRAINING) {
  rows <- zoo_rows(set)
  set.seed(1)
  order <- sample.int(nrow(rows))
  n <- min(most, round(2 / 3 * nrow(rows)))
  train <- droplevels(rows[order[seq_len(n)], , drop = FALSE])
  test <- rows[utils::head(order[-seq_len(n)], MOST_TRAINING), , drop = FALSE]
  rownames(train) <- rownames(test) <- NULL
  list(name = set$name, response = set$response, kind = set$kind,
       formula = stats::reformulate(".", set$response), train = train,
       test = without_new_levels(test, train))
}

# Removes test observations with levels that no training observation has: peers refuse them.
without_new_levels <- function(test, train) {
  known <- rep(TRUE, nrow(test))
  for (name in names(train)[vapply(train, is.factor, NA)]) {
    known <- known & test[[name]] %in% levels(train[[name]])
    test[[name]] <- factor(test[[name]], levels(train[[name]]), ordered = is.ordered(train[[name]]))
  }
  test[known, , drop = FALSE]
}
