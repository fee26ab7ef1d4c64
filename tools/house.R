# Prints the figures of the R and C code that say how far the house is in order: see tools/house.
#
#   Rscript tools/house.R CHECKOUT
#
# The installed package is the one of that checkout. Nothing of it is changed on disk.

checkout <- normalizePath(commandArgs(TRUE)[1L])
r_files <- setdiff(list.files(file.path(checkout, "R"), "[.]R$"), "sparsegp-package.R")

show <- function(what, ...) cat(formatC(what, width = -58L), paste0(...), "\n")
counted <- function(counts) {
  counts <- sort(counts[counts > 0], decreasing = TRUE)
  words <- strwrap(toString(paste(names(counts), counts)), 96L, indent = 2L, exdent = 2L)
  cat(words, sep = "\n")
}

# ---- The sources ----

lines_of <- function(file) readLines(file.path(checkout, "R", file), encoding = "UTF-8")

# Every top-level value of R/ by name, and its file.
read_values <- function() {
  found <- lapply(r_files, function(file) {
    parsed <- parse(file.path(checkout, "R", file), keep.source = FALSE)
    assigned <- Filter(function(e) is.call(e) && identical(e[[1L]], as.name("<-")), as.list(parsed))
    names <- vapply(assigned, function(e) as.character(e[[2L]])[1L], "")
    list(values = stats::setNames(lapply(assigned, `[[`, 3L), names),
         file = stats::setNames(rep(file, length(names)), names))
  })
  list(values = do.call(c, lapply(found, `[[`, "values")),
       file = do.call(c, lapply(found, `[[`, "file")))
}

source_of <- read_values()
values <- source_of$values
file_of <- source_of$file
is_function <- vapply(values, function(e) is.call(e) && identical(e[[1L]], as.name("function")), NA)
functions <- values[is_function]

# Visits every call in an expression: visit(call, its head as a word).
walk <- function(e, visit) {
  if (is.pairlist(e) || is.expression(e)) return(for (part in as.list(e)) step_into(part, visit))
  if (!is.call(e)) return(invisible())
  visit(e, if (is.name(e[[1L]])) as.character(e[[1L]]) else "")
  for (part in as.list(e)) step_into(part, visit)
}

step_into <- function(part, visit) {
  if (!missing(part) && (is.call(part) || is.pairlist(part))) walk(part, visit)
}

# ---- Size ----

show_size <- function() {
  all <- lapply(r_files, lines_of)
  code <- function(lines) sum(!grepl("^ *(#|$)", lines))
  roxygen <- sum(vapply(all, function(lines) sum(startsWith(lines, "#'")), 0L))
  lines <- sum(lengths(all))
  sizes <- vapply(functions, function(f) length(deparse(f, 100L)), 0L)
  cat("-- size\n")
  show("R files", length(r_files))
  show("lines of R, of these roxygen, without roxygen",
       paste(lines, roxygen, lines - roxygen, sep = ", "))
  show("lines of R that are code (no comments, none empty)", sum(vapply(all, code, 0L)))
  show("R functions, median of their lines, most", length(functions), ", ", stats::median(sizes),
       ", ", max(sizes))
  c_files <- list.files(file.path(checkout, "src"), "[.][ch]$", full.names = TRUE)
  show("lines of C", sum(vapply(c_files, function(f) length(readLines(f)), 0L)))
}

# ---- Questions about shape or kind ----

GIVE_FLAGS <- c("&&", "||", "!", "==", "!=", "<", ">", "<=", ">=", "inherits", "identical",
                "isTRUE", "isFALSE", "any", "all", "anyNA", "%in%", "setequal", "startsWith",
                "endsWith", "grepl", "nzchar", "exists", "hasName", "xor")

