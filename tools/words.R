# Prints what is wrong with the package's words, a finding a line; run by tools/lint, in seconds.
#
#   Rscript tools/words.R          in the checkout's folder
#
# - AVOID, TERMS: words that the prose of the package does without, with what stands in their place.
#   Prose are help pages (comments that begin with #'), vignettes, README, NEWS, the other pages of
#   the checkout, and messages (texts in R code with a space in them). Code in it is not read.
# - COMMENTS: the strongest of these rules hold for comments in R/ and src/, too.
# - HEADLESS: a comment begins with what is done, and not with a relative clause.
# - LIMITS: a help page has at most so many words before "Details".
# - The first mention on a help page reads: inducing points (the *basis*).
# - A number of two digits or more in the prose of a vignette is not typed but inline code, so text
#   and output agree; or it stands in the page's code, in bench/results/ or in R/policy.R.
#   (tests/testthat/test-quoted.R compares papers.Rmd with bench/results/ line by line.)
# - A section of a vignette that shows results and compares (COMPARES) has code that checks what it
#   says, stopifnot() in a chunk that is not shown, or takes it from inline code.
#
# tools/words.allowed has the exceptions, of which each has to occur.

# Pairs: a pattern, and what to write.
AVOID <- c(
  "so that" = "so; to", "as they are" = "unchanged", "at hand" = "given; present",
  "no more(?! than)" = "only; no longer", "is told of|are told of" = "there is a message",
  "(?<!to )(tells|told|tell)\\b" = "shows; says", "it comes to" = "it equals",
  "(rows?|data|fits?|models?|kernels?|functions?|evidence) (knows?|says?|said)\\b" = "shows; gives",
  "\\bdear\\b" = "costly", "\\blegal\\b" = "allowed", "\\bluck\\b" = "chance",
  "taken for|takes? \\w+ for\\b" = "treated as", "\\bfor ever\\b" = "without end",
  "case for a coin" = "toss-up", "is no reason to" = "does not",
  "\\bturned (?!into|off|on\\b)" = "flipped; rotated",
  # of numbers and places "apart" is a distance
  "\\b(kept|keeps?|set|sets) (\\w+ )?apart\\b" = "separate; distinguish",
  "(?<!there )\\b(is|are) none\\b" = "is not one"
)
TERMS <- c(
  "points (that carry|that all rows go through)" = "inducing points",
  "(each|one) (class )?against (the|all) (rest|others)" = "one-vs-rest",
  "learned from as numbers" = "least-squares classification",
  "\\b(powered|sharpened) " = "recalibrated", "latent function plus bias" = "linear predictor",
  "course of (a|the) fit" = "convergence", "\\b(prospect|outlook)\\b" = "lookahead",
  "\\bbelieved\\b" = "kriging believer", "held back|told and held" = "held out",
  "rows that are not at hand" = "out-of-core",
  "grown while|grows? while (that|it) pays" = "adaptive",
  "\\bshares? of (the )?(variance|rows|observations|trials|mass|weight)" = "proportion of"
)
# Of help pages and messages: sentences without a verb, and things that see, want or know
HELP <- c(
  "(^|[.;:] )Of (?!course)" = "a sentence with a subject and a verb",
  "@param \\S+ Nothing" = "Not used",
  "@param \\S+ (Of|Are|Is|Do|Does|Also)\\b" = "what the value is, its unit and its range",
  "\\bunderstands?|\\bunderstood\\b|\\bknows? (of|them|nothing)\\b" = "accepts; reads",
  "\\b(kernels?|parts?|fits?|models?|packages?|EP|C) (sees?(?! `)|wants?|minds?)\\b" = "reads",
  "\\b(methods?|streams?|likelihoods?|observations?|basis) (sees?(?! `)|wants?)\\b" = "has; needs",
  "\\b(is|are|be) (had|settled|asked for)\\b" = "available; chosen; requested",
  "\\bgo(es)? on\\b" = "continue", "\\bunless you say\\b" = "by default",
  "\\bsays? (so|nothing|little|how|what|which)\\b" = "shows; states",
  "\\b(has|have|knows?) nothing to (say|do)\\b" = "is not informative",
  "\\blooked at\\b" = "evaluated; examined"
)
COMMENTS <- c(AVOID[c("is told of|are told of", "\\bdear\\b", "\\blegal\\b", "\\bluck\\b",
                      "case for a coin")], TERMS[!startsWith(names(TERMS), "\\bshares?")])
