# What is lost where rows are fitted in shards: fits of 2, 8 and 32 shards, merged, against one fit
# of all rows on the same basis with the same hyperparameters, which the first shard of 8 has
# settled. Regression (protein), where the sites of a shard are those of all rows; and digits (USPS,
# 2 against the rest), where they were found among fewer rows.
#   common   all shards on one basis
#   own      every shard on as many rows of its own, projected on the first basis one after the
#            other
# Columns: mean log predictive density of the test rows, its difference from the one fit's, in nats
# a row, and the divergence lost by projection, in nats.
# Usage: SPARSEGP_DATA=... Rscript bench/shards.R [POINTS = 200]
local({
  self <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(self), "common.R"))
})

points <- argument(1, 200)

protein <- function() {
  d <- read_data("protein")
  inputs <- paste0("x", 1:9)
  d[inputs] <- scale(d[inputs])
  list(train = d[d$fold != 1, c(inputs, "y")], test = d[d$fold == 1, c(inputs, "y")],
       likelihood = lik_gaussian())
}

usps <- function() {
  frame <- function(part) {
    rows <- read_usps(part)
    data.frame(rows$x, y = factor(rows$digit == 2))
  }
  list(train = frame("train"), test = frame("test"), likelihood = lik_probit())
}

density_of <- function(fit, test) {
  if (is.factor(test$y)) {
    prob <- predict(fit, test, type = "prob")
    return(mean(log(prob[cbind(seq_len(nrow(test)), as.integer(test$y))])))
  }
  at <- predict(fit, test, type = "latent", se.fit = TRUE)
  mean(dnorm(test$y, at$fit, sqrt(at$se.fit^2 + coef(fit)[["noise"]]), log = TRUE))
}

measure <- function(name, set) {
  set.seed(1)
  shuffled <- set$train[sample.int(nrow(set$train)), ]
  parts <- function(count) split(seq_len(nrow(shuffled)), seq_len(nrow(shuffled)) %% count)
  first <- sparsegp(y ~ ., shuffled[parts(8)[[1L]], ], set$likelihood, kernel = kernel_rbf(),
                    method = method_ep(size = points), control = gp_control(keep_x = FALSE))
  one <- sparsegp(control = gp_control(like = first), data = shuffled)
  best <- density_of(one, set$test)
  row <- function(shards, basis, fit) {
    lost <- if (is.null(fit$merged)) 0 else fit$merged$kl_lost
    data.frame(data = name, shards = shards, basis = basis, lpd = density_of(fit, set$test),
               difference = density_of(fit, set$test) - best, kl_lost = lost)
  }
  table <- row(1L, "common", one)
  for (count in c(2, 8, 32)) {
    rows <- parts(count)
    common <- lapply(rows, function(at) shard(sparsegp(control = gp_control(like = first),
                                                       data = shuffled[at, ])))
    own <- lapply(rows, function(at) {
      shard(sparsegp(control = gp_control(like = first), data = shuffled[at, ],
                     basis = shuffled[at[seq_len(min(points, length(at)))], ]))
    })
    own[[1L]] <- common[[1L]] # on the basis that all are projected on
    table <- rbind(table, row(count, "common", Reduce(merge, common)),
                   row(count, "own", Reduce(merge, own)))
  }
  table
}

bench_table(measure("protein", protein()), "Shards of protein against one fit")
bench_table(measure("usps 2", usps()), "Shards of USPS 2 against one fit")