# Returns whether an expression can only be TRUE or FALSE (or a vector of these), given the names of
# functions that return such values.
gives_flag <- function(e, known) {
  if (is.logical(e)) return(TRUE)
  if (!is.call(e) || !is.name(e[[1L]])) return(FALSE)
  head <- as.character(e[[1L]])
  if (head == "(") return(gives_flag(e[[2L]], known))
  branches <- if (head == "if") as.list(e)[-(1:2)] else list()
  if (length(branches) == 2L) return(all(vapply(branches, gives_flag, NA, known)))
  if (head == "return") return(length(e) == 2L && gives_flag(e[[2L]], known))
  if (head == "{" && length(e) > 1L) {
    return(gives_flag(e[[length(e)]], known) && returns_flags(e, known))
  }
  head %in% GIVE_FLAGS || startsWith(head, "is.") || head %in% known
}

returns_flags <- function(e, known) {
  right <- TRUE
  walk(e, function(call, head) {
    if (head == "return") right <<- right && gives_flag(call, known)
  })
  right
}

flag_functions <- function() {
  known <- character()
  repeat {
    found <- names(functions)[vapply(functions, function(f) gives_flag(f[[3L]], known), NA)]
    if (length(found) == length(known)) return(found)
    known <- found
  }
}

# A question about a kind is one about a value that says what was fitted to what. Left out, and
# printed beside: checks of saved values and of arguments, which may ask what they like, and
# questions about numbers.
ABOUT <- c("fit", "object", "lik", "likelihood", "response", "kernel", "method", "problem", "plan",
           "setup", "learned", "codec", "spec", "model", "source", "fits", "y", "candidate",
           "scaling", "recipe", "rows", "which", "choice", "stream", "strategy", "kind")
VALIDATION <- "^(fit-(check|fields|older)|(kernel|method|response)-check|util-(kinds|check))[.]R$"
# Names of questions whose source does not show that their answer is a flag, as it is a field or
# that of a method. own_spec() and leaves_of() return specifications and leaves.
ASKS <- "^(is|has|are|shows|may|takes|every|keeps|knows|needs|can|wants|offers)_"
# Of responses and rows it is their class or shape that says of which kind they are, not their
# numbers: are these whole, or events?
VALUES <- c("y", "rows")
SHOW_KIND <- "^(inherits|is[.](matrix|numeric|factor|list)|ncol|nrow|dim|attr|UseMethod)$"

# Asked of the number of rows that wait, of an argument, of this session and of what is remembered
# in it, and of what two runs came to
NO_KIND <- c("can_begin", "is_type", "has_workers", "is_margin_of", "more_points_pay")

# Functions and methods of files that check saved values and arguments
of_validation <- function() {
  file <- file_of[sub("[.].*", "", names(values))]
  grepl(VALIDATION, file_of) | grepl(VALIDATION, file)
}
asking <- values[!of_validation()]

# Functions that refuse or check what a user gave: questions there are right where they are.
REFUSES <- "^(refuse|check|what_forbids|lacking)_"
refusing <- asking[grepl(REFUSES, names(asking))]

calls_of <- function(names, among = asking) {
  counts <- stats::setNames(integer(length(names)), names)
  for (value in among) {
    walk(value, function(call, head) {
      for (name in c(head, vapply(as.list(call)[-1L], word_of, ""))) {
        if (name %in% names) counts[[name]] <<- counts[[name]] + 1L
      }
    })
  }
  counts
}

# The function that is handed on by its name, as in Filter(is_kind, x)
word_of <- function(e) if (!missing(e) && is.name(e)) as.character(e) else ""

show_predicates <- function() {
  asks <- union(flag_functions(), grep(ASKS, names(functions), value = TRUE))
  asks <- asks[file_of[asks] %in% r_files]
  first <- vapply(asks, function(name) {
    formal <- names(functions[[name]][[2L]])[1L]
    if (length(formal)) formal else ""
  }, "")
  checks <- grepl(VALIDATION, file_of[asks])
  of_numbers <- first %in% VALUES & !vapply(functions[asks], function(f) {
    any(grepl(SHOW_KIND, all.names(f[[3L]])))
  }, NA)
  about <- first %in% ABOUT & !checks & !of_numbers & !asks %in% NO_KIND
  count <- calls_of(asks)
  checked <- calls_of(asks[checks], values)
  cat("\n-- questions about shape or kind\n")
  show("functions that answer one, and calls of them", sum(about), ", ", sum(count[about]))
  counted(count[about])
  show("of these calls in functions that refuse or check", sum(calls_of(asks[about], refusing)))
  cat("not counted, checks of saved values and of arguments:", sum(checks), "functions,",
      sum(checked), "calls\n")
  cat("not counted, of numbers, rows and options:\n")
  counted(count[!about & !checks])
  sum(count[about])
}