HEADLESS <- paste0("^(What|Who|Whose|Where|Whether|Which|By what|By which|In which|",
                   "(Of|To|From|On|For|With) (which|what|whom))\\b(?![^.]*[?])")
COMPARES <- paste0("\\b(better|worse|best|worst|smaller|larger|wider|narrower|higher|lower|faster|",
                   "slower|too (wide|narrow)|(less|more) certain|helps|widens|falls)\\b")
LIMITS <- c(sparsegp = 1200L, other = 600L)

# Prose -----------------------------------------------------------------------

# Returns prose without what is code or a formula in it.
plain <- function(text) {
  text <- gsub("`[^`]*`", "`", text)
  text <- gsub("[\\\\](code|eqn|deqn|link|method|url)[{][^{}]*([{][^{}]*[}][^{}]*)*[}]", "`", text)
  gsub("\\[[^] ]*\\](\\[[^]]*\\]|\\([^)]*\\))?", "`", text)
}

# Joins lines that follow each other without an empty one: a data frame of the first line's number,
# and the text.
paragraphs <- function(file, line, text, role) {
  if (!length(line)) return(NULL)
  empty <- !nzchar(text) | grepl("^[|*-]|^[0-9]+[.] |^@", text)
  start <- c(TRUE, diff(line) != 1L) | empty | c(FALSE, !nzchar(text)[-length(text)])
  group <- cumsum(start)
  data.frame(file = file, line = line[!duplicated(group)], role = role,
             text = plain(vapply(split(text, group), paste, "", collapse = " ")))
}

# Returns an R file's help pages, comments and messages.
of_r <- function(file) {
  parsed <- utils::getParseData(parse(file, keep.source = TRUE))
  comments <- parsed[parsed$token == "COMMENT", ]
  alone <- !comments$line1 %in% parsed$line1[parsed$terminal & parsed$token != "COMMENT"]
  help <- startsWith(comments$text, "#'")
  prose <- help & !in_examples(comments$text)
  strings <- parsed[parsed$token == "STR_CONST" & grepl(" ", parsed$text), ]
  rbind(
    paragraphs(file, comments$line1[prose], sub("^#' ?", "", comments$text[prose]), "help"),
    paragraphs(file, comments$line1[!help & alone], sub("^#+ ?", "", comments$text[!help & alone]),
               "comment"),
    if (nrow(strings)) data.frame(file = file, line = strings$line1, role = "message",
                                  text = plain(strings$text))
  )
}

# Returns which lines of help stand in examples or are of tags that are read by programs.
in_examples <- function(text) {
  tag <- ifelse(grepl("^#' @", text), sub("^#' (@\\w+).*", "\\1", text), NA)
  tag[!startsWith(text, "#'")] <- ""
  at <- cummax(ifelse(is.na(tag), 0L, seq_along(tag)))
  at > 0L & c("", tag)[at + 1L] %in% c("@examples", "@examplesIf", "@usage", "@concept", "@aliases")
}

# Returns a C file's comments.
of_c <- function(file) {
  lines <- readLines(file)
  opens <- grepl("^\\s*/[*]", lines)
  inside <- cumsum(opens) > cumsum(c(FALSE, grepl("[*]/", lines)[-length(lines)]))
  inside <- opens | inside & grepl("^\\s*[*] |^\\s*[*]$|^\\s+\\w", lines)
  text <- trimws(sub("^\\s*(/[*]+|[*](?!/))", "", sub("[*]/.*$", "", lines[inside]), perl = TRUE))
  blocks <- cumsum(opens[inside])
  do.call(rbind, lapply(split(seq_along(text), blocks), function(at) {
    paragraphs(file, which(inside)[at], text[at], "comment")
  }))
}

# Returns which lines of a page are code, fences included.
are_code <- function(lines) {
  fence <- grepl("^\\s*```", lines)
  cumsum(fence) %% 2L == 1L | fence
}

