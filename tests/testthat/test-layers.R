# The house rules of src/ (ARCHITECTURE.md), read off the sources themselves.

r_code_alone()

# A file may include headers of its own layer or of earlier ones; siblings among the algorithms may
# not, and likelihoods know nothing of kernels. A new file belongs in one of these.
LAYERS <- list(
  base = paste0("^(types|tolerances|digest|block|correlation|band|lgamma_ratio|gamma_rest|",
                "par|la|chol|quad|quad_panels|quad_rows|concave|",
                "gumbel|normal|mixed_normal|logs|neighbours|supernodes|anderson)[.][ch]$"),
  kernel = "^((points|dist|kernel|markov_form)[.][ch]|kern_[a-z]+[.]c)$",
  likelihood = paste0("^((lik|smooth|expect|gumbel_term|power|hosted_tilts)[.][ch]|lik_list[.]h|",
                      "(lik_[a-z]+|hosted_pairs)[.]c)$"),
  state = paste0("^(state|weights|row_step|row_view|row_block|exchange|active|columns|sites|",
                 "sites_whole|hosted|coupled|basis_rows|",
                 "markov_(filter|path|predict)|vecchia|informative|",
                 "full_factor|full_trend|ep_step|ep_fold|ep_iteration|ep_loop|posterior|",
                 "slopes)[.][ch]$"),
  algorithm = "^(online|ep_full|ep_markov|ep_neighbours|ep_sparse|ep_batch|ivm)[.][ch]$",
  evidence = "^(evidence(_[a-z]+)?|ivm_criterion)[.][ch]$",
  glue = "^(glue[.]h|glue_[a-z]+[.][ch]|init[.]c)$"
)

layer_of <- function(file) {
  at <- which(vapply(LAYERS, grepl, NA, x = file))
  if (length(at) == 1L) names(LAYERS)[at] else NA_character_
}

# Why `file` must not include `header`; NULL when it may.
breach <- function(file, header) {
  from <- layer_of(file)
  to <- layer_of(header)
  if (anyNA(c(from, to))) return(NULL) # told by another test
  own <- sub("[.][ch]$", "", file) == sub("[.]h$", "", header)
  wrong <- match(to, names(LAYERS)) > match(from, names(LAYERS)) ||
    from == "likelihood" && to == "kernel" || from == "algorithm" && to == "algorithm" && !own
  if (wrong) paste0(file, " (", from, ") includes ", header, " (", to, ")")
}

test_that("every file in src has a layer", {
  files <- core_files()
  expect_none(files[is.na(vapply(files, layer_of, ""))], "files that no layer knows")
})

test_that("a file includes only headers of its own layer or below", {
  slow_tier()
  found <- unlist(lapply(core_files(), function(file) {
    included <- grep("^#include \"", read_source(file), value = TRUE)
    headers <- sub("^#include \"([^\"]*)\".*", "\\1", included)
    unlist(lapply(headers, function(header) breach(file, header)))
  }))
  expect_none(found, "includes across the layers")
})

# Types of kernels and likelihoods stand in tables, whose file they use: tables alone are left out.
test_that("no files in C use each other in a circle", {
  slow_tier()
  files <- grep("[.]c$", core_files(), value = TRUE)
  code <- lapply(files, code_of)
  words <- function(lines) {
    unique(unlist(regmatches(lines, gregexpr("\\bsg_\\w+\\b(?=[ (,;.)])", lines, perl = TRUE))))
  }
  begins <- paste0("^(?!const sg_(lik|kernel)_type sg_\\w+(\\[\\])? =)(?!static)",
                   "[a-z][\\w *]*?\\b(sg_\\w+)( =|\\([^;]*$).*")
  begun <- lapply(code, function(lines) {
    sub(begins, "\\3", grep(begins, lines, value = TRUE, perl = TRUE), perl = TRUE)
  })
  home <- stats::setNames(rep(seq_along(files), lengths(begun)), unlist(begun))
  expect_true(all(c("sg_r_workspace", "sg_radial_rbf", "sg_tilt_rows") %in% names(home)))
  uses <- matrix(FALSE, length(files), length(files))
  for (k in seq_along(files)) uses[k, home[intersect(words(code[[k]]), names(home))]] <- TRUE
  expect_none(files[in_circles(uses)], "files in a circle")
})

test_that("the core knows nothing of R objects, never prints, never jumps, never allocates", {
  slow_tier()
  files <- core_files()
  core <- files[vapply(files, layer_of, "") != "glue"]
  expect_none(lines_matching("\\bSEXP\\b|<(R|Rinternals|Rdefines|R_ext/(Error|Print))[.]h>", core),
              "R objects or R's errors in the core")
  prints <- "\\b(f|v|vf|s|vs|R|RE|Rv|REv)?printf *\\(|\\b(puts|exit|abort|assert) *\\("
  expect_none(lines_matching(prints, files),
              "prints or exits")
  expect_none(lines_matching("\\b([mc]alloc|realloc|free|R_alloc) *\\(", core), "allocations")
  expect_none(lines_matching("\\b(Rf_)?(error|warning) *\\(", core), "R's errors in the core")
  jumps <- "\\b(set|long)jmp *\\("
  expect_none(lines_matching(jumps, setdiff(core, "par.c")), "jumps outside a thread's memory")
  expect_none(lines_matching("\\b(unif|norm|exp)_rand\\b|\\brand *\\(", files),
              "random numbers in C")
})