# What a shape is called where it is compared with 1: of rows, of a response, of a problem.
SHAPES <- c("processes", "width", "w", "problem_width", "n_outputs", "outputs", "components",
            "n_components", "n_processes", "classes")
FLAGS <- c("several", "scaled", "ranked", "labelled", "jump", "wide", "missing", "apart",
           "multi_output", "ordered", "one_vs_rest", "offset_matrix", "standardised", "step")
CODEC <- "codec|^response$"

# Fields of a response that are TRUE or FALSE, however they are called.
find_flags <- function() {
  found <- FLAGS
  for (name in names(values)[startsWith(file_of, "response-")]) {
    walk(values[[name]], function(call, head) {
      given <- as.list(call)[-1L]
      literal <- vapply(given, function(e) !missing(e) && is.logical(e) && !is.na(e), NA)
      if (head %in% c("list", "codec_like")) found <<- union(found, names(given)[literal])
    })
  }
  found
}
COMPARE <- c("==", "!=", "<", ">", "<=", ">=")

# The name of the shape in `w`, `fit$width`, `width(fit)`; NULL: it is none.
shape_of <- function(e) {
  name <- if (is.name(e)) e else if (is.call(e) && identical(e[[1L]], as.name("$"))) e[[3L]]
          else if (is.call(e) && is.name(e[[1L]])) e[[1L]]
  if (length(name) == 1L && is.name(name) && as.character(name) %in% SHAPES) as.character(name)
}

is_one <- function(e) is.numeric(e) && isTRUE(e == 1)

field_of <- function(e, of = NULL) {
  if (!is.call(e) || !identical(e[[1L]], as.name("$"))) return("")
  if (!is.null(of) && !any(grepl(of, all.names(e[[2L]])))) return("")
  as.character(e[[3L]])
}

flags <- find_flags()

inline_question <- function(call, head) {
  if (head %in% COMPARE && length(call) == 3L) {
    sides <- as.list(call)[-1L]
    one <- vapply(sides, is_one, NA)
    shape <- if (any(one)) shape_of(sides[[which(!one)[1L]]])
    if (!is.null(shape)) return(paste(shape, "against 1"))
  }
  if (head == "is.null" && "levels" %in% c(field_of(call[[2L]]), word_of(call[[2L]]))) {
    return("is.null(levels)")
  }
  if (field_of(call, CODEC) %in% flags) return(paste0("codec$", field_of(call)))
  if (head %in% c("isTRUE", "isFALSE") && "lik_traits" %in% all.names(call)) {
    return(paste0(head, "(lik_traits()$)"))
  }
}

# What is assigned is no question.
inline_questions <- function(among) {
  found <- set <- character()
  for (value in among) {
    walk(value, function(call, head) {
      found <<- c(found, inline_question(call, head))
      if (head == "<-") set <<- c(set, inline_question(call[[2L]], ""))
    })
  }
  for (one in set) found <- found[-match(one, found)]
  found
}

show_inline <- function() {
  found <- inline_questions(asking)
  of_class <- 0L
  for (value in values) {
    walk(value, function(call, head) {
      words <- unlist(Filter(is.character, as.list(call)))
      own <- head == "inherits" && any(grepl("^(sparsegp|method|response)_", words))
      of_class <<- of_class + own
    })
  }
  show("asked in place", length(found))
  counted(table(found))
  show("of these in functions that refuse or check", length(inline_questions(refusing)))
  show("not counted: inherits() of a class of the package", of_class)
  length(found)
}

# ---- Cycles between files ----