# Returns a page's prose: without its header, code and comments of HTML.
of_page <- function(file) {
  lines <- readLines(file)
  code <- are_code(lines) | grepl("^<!--", lines)
  if (grepl("Rmd$", file)) code <- code | cumsum(lines == "---") < 2L | lines == "---"
  paragraphs(file, which(!code), trimws(lines[!code]), "page")
}

# Findings --------------------------------------------------------------------

found_by <- function(prose, rules) {
  unlist(lapply(names(rules), function(pattern) {
    at <- grep(pattern, prose$text, perl = TRUE, ignore.case = TRUE)
    near <- sprintf(".{0,30}(%s).{0,30}", pattern)
    text <- prose$text[at]
    seen <- regmatches(text, regexpr(near, text, perl = TRUE, ignore.case = TRUE))
    sprintf("%s:%d: \"%s\" (write: %s)", prose$file[at], prose$line[at], seen, rules[[pattern]])
  }))
}

# Removes parts of a help page that have this tag.
without_tag <- function(page, tag) {
  if (!is.list(page)) return(page)
  lapply(Filter(function(part) !identical(attr(part, "Rd_tag"), tag), page), without_tag, tag)
}

words_before_details <- function(file) {
  page <- tools::parse_Rd(file, encoding = "UTF-8")
  tags <- vapply(page, attr, "", "Rd_tag")
  counted <- if ("\\details" %in% tags) c("\\title", "\\description", "\\arguments") else {
    c("\\title", "\\description", "\\arguments", "\\value", "\\section", "\\note")
  }
  text <- paste(unlist(without_tag(page[tags %in% counted], "\\preformatted")), collapse = " ")
  lengths(regmatches(text, gregexpr("[[:alpha:]][[:alnum:]'-]*", text)))
}

found_long <- function() {
  unlist(lapply(list.files("man", "[.]Rd$", full.names = TRUE), function(file) {
    words <- words_before_details(file)
    limit <- if (basename(file) == "sparsegp.Rd") LIMITS[["sparsegp"]] else LIMITS[["other"]]
    if (words > limit) sprintf("%s: %d words before \"Details\", %d at most", file, words, limit)
  }))
}

# Texts of a help page's parts in the order in which they are shown.
shown_text <- function(file) {
  page <- tools::parse_Rd(file, encoding = "UTF-8")
  tags <- vapply(page, attr, "", "Rd_tag")
  order <- c("\\description", "\\arguments", "\\details", "\\value", "\\section")
  at <- match(tags, order)
  paste(unlist(page[order(at)][seq_len(sum(!is.na(at)))]), collapse = "")
}

found_unnamed_basis <- function() {
  unlist(lapply(list.files("man", "[.]Rd$", full.names = TRUE), function(file) {
    text <- gsub("\\s+", " ", shown_text(file))
    at <- regexpr("[Ii]nducing points?", text)
    if (at < 0L) return(NULL)
    after <- substr(text, at, at + 30L)
    if (!grepl("points? [(](the )?basis", after)) {
      sprintf("%s: \"%s\": the first mention is: inducing points (the *basis*)", file, after)
    }
  }))
}

# ---- Numbers ----

NUMBER <- "(?<![\\w.-])[0-9]+([.][0-9]+)?(?![\\w-])"
# years, sections, equations and addresses
NOT_QUOTED <- paste0("[$][^$]*[$]|\\b(19|20)[0-9]{2}\\b|[Ss]ections? [0-9.]+( and [0-9.]+)?|",
                     "\\b(eqs?|[Ff]ig|[Tt]able)[^ ]* [0-9.]+|\\]\\([^)]*\\)|https?:\\S+")

numbers_of <- function(text, pattern = "[0-9]+([.][0-9]+)?") {
  unlist(regmatches(text, gregexpr(pattern, text, perl = TRUE)))
}

significant <- function(number) {
  digits <- sub("^0+", "", sub(".", "", number, fixed = TRUE))
  nchar(ifelse(grepl(".", number, fixed = TRUE), digits, sub("0+$", "", digits)))
}

# Returns whether numbers as written are among others: exactly, or after rounding to their digits.
are_among <- function(written, values) {
  decimals <- nchar(sub("^[0-9]*[.]?", "", written))
  vapply(seq_along(written), function(i) {
    apart <- min(abs(values - as.numeric(written[i])), Inf)
    apart <= if (decimals[i] > 0L) 0.5001 * 10^-decimals[i] else 0
  }, NA)
}

