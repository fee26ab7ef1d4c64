# What the race for structure is worth: default fits of the develop half of the zoo and of some sets
# of numbers of bench/defaults.R, by this version of the package and by an earlier one.
#
#   Rscript bench/structure.R fit FILE [set ...]   fits by the installed package; FILE keeps them
#   Rscript bench/structure.R compare OLD NEW      prints the table and the sums of two such files
#
# SPARSEGP_ZOO: a folder of sets that zoo_split() has made, one .rds each; without it they are made
# here, of the packages that they come from. The data folder is SPARSEGP_DATA.
folder <- local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  dirname(self)
})

# ---- Sets ----

zoo_numbers <- function() {
  made <- Sys.getenv("SPARSEGP_ZOO")
  sets <- if (nzchar(made)) lapply(list.files(made, "rds$", full.names = TRUE), readRDS) else {
    source(file.path(folder, "zoo_sets.R"), local = TRUE)
    table <- zoo_table()
    table <- table[table$half == "develop" & table$kind == "number", ]
    lapply(seq_len(nrow(table)), function(i) zoo_split(table[i, ]))
  }
  Filter(function(set) set$kind == "number", sets)
}

# Rows of a file of the data folder, n of them to train, as many of the others to test.
of_file <- function(name, n, response = "y", drop = "fold") {
  file <- file.path(Sys.getenv("SPARSEGP_DATA"), name, paste0(name, ".csv.gz"))
  rows <- utils::read.csv(gzfile(file))
  rows <- rows[setdiff(names(rows), drop)]
  set.seed(1)
  order <- sample.int(nrow(rows))
  list(name = paste0(name, ", ", n), response = response,
       formula = stats::reformulate(".", response), train = rows[order[seq_len(n)], ],
       test = rows[utils::head(order[-seq_len(n)], 4000L), ])
}

friedman <- function(n) {
  set.seed(1)
  x <- matrix(stats::runif(10 * (n + 4000)), ncol = 10, dimnames = list(NULL, paste0("x", 1:10)))
  f <- 10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5]
  rows <- data.frame(x, y = f + stats::rnorm(n + 4000))
  list(name = paste0("friedman, ", n), response = "y", formula = y ~ .,
       train = rows[seq_len(n), ], test = rows[-seq_len(n), ])
}

other_numbers <- function() {
  c(lapply(c(200, 1000), friedman),
    lapply(c(300, 1000, 4000), function(n) of_file("pumadyn32nm", n)),
    lapply(c(300, 1000, 4000), function(n) of_file("protein", n)),
    lapply(c(1000, 4000), function(n) of_file("keggundirected", n)))
}

# ---- Fits ----

# The log density of each test response, in the response's unit, and whether the 90 % interval
# holds it.
test_scores <- function(fit, set) {
  y <- set$test[[set$response]]
  latent <- predict(fit, set$test, type = "latent", se.fit = TRUE)
  sd <- sqrt(latent$se.fit^2 + coef(fit)[["noise"]])
  list(lpd = stats::dnorm(y, latent$fit, sd, log = TRUE),
       holds = abs(y - latent$fit) < stats::qnorm(0.95) * sd)
}

fit_set <- function(set) {
  took <- system.time(fit <- sparsegp::sparsegp(set$formula, set$train))
  scores <- test_scores(fit, set)
  cat(sprintf("%-26s %7.1f s %9.4f  %s\n", set$name, sum(took[1:2]), mean(scores$lpd),
              format(fit$kernel)))
  c(list(name = set$name, n = nrow(set$train), evidence = fit$log_evidence,
         chosen = format(fit$kernel), points = nrow(sparsegp::basis(fit)),
         seconds = sum(took[1:2]), choices = fit$choices), scores)
}

fit_all <- function(file, names) {
  suppressPackageStartupMessages(library(sparsegp))
  found <- list()
  for (set in c(zoo_numbers(), other_numbers())) {
    if (length(names) && !any(startsWith(set$name, names))) next
    found[[set$name]] <- tryCatch(fit_set(set), error = function(e) {
      cat(set$name, ": ", conditionMessage(e), "\n", sep = "")
    })
    saveRDS(found, file)
  }
}

# ---- Comparison ----

# Sums are over sets; the standard error of the sum of gains is that of test rows, within sets.
compare <- function(old, new) {
  both <- intersect(names(old), names(new))
  rows <- do.call(rbind, lapply(both, function(name) {
    a <- old[[name]]
    b <- new[[name]]
    gain <- b$lpd - a$lpd
    data.frame(set = name, n = a$n, old = mean(a$lpd), new = mean(b$lpd), gain = mean(gain),
               se = stats::sd(gain) / sqrt(length(gain)), "evidence +" = b$evidence - a$evidence,
               "held old" = mean(a$holds), "held new" = mean(b$holds), "s old" = a$seconds,
               "s new" = b$seconds, chosen = b$chosen, check.names = FALSE)
  }))
  print(rows, digits = 3L, row.names = FALSE)
  cat("\n", nrow(rows), " sets: gain ", signif(sum(rows$gain), 3), " (standard error ",
      signif(sqrt(sum(rows$se^2)), 2), "), mean ", signif(mean(rows$gain), 3), "; 90 % hold ",
      signif(mean(rows[["held old"]]), 3), " -> ", signif(mean(rows[["held new"]]), 3),
      "; CPU seconds ", signif(sum(rows[["s old"]]), 4), " -> ", signif(sum(rows[["s new"]]), 4),
      "\n", sep = "")
  invisible(rows)
}

asked <- commandArgs(TRUE)
if (identical(asked[1L], "compare")) {
  compare(readRDS(asked[2L]), readRDS(asked[3L]))
} else {
  fit_all(asked[2L], asked[-(1:2)])
}