# Which file uses something of which other, as tests/testthat/test-layers-r.R finds it.
uses_of_files <- function() {
  uses <- lapply(names(values), function(name) {
    globals <- codetools::findGlobals(eval(call("function", NULL, values[[name]])))
    used <- setdiff(intersect(globals, names(values)), name)
    cbind(rep(file_of[[name]], length(used)), file_of[used])
  })
  uses <- unique(do.call(rbind, uses))
  uses <- uses[uses[, 1L] != uses[, 2L], , drop = FALSE]
  reach <- matrix(FALSE, length(r_files), length(r_files), dimnames = list(r_files, r_files))
  reach[uses] <- TRUE
  reach
}

show_cycles <- function() {
  reach <- uses_of_files()
  edges <- sum(reach)
  for (k in seq_along(r_files)) reach <- reach | outer(reach[, k], reach[k, ])
  both <- reach & t(reach)
  in_cycle <- r_files[diag(both)]
  first <- vapply(in_cycle, function(file) in_cycle[both[file, in_cycle]][1L], "")
  cycles <- split(in_cycle, first)
  cat("\n-- cycles between R files\n")
  show("cycles, files in them, uses between files", length(cycles), ", ", length(in_cycle), ", ",
       edges)
  for (files in cycles[order(-lengths(cycles))]) {
    cat(strwrap(toString(sub("[.]R$", "", files)), 96L, indent = 2L, exdent = 4L), sep = "\n")
  }
}

# ---- Numbers of policy ----

POLICY <- "^(policy|race|candidate|strategy|plan|learn|method-work|fit-(tune|squares|copies))"

is_number_made <- function(e) {
  if (is.numeric(e)) return(TRUE)
  is.call(e) && is.name(e[[1L]]) && as.character(e[[1L]]) %in% c("c", "-", "/", "*", "list", "^") &&
    all(vapply(as.list(e)[-1L], is_number_made, NA))
}

# Numbers in functions, but for the small ones that are no choice.
unnamed_numbers <- function(f) {
  found <- numeric()
  visit <- function(e) {
    if (missing(e)) return(invisible())
    if (is.numeric(e) && !e %in% c(0:3, 0.5, Inf) && !is.integer(e)) found <<- c(found, e)
    if (is.call(e) || is.pairlist(e)) for (part in as.list(e)) visit(part)
  }
  visit(f[[3L]])
  found
}

show_policy <- function() {
  constants <- names(values)[vapply(values, is_number_made, NA)]
  of_policy <- grepl(POLICY, file_of[constants])
  inside <- lapply(functions[grepl(POLICY, file_of[names(functions)])], unnamed_numbers)
  cat("\n-- numbers of default fits\n")
  table <- tryCatch(eval(values$POLICY), error = function(e) NULL)
  show("rows of the table POLICY", NROW(table))
  show("named ones on the floors that decide, in files", sum(of_policy), ", ",
       length(unique(file_of[constants[of_policy]])))
  for (file in unique(file_of[constants[of_policy]])) {
    here <- constants[of_policy & file_of[constants] == file]
    cat(strwrap(paste0(file, ": ", toString(here)), 96L, indent = 2L, exdent = 4L), sep = "\n")
  }
  show("unnamed ones there, in functions", sum(lengths(inside)), ", ", sum(lengths(inside) > 0L))
  show("other named numbers, in files", sum(!of_policy), ", ",
       length(unique(file_of[constants[!of_policy]])))
}

# ---- What an addition touches ----

# Files in R/ and src/ whose code has this word; comments do not count.
files_with <- function(pattern) {
  in_r <- r_files[vapply(r_files, function(file) any(grepl(pattern, code_of(file))), NA)]
  sources <- list.files(file.path(checkout, "src"), "[.][ch]$")
  in_c <- sources[vapply(sources, function(file) {
    text <- readLines(file.path(checkout, "src", file))
    any(grepl(pattern, grep("^ *[/]?[*]", text, value = TRUE, invert = TRUE)))
  }, NA)]
  c(paste0("R/", in_r, recycle0 = TRUE), paste0("src/", in_c, recycle0 = TRUE))
}