found_typed <- function(file, measured) {
  lines <- readLines(file)
  header <- cumsum(lines == "---") < 2L
  code <- are_code(lines)
  inline <- unlist(regmatches(lines[!code], gregexpr("`[^`]*`", lines[!code])))
  own <- as.numeric(numbers_of(c(lines[code], inline)))
  prose <- gsub(NOT_QUOTED, "", gsub("`[^`]*`", "`", lines), perl = TRUE)
  unlist(lapply(which(!code & !header), function(at) {
    typed <- numbers_of(prose[at], NUMBER)
    typed <- typed[significant(typed) >= 2L]
    typed <- typed[!are_among(typed, c(own, measured))]
    if (length(typed)) sprintf("%s:%d: %s is typed: take it from code", file, at, typed)
  }))
}

found_in_vignettes <- function() {
  measured <- unlist(lapply(c(list.files("bench/results", "[.]md$", full.names = TRUE,
                                         recursive = TRUE),
                              "R/policy.R"), function(file) numbers_of(readLines(file))))
  files <- list.files("vignettes", "[.]Rmd$", full.names = TRUE, recursive = TRUE)
  files <- files[basename(files) != "papers.Rmd"]
  unlist(lapply(files, found_typed, unique(as.numeric(measured))))
}

# Returns sections of vignettes that compare results and do not check them.
found_unchecked <- function() {
  files <- list.files("vignettes", "[.]Rmd$", full.names = TRUE, recursive = TRUE)
  unlist(lapply(files, function(file) {
    lines <- readLines(file)
    code <- are_code(lines)
    heading <- grepl("^#", lines) & !code
    by_section <- split(seq_along(lines), cumsum(heading))
    unlist(lapply(by_section, unchecked_in, lines, code, file))
  }))
}

unchecked_in <- function(at, lines, code, file) {
  own <- lines[at]
  shows <- grepl("^```[{]r", own) & !grepl("(include|eval) = FALSE", own)
  prose <- own[!code[at] & !startsWith(own, "|")]
  compares <- grep(COMPARES, prose, perl = TRUE, value = TRUE)
  checked <- any(grepl("stopifnot(", own[code[at]], fixed = TRUE)) || any(grepl("`r ", prose))
  if (!any(shows) || length(compares) == 0L || checked) return(NULL)
  sprintf("%s:%d: compares, and nothing checks it: %s", file, at[1L], compares[1L])
}

# Returns findings but those that are allowed, and exceptions that nothing needs.
but_allowed <- function(found) {
  allowed <- grep("^(#|$)", readLines("tools/words.allowed"), invert = TRUE, value = TRUE)
  hits <- vapply(allowed, grepl, logical(length(found)), fixed = TRUE,
                 x = sub(":[0-9]+:", ":", found))
  hits <- matrix(hits, length(found))
  c(found[rowSums(hits) == 0L],
    sprintf("tools/words.allowed: no longer needed: %s", allowed[colSums(hits) == 0L]))
}

main <- function() {
  pages <- c("README.md", "NEWS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "cran-comments.md",
             list.files("vignettes", "[.]Rmd$", full.names = TRUE, recursive = TRUE))
  prose <- do.call(rbind, c(
    lapply(list.files("R", "[.]R$", full.names = TRUE), of_r),
    lapply(list.files("src", "[.][ch]$", full.names = TRUE), of_c), lapply(pages, of_page)
  ))
  comment <- prose$role == "comment"
  headless <- prose[comment & grepl(HEADLESS, prose$text, perl = TRUE), ]
  found <- c(
    found_by(prose[!comment, ], c(AVOID, TERMS)), found_by(prose[comment, ], COMMENTS),
    found_by(prose[prose$role %in% c("help", "message"), ], HELP),
    sprintf("%s:%d: begins without a verb: %s", headless$file, headless$line,
            substr(headless$text, 1L, 50L)),
    found_long(), found_unnamed_basis(), found_in_vignettes(),
    found_unchecked()
  )
  writeLines(but_allowed(found))
}

main()
