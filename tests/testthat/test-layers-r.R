# The floors of R/, read off the sources themselves. The prefix of a file is its room.

r_code_alone()

# From the ground up. A function uses what its own room or a lower one defines, and nothing above.
ROOMS <- c(
  util = "checks of arguments, words, random seeds, quantiles of mixtures",
  policy = "the numbers that steer default fits",
  choices = "the record of what a fit chose",
  data = "columns and inputs, their scaling, sources and subsets of rows",
  response = "codecs: how a response is read, and given back",
  hyper = "hyperparameters: as given, priors, the table",
  kernel = "kernels: values, their inputs, their hyperparameters",
  lik = "likelihoods: what they share, and a file for each",
  method = "methods as a user gives them",
  rows = "how rows are read: recipes, model frames, inputs, the basis as given",
  posterior = "what is asked of a stored posterior",
  engine = "the calls of C",
  predictive = "the distribution of a new response of each row, from latent moments",
  model = "what is read off the rows before anything is learned",
  learn = "the search for hyperparameters",
  plan = "algorithms: what each method does",
  strategy = "default fits: candidates, their comparison, one strategy for each kind of problem",
  fit = "the fit: its fields, how it was made, its slopes and modes",
  stream = "rows as they come",
  update = "more rows for a fit on a basis; fits merged, sent and compared",
  chunked = "rows that are read in chunks, time and again",
  answers = "a fit's own rows and others; what it says of them",
  lm = "the methods that lm() has, too; the importance of inputs",
  vcov = "how well hyperparameters are known",
  integrate = "hyperparameters integrated out",
  api = "sparsegp(), predict() and the methods of a fit",
  density = "densities: a model of points, with its methods",
  design = "which rows to label or measure next",
  interop = "methods that other packages ask for",
  plot = "pictures"
)

# For every top-level object its file, the functions it calls, and the other top-level objects it
# names: a data frame with a row for each use.
uses_in_r <- function() {
  skip_if_not_installed("codetools")
  file <- character()
  value <- list()
  for (name in r_files()) {
    for (expression in parse(file.path(source_folder("R"), name), keep.source = FALSE)) {
      if (!is.call(expression)) next # the NULL that carries a help page
      stopifnot(identical(expression[[1L]], as.name("<-")))
      object <- as.character(expression[[2L]])
      file[object] <- name
      value[[object]] <- expression[[3L]]
    }
  }
  globals <- lapply(value, function(code) {
    codetools::findGlobals(eval(call("function", NULL, code)), merge = FALSE)
  })
  uses <- lapply(names(value), function(object) {
    setdiff(intersect(unlist(globals[[object]]), names(value)), object)
  })
  list(file = file, calls = lapply(globals, `[[`, "functions"),
       uses = data.frame(user = rep(names(value), lengths(uses)), used = unlist(uses)))
}

delayedAssign("USES", uses_in_r()) # once for all tests that look at them, and within a test

test_that("every file in R has a room", {
  files <- r_files()
  expect_none(files[!room_of(files) %in% names(ROOMS)], "files that no room knows")
})

test_that("no name stands for two things in R", {
  slow_tier()
  defined <- unlist(lapply(r_files(), function(name) {
    parsed <- parse(file.path(source_folder("R"), name), keep.source = FALSE)
    assigned <- Filter(function(e) is.call(e) && identical(e[[1L]], as.name("<-")), as.list(parsed))
    vapply(assigned, function(e) as.character(e[[2L]])[1L], "")
  }))
  expect_none(unique(defined[duplicated(defined)]), "names that are defined twice")
})

test_that("no function in R uses one of a room above its own", {
  slow_tier()
  found <- USES
  uses <- found$uses
  floor_of <- function(object) match(room_of(found$file[object]), names(ROOMS))
  up <- uses[floor_of(uses$used) > floor_of(uses$user), ]
  expect_none(paste0(found$file[up$user], ": ", up$user, "() uses ", up$used, "() of ",
                     found$file[up$used], recycle0 = TRUE), "uses that go up")
})

test_that("no files in R use each other in a circle", {
  slow_tier()
  found <- USES
  files <- unique(found$file)
  uses <- matrix(FALSE, length(files), length(files), dimnames = list(files, files))
  uses[cbind(found$file[found$uses$user], found$file[found$uses$used])] <- TRUE
  expect_none(files[in_circles(uses)], "files in a circle")
})