CODE <- new.env()

code_of <- function(file) {
  if (is.null(CODE[[file]])) CODE[[file]] <- sub("#.*", "", lines_of(file))
  CODE[[file]]
}

# Files that have each of the words, with the words that most files have named.
show_touched <- function(what, words, pattern) {
  files <- lapply(words, function(word) files_with(gsub("%s", word, pattern, fixed = TRUE)))
  names(files) <- words
  show(paste(what, "by name, median of files and most"), stats::median(lengths(files)), ", ",
       max(lengths(files)))
  counted(lengths(files))
}

show_additions <- function() {
  likelihoods <- sub("_traits$", "", grep("_traits$", names(functions), value = TRUE))
  twins <- list.files(file.path(checkout, "src"), "^lik_.*[.]c$")
  likelihoods <- intersect(likelihoods, gsub("^lik_|[.]c$", "", twins))
  responses <- gsub("^response-|[.]R$", "", grep("^response-", r_files, value = TRUE))
  responses <- setdiff(responses, c("codec", "moments", "kinds"))
  types <- tryCatch(eval(values$PLOT_TYPES), error = function(e) NULL)
  cat("\n-- files of R/ and src/ that name one\n")
  show_touched("a likelihood:", likelihoods, "\"%s\"|\\b(sg_)?lik_%s\\b|\\b%s_traits")
  show_touched("a response:", responses, "\"%s\"|\\b(is|are|has|response)_%ss?\\b|%s_codec")
  if (!is.character(types)) return(invisible())
  show_touched("a type of plot:", types, "\"%s\"|\\b(draw|auto|plot)_%s\\b")
}

# ---- Comments in C ----

show_comments <- function() {
  files <- list.files(file.path(checkout, "src"), "[.]c$")
  core <- files[!grepl("^(glue|init)", files)]
  share <- vapply(core, function(file) {
    text <- readLines(file.path(checkout, "src", file))
    text <- text[nzchar(trimws(text))]
    opens <- cumsum(grepl("/[*]", text)) - cumsum(grepl("[*]/", text))
    inside <- grepl("^ */[*]", text) | c(0, utils::head(opens, -1L)) > 0
    100 * sum(inside) / sum(!inside)
  }, 0)
  cat("\n-- comments in C, lines per 100 others\n")
  show("core .c files: median, below 10, below 20, of", round(stats::median(share), 1L), ", ",
       sum(share < 10), ", ", sum(share < 20), ", ", length(core))
  share <- sort(share)
  each <- paste(names(share), format(round(share, 1L), trim = TRUE))
  cat(strwrap(toString(each), 96L, indent = 2L, exdent = 2L), sep = "\n")
}

# ---- The road of data: functions entered, stacks at calls of C ----

home <- asNamespace("sparsegp")
ROAD <- new.env()

restart <- function() {
  ROAD$entered <- new.env()
  ROAD$depth <- ROAD$frames <- ROAD$closures <- integer()
}

note_entry <- function(name) {
  ROAD$entered[[name]] <- c(ROAD$entered[[name]], 0L)[1L] + 1L
}

# Top-level functions of the package on the stack, other functions that it defines, all frames.
note_call_of_c <- function() {
  calls <- lapply(seq_len(sys.nframe() - 1L), sys.function)
  own <- vapply(calls, function(f) identical(topenv(environment(f), NULL), home), NA)
  top <- vapply(calls, function(f) identical(environment(f), home), NA)
  ROAD$depth <- c(ROAD$depth, sum(top))
  ROAD$closures <- c(ROAD$closures, sum(own))
  ROAD$frames <- c(ROAD$frames, sys.nframe() - 2L)
}

# .Call as the instrumented functions call it.
call_of_c <- function(...) {
  note_call_of_c()
  .Call(...)
}

# Replaces `.Call` in an expression by the function that notes it.
with_noted_calls <- function(e) {
  if (is.call(e)) {
    if (identical(e[[1L]], quote(.Call))) e[[1L]] <- call_of_c
    for (i in seq_along(e)) {
      part <- e[[i]]
      if (!missing(part) && is.call(part)) e[[i]] <- with_noted_calls(part)
    }
  }
  e
}