test_that("BLAS and LAPACK are called in la.c alone, with FCONE for every character argument", {
  slow_tier()
  files <- core_files()
  expect_none(lines_matching("F77_|FCONE|R_ext/(BLAS|Lapack)", setdiff(files, "la.c")),
              "Fortran outside la.c")
  code <- paste(code_of("la.c"), collapse = " ")
  declared <- unique(unlist(regmatches(code, gregexpr("(?<=\\bchar )\\w+", code, perl = TRUE))))
  calls <- grep("F77_CALL", strsplit(code, ";")[[1L]], value = TRUE)
  counts <- function(pattern) lengths(regmatches(calls, gregexpr(pattern, calls, perl = TRUE)))
  characters <- counts("\"\"") + counts(paste0("&(", paste(declared, collapse = "|"), ")\\b"))
  expect_gt(sum(characters), 0)
  expect_none(calls[counts("\\bFCONE\\b") != characters], "calls with a wrong number of FCONE")
})

test_that("OpenMP and threads are known in par.c alone", {
  slow_tier()
  others <- setdiff(core_files(), "par.c")
  expect_none(lines_matching("omp[.]h>|# *pragma|\\bomp_\\w+|pthread", others),
              "threads outside par.c")
  expect_gt(length(lines_matching("# *pragma omp", "par.c")), 0L)
})

test_that("NaN stays NaN, and what runs on threads warns nobody", {
  slow_tier()
  core <- setdiff(core_files(), grep("^glue|^init", core_files(), value = TRUE))
  # C's fmin() and fmax() give the other number; Rmath's fmin2() and fmax2() do not
  expect_none(lines_matching("\\bf(min|max) *\\(", core), "fmin() or fmax()")
  # those of Rmath that look at their arguments and may have something to say about them; slots
  # tails() are for R's own thread, and the distribution functions they are made of
  warners <- c("l?gammafn\\w*", "lgamma\\w*", "\\w+gamma", "l?beta", "l?choose", "bessel_\\w+",
               "[dpqr](norm|gamma|beta|t|pois|n?binom(_mu)?)")
  pattern <- paste0("\\b(", paste(warners, collapse = "|"), ")\\(")
  found <- lines_matching(pattern, core)
  cdf <- "lik_(poisson|negbin|binomial)[.]c.*return p(pois|nbinom_mu|binom)[(]"
  cdf <- paste0(cdf, "|lik_gamma[.]c.*return pgamma|lik_beta[.]c.*tails.*pbeta|",
                "lik_zero[.]c.*(ppois|pnbinom_mu)")
  expect_none(grep(cdf, found, value = TRUE, invert = TRUE), "functions that can warn")
})

test_that("nothing in C is remembered from one call to the next", {
  slow_tier()
  # `static` starts a function, or what it starts is const; and so is any other top-level object
  expect_none(lines_matching("\\bstatic\\b(?![^=;]*\\()(?!.*\\bconst\\b)", core_files()),
              "static variables")
  other <- "^(?!(static|typedef|extern|struct|enum|const|return)\\b)"
  object <- "\\w[\\w *]*?\\w+(\\[[^]]*\\])? *(=|;)"
  expect_none(lines_matching(paste0(other, object), core_files()), "global variables")
})

test_that("functions and files stay short", {
  slow_tier()
  for (file in core_files()) {
    code <- code_of(file)
    from <- which(code == "{")
    to <- which(code == "}")
    expect_identical(length(from), length(to), label = file)
    expect_none(paste0(file, ":", from)[to - from + 1L > 100L], "functions of over 100 lines")
    expect_lte(length(code), 450L, label = paste("lines of", file))
  }
})

test_that("entries are registered with as many arguments as they have", {
  skip_if_not(dir.exists(source_folder("src")))
  list <- gsub("\\s+", " ", paste(code_of("glue_list.h"), collapse = " "))
  entries <- regmatches(list, gregexpr("SG_ENTRY\\([^()]*\\([^()]*\\)\\)", list))[[1L]]
  arity <- as.integer(sub("^SG_ENTRY\\(\\w+, (\\d+),.*", "\\1", entries))
  expect_identical(lengths(regmatches(entries, gregexpr("\\bSEXP\\b", entries))), arity)
  registered <- getDLLRegisteredRoutines("sparsegp")$.Call
  expect_identical(sort(sub("^SG_ENTRY\\((\\w+),.*", "sg_\\1", entries)), sort(names(registered)))
})

test_that("R calls C through registered symbols, from the engine and the posterior", {
  slow_tier()
  folder <- source_folder("R")
  lines_of <- function(file) sub("#.*", "", readLines(file.path(folder, file)))
  files <- list.files(folder, "[.]R$")
  expect_none(lines_matching("[.](Call|C|External|Fortran)\\( *[\"']", files, lines_of),
              "entries called by a string")
  # fitting; what is asked of a posterior
  others <- setdiff(files, c("engine.R", "engine-markov.R", "engine-neighbours.R", "posterior.R",
                             "posterior-markov.R", "posterior-nearest.R", "posterior-factor.R"))
  found <- lines_matching("[.](Call|C|External|Fortran)\\(", others, lines_of)
  lookup <- "^util-(registry|extension|digest)[.]R:.*[.]Call\\(sg_(catalogue|extension|digest)\\b"
  expect_none(grep(lookup, found, value = TRUE, invert = TRUE), "calls outside these")
})