test_that("everything in R is used: by something else there, by users, or as a method", {
  slow_tier()
  found <- USES
  namespace <- asNamespace("sparsegp")
  exported <- getNamespaceExports(namespace)
  methods <- namespace[[".__NAMESPACE__."]]$S3methods
  # util-registry.R; R's loader; glue_{convert,host,custom,extension}.c
  by_name <- paste0("_(traits|codec|kinds|plot)$|^kernel_table$|^codecs_[a-z_]+$|^[.]onLoad$|",
                    "^threads_wanted$|^(logps|slopes)_of_custom$|^evaluate_kernel$|^lik_hurdle|",
                    "^(load|stop)_extension$|^refuse_lost_integrals$")
  idle <- setdiff(names(found$file), c(found$uses$used, exported, methods[, 3L]))
  expect_none(grep(by_name, idle, value = TRUE, invert = TRUE), "what nothing uses")
})

test_that("every function that one in R calls is there", {
  slow_tier()
  calls <- USES$calls
  namespace <- asNamespace("sparsegp")
  there <- c(ls(namespace, all.names = TRUE), ls(parent.env(namespace), all.names = TRUE),
             ls(baseenv(), all.names = TRUE))
  lacking <- lapply(calls, setdiff, there)
  expect_none(paste0(rep(names(lacking), lengths(lacking)), " calls ", unlist(lacking),
                     recycle0 = TRUE), "calls of functions that are not there")
})

test_that("every likelihood has a file in R and its twin in C", {
  slow_tier()
  for (type in likelihood_names()) expect_true(is.list(traits_of(type)), label = type)
  twins <- sub("_", "-", sub("[.]c$", ".R", grep("^lik_[a-z]+[.]c$", core_files(), value = TRUE)))
  # those of vectors have no interface in R yet
  wide <- paste0("lik-", setdiff(names(catalogue()$likelihoods), likelihood_names()), ".R")
  expect_none(setdiff(twins, c(wide, r_files())), "likelihoods in C without a twin in R")
})

# Names and levels of the data, and everything in a saved fit, may be any text.
test_that("no text is made code in R, and names of functions are checked before they are used", {
  slow_tier()
  words_of <- function(name) {
    parsed <- parse(file.path(source_folder("R"), name), keep.source = FALSE)
    assigned <- Filter(function(e) is.call(e) && identical(e[[1L]], as.name("<-")), as.list(parsed))
    stats::setNames(lapply(assigned, function(e) all.names(e[[3L]])),
                    vapply(assigned, function(e) paste0(name, ": ", e[[2L]]), ""))
  }
  words <- unlist(lapply(r_files(), words_of), recursive = FALSE)
  using <- function(some) names(words)[vapply(words, function(used) any(some %in% used), NA)]
  makes_code <- c("parse", "str2lang", "str2expression", "as.formula", "reformulate", "evalq",
                  "formula.character", "sys.source")
  expect_none(using(makes_code), "what makes code of text")
  # names of the package's own registries, checked before; the user's na.action and formula
  # operators; functions of R's own and of packages attached
  known <- c("traits_of", "codec_named", "as_kernel", "likelihood_of_family", "apply_na_action",
             "is_smooth_mark", "is_forked", "pass_on", "with_seed", "noted_variables",
             "family_named", "functions_named", "random_state", "clock_of_rows", "masked_here",
             "refuse_lost_times")
  found <- using(c("get", "get0", "mget", "match.fun", "dynGet", "getAnywhere", "getFunction"))
  expect_none(found[!sub(".*: ", "", found) %in% known], "what looks functions up by name")
})

# One road for rows: a first call, predictions, more rows, chunks of a source and points of a basis.
test_that("one function evaluates model.frame()", {
  slow_tier()
  names_in <- function(name) {
    parsed <- parse(file.path(source_folder("R"), name), keep.source = FALSE)
    parsed <- Filter(function(e) is.call(e) && length(e) == 3L, as.list(parsed))
    stats::setNames(lapply(parsed, function(e) all.names(e[[3L]])),
                    vapply(parsed, function(e) paste0(name, ": ", as.character(e[[2L]])[1L]), ""))
  }
  words <- unlist(lapply(r_files(), names_in), recursive = FALSE)
  using <- function(word) names(words)[vapply(words, function(used) word %in% used, NA)]
  expect_identical(using("model.frame"), "rows-frame.R: model_frame")
})

