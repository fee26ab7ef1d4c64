# What each number of the default strategies (R/policy.R) is worth: it is halved and doubled, one
# at a time, and ten data sets of packages are fitted by the defaults. For every change: the mean
# change of the log predictive density of observations held out, in nats an observation over the
# sets that read the number; the largest change of a set in standard errors (paired, over
# observations); and the ratio of CPU seconds. Numbers that no set reads are left out.
#
# Usage: Rscript bench/policy.R [ROWS] [EFFORT] [NAME ...]: at most ROWS training observations
# (2000) and as many held out, effort = "quick"; NAMEs of the policy, all without. The environment
# variable SETS names those of the data sets that are wanted, separated by commas.
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

given <- commandArgs(TRUE)
rows <- if (length(given)) as.integer(given[1L]) else 2000L
effort <- if (length(given) > 1L) given[2L] else "quick"
internal <- asNamespace("sparsegp")
before <- internal$policy
names_wanted <- if (length(given) > 2L) given[-(1:2)] else names(before)

SETS <- utils::read.table(header = TRUE, sep = "|", strip.white = TRUE, text = "
package   | data         | response         | drop
ggplot2   | diamonds     | price            |
modeldata | stackoverflow | Salary          |
carData   | SLID         | wages            |
nlme      | bdf          | langPOST         |
datasets  | quakes       | mag              |
mlbench   | DNA          | Class            |
modeldata | wa_churn     | churn            |
carData   | Chile        | vote             |
carData   | BEPS         | vote             |
modeldata | hpc_data     | class            |
")

# list(train, test, formula); text and dates are left out.
read_set <- function(set) {
  home <- new.env()
  utils::data(list = set$data, package = set$package, envir = home)
  d <- as.data.frame(home[[set$data]])
  d <- d[vapply(d, function(x) is.numeric(x) || is.factor(x) && nlevels(x) < 50L, NA)]
  d <- stats::na.omit(d)
  d[vapply(d, is.factor, NA)] <- lapply(d[vapply(d, is.factor, NA)], factor, ordered = FALSE)
  set.seed(1)
  order <- sample(nrow(d))
  size <- min(rows, nrow(d) %/% 2L)
  list(train = d[order[seq_len(size)], ], test = d[order[size + seq_len(size)], ],
       formula = stats::as.formula(paste(set$response, "~ .")))
}

# Log predictive density of each observation held out, and CPU seconds of the fit.
fitted_set <- function(set) {
  took <- system.time(fit <- suppressWarnings(suppressMessages(
    sparsegp(set$formula, set$train, control = gp_control(effort = effort))
  )))
  y <- set$test[[all.vars(set$formula)[1L]]]
  lpd <- if (is.factor(y)) {
    prob <- predict(fit, set$test, type = "prob")
    own <- prob[cbind(seq_along(y), match(y, colnames(prob)))]
    log(pmax(replace(own, is.na(own), 1 / ncol(prob)), 1e-10)) # a level not seen before
  } else {
    quantile_density(predict(fit, set$test, type = "quantile", at = QUANTILES), y)
  }
  list(lpd = lpd, seconds = sum(took[1:2]))
}

# The names of the policy that a fit of this set reads.
names_read <- function(set) {
  read <- character()
  spy <- new.env()
  for (name in names(before)) local({
    own <- name
    makeActiveBinding(own, function() {
      read <<- union(read, own)
      before[[own]]
    }, spy)
  })
  with_internal("policy", spy, fitted_set(set))
  read
}

if (nzchar(Sys.getenv("SETS"))) {
  SETS <- SETS[SETS$data %in% strsplit(Sys.getenv("SETS"), ",")[[1L]], ]
}
sets <- stats::setNames(lapply(split(SETS, seq_len(nrow(SETS))), read_set), SETS$data)
reads <- lapply(sets, names_read)
base <- lapply(sets, fitted_set)
bench_table(data.frame(set = names(sets), rows = vapply(sets, function(s) nrow(s$train), 0L),
                       lpd = vapply(base, function(b) mean(b$lpd), 0),
                       seconds = vapply(base, function(b) b$seconds, 0)),
            paste0("Default fits, effort = \"", effort, "\""))

# A change that a number cannot have (a proportion of 2, say) is left out, and so is one that fails.
for (name in intersect(names_wanted, unlist(reads))) {
  for (factor in c(0.5, 2)) {
    own <- names(sets)[vapply(reads, function(read) name %in% read, NA)]
    changed <- before
    changed[[name]] <- factor * before[[name]]
    found <- lapply(own, function(set) {
      now <- tryCatch(with_internal("policy", changed, fitted_set(sets[[set]])),
                      error = function(e) NULL)
      if (is.null(now)) return(NULL)
      gain <- now$lpd - base[[set]]$lpd
      c(gain = mean(gain), errors = if (any(gain != 0)) mean(gain) / stats::sd(gain) *
          sqrt(length(gain)) else 0, now = now$seconds, then = base[[set]]$seconds)
    })
    found <- do.call(rbind, found)
    if (is.null(found)) next
    worst <- found[which.max(abs(found[, "errors"])), "errors"]
    bench_row("Policy numbers, halved and doubled", number = name, factor = factor,
              sets = nrow(found), "change of lpd" = mean(found[, "gain"]),
              "largest in standard errors" = worst,
              "ratio of seconds" = sum(found[, "now"]) / sum(found[, "then"]))
    cat(sprintf("%-24s x %-4g sets %d  lpd %+8.4f  errors %+6.2f  seconds x %.2f\n", name, factor,
                nrow(found), mean(found[, "gain"]), worst,
                sum(found[, "now"]) / sum(found[, "then"])))
  }
}