instrumented <- function(f, name) {
  if (identical(f, .Call)) return(call_of_c)
  body(f) <- call("{", as.call(list(note_entry, name)), with_noted_calls(body(f)))
  f
}

# Puts a noting version of each function in the place of it, also among the methods.
instrument <- function() {
  names <- Filter(function(name) is.function(home[[name]]) && !startsWith(name, "."),
                  ls(home, all.names = TRUE))
  noting <- stats::setNames(lapply(names, function(name) instrumented(home[[name]], name)), names)
  put <- function(name, f, where) {
    if (bindingIsLocked(name, where)) unlockBinding(name, where)
    assign(name, f, where)
  }
  for (name in names) put(name, noting[[name]], home)
  methods <- home[[".__NAMESPACE__."]]$S3methods
  for (i in seq_len(nrow(methods))) {
    generic <- get0(methods[i, 1L], home)
    if (is.null(generic)) next
    place <- if (is.primitive(generic)) baseenv() else topenv(environment(generic))
    table <- place[[".__S3MethodsTable__."]]
    key <- paste(methods[i, 1L], methods[i, 2L], sep = ".")
    if (is.environment(table) && !is.null(table[[key]]) && methods[i, 3L] %in% names) {
      put(key, noting[[methods[i, 3L]]], table)
    }
  }
  if (!is.null(home$fill_registry)) home$fill_registry(home)
}

travel <- function(what, task) {
  restart()
  task()
  entered <- unlist(as.list(ROAD$entered))
  middle <- function(x) paste0(stats::median(x), " (", max(x), ")")
  show(what, length(entered), " functions of ", length(unique(file_of[names(entered)])), " files")
  cat("  calls of them ", sum(entered), ", of C ", length(ROAD$depth),
      "; depth to C, median (most) ", middle(ROAD$depth), ", with closures ",
      middle(ROAD$closures), ", all frames ", middle(ROAD$frames), "\n", sep = "")
  readers <- grep("^read_(model|rows)$", names(entered), value = TRUE)
  if (length(readers)) cat("  reads:", toString(paste(readers, entered[readers])), "\n")
  invisible(entered)
}

# Processor time: other work of the machine counts little, and the least of some runs not at all.
seconds <- function(task, times = 15L) {
  task()
  all <- vapply(seq_len(times), function(i) sum(system.time(task())[1:2]), 0)
  paste0(round(1000 * min(all), 1L), " ms")
}

show_road <- function() {
  set.seed(1)
  d <- data.frame(x = seq(0, 10, length.out = 100))
  d$y <- sin(d$x) + 0.2 * rnorm(100)
  fit <- sparsegp(y ~ x, d)
  new <- d[1:10, , drop = FALSE]
  roads <- list(
    "sparsegp(dist ~ speed, cars)" = function() sparsegp(dist ~ speed, datasets::cars),
    "sparsegp(y ~ x), 100 rows" = function() sparsegp(y ~ x, d),
    "the same, kernel = \"rbf\"" = function() sparsegp(y ~ x, d, kernel = "rbf"),
    "the same, learn = FALSE" = function() sparsegp(y ~ x, d, kernel = "rbf", learn = FALSE),
    "predict() of ten rows, 50 times" = function() for (i in 1:50) predict(fit, new, se.fit = TRUE)
  )
  cat("\n-- processor time, the least of fifteen\n")
  for (what in names(roads)) show(what, seconds(roads[[what]]))
  cat("\n-- the road of data\n")
  instrument()
  for (what in names(roads)[-5L]) travel(what, roads[[what]])
  travel("predict() of ten rows", function() predict(fit, new, se.fit = TRUE))
}

# ----

show_all <- function() {
  show_size()
  questions <- show_predicates() + show_inline()
  show("both together", questions)
  show_cycles()
  show_policy()
  show_additions()
  show_comments()
  suppressPackageStartupMessages(library(sparsegp))
  show_road()
}

if (!interactive()) show_all()