test_that("files in R stay short", {
  slow_tier()
  for (file in r_files()) {
    expect_lte(length(readLines(file.path(source_folder("R"), file))), 450L, label = file)
  }
})

test_that("only plans and methods ask which method there is", {
  slow_tier()
  lines_of <- function(file) sub("#.*", "", readLines(file.path(source_folder("R"), file)))
  others <- r_files()[!room_of(r_files()) %in% c("method", "plan", "strategy")]
  asks <- "method\\$type|inherits\\([^)]*method_|class\\([^)]*method"
  expect_none(lines_matching(asks, others, lines_of), "what asks for the method")
  # the engine hands its settings to C; a stream goes by its pilot and order
  above <- others[room_of(others) %in% c("model", "learn", "fit", "api", "plot")]
  expect_none(lines_matching("method\\$(?!label\\b)", above, lines_of),
              "what reads a method's settings")
})

test_that("the package loads where no other is attached", {
  slow_tier()
  # the generic of a method is imported, or the package's own
  methods <- asNamespace("sparsegp")[[".__NAMESPACE__."]]$S3methods
  known <- function(generic) {
    exists(generic, asNamespace("sparsegp"), inherits = FALSE) ||
      exists(generic, parent.env(asNamespace("sparsegp")), inherits = FALSE) ||
      exists(generic, baseenv()) || generic == "Ops" # a group of base R's
  }
  at_once <- is.na(methods[, 4L]) # not delayed until another package is there
  generics <- unique(methods[at_once, 1L])
  expect_none(generics[!vapply(generics, known, NA)], "generics that are not imported")
})

test_that("files that comments and ARCHITECTURE.md name are there", {
  slow_tier()
  folders <- vapply(c("R", "src", "tests/testthat", "tools", "bench"), source_folder, "")
  skip_if_not(all(dir.exists(folders)))
  page <- file.path(dirname(folders[["R"]]), "ARCHITECTURE.md")
  skip_if_not(file.exists(page)) # the built package has neither tools nor this page
  known <- unlist(lapply(folders, list.files))
  files <- c(page, unlist(lapply(folders, list.files, "[.](R|c|h)$", full.names = TRUE)))
  named <- unlist(lapply(files, function(file) {
    words <- unlist(regmatches(readLines(file), gregexpr("[a-z_-]+[.](R|c|h)\\b",
                                                         readLines(file))))
    words <- setdiff(unique(grep("[a-z][-_][a-z]", words, value = TRUE)),
                     c(known, "asan_interface.h"))
    if (length(words)) paste(basename(file), "names", words)
  }))
  expect_none(named, "names of files that are not there")
})

test_that("what scripts take from the inside of the package is there", {
  slow_tier()
  folders <- vapply(c("bench", "tools"), source_folder, "")
  skip_if_not(all(dir.exists(folders)))
  files <- unlist(lapply(folders, list.files, "[.]R$", full.names = TRUE, recursive = TRUE))
  taken <- unlist(lapply(files, function(file) {
    lines <- readLines(file)
    unlist(regmatches(lines, gregexpr("(?<=sparsegp:::)[A-Za-z_.]+", lines, perl = TRUE)))
  }))
  expect_none(setdiff(taken, ls(asNamespace("sparsegp"), all.names = TRUE)), "names of nothing")
})

test_that("each piece that tools/mutants changes stands once in its file", {
  slow_tier()
  root <- dirname(source_folder("tools"))
  lines <- readLines(file.path(root, "tools", "mutants.list"))
  heading <- grepl("^(src|R)/[^ ]+:", lines)
  file <- sub(":.*", "", lines[heading])[cumsum(heading)[grepl("^- ", lines)]]
  piece <- sub("^- ", "", grep("^- ", lines, value = TRUE))
  count <- mapply(function(file, piece) {
    path <- file.path(root, file)
    if (file.exists(path)) sum(grepl(piece, readLines(path), fixed = TRUE)) else 0L
  }, file, piece)
  expect_none(paste0(file, ": ", piece)[count != 1L], "pieces that do not stand there once")
})
