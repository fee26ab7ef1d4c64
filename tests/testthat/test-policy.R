# The numbers that steer default fits are in one table, R/policy.R.

r_code_alone()

test_that("every number of the policy has a unit, says what it trades, and is used", {
  slow_tier()
  expect_false(anyDuplicated(POLICY$name) > 0L)
  expect_true(all(nzchar(POLICY$unit) & nzchar(POLICY$trades)))
  expect_true(all(is.finite(unlist(policy))))
  used <- unlist(lapply(r_files(), function(file) {
    lines <- readLines(file.path(source_folder("R"), file))
    unlist(regmatches(lines, gregexpr("policy\\$[a-z_]+", lines)))
  }))
  used <- unique(sub("policy$", "", used, fixed = TRUE))
  expect_setequal(used, c(POLICY$name))
})

test_that("no other file of the strategies, plans and searches defines such a number", {
  slow_tier()
  # bounds of numerics and of memory: none of them changes what is chosen
  allowed <- c("ROWS_AT_ONCE", "COPIES_AT_ONCE", "SET_ONCE", "BOX", "PAST_STEPS", "RECENT",
               "IMPOSSIBLE", "NOT_CONVERGED", "ABNORMAL", "STEEP", "FLAT", "SUFFICIENT", "TRIALS",
               "SETTLED", "TYPICAL_SPREAD", "FEW_ROWS", "LEARN_DEFAULTS", "MOST_MIXED")
  rooms <- c("strategy", "plan", "learn", "model", "method")
  found <- character()
  small <- c(0, 1, 2, 3, 4) # counts, halves, squares, roots
  for (file in r_files()[room_of(r_files()) %in% rooms]) {
    for (expression in parse(file.path(source_folder("R"), file), keep.source = FALSE)) {
      if (!is.call(expression)) next
      name <- as.character(expression[[2L]])[1L]
      numbers <- numbers_in(expression[[3L]])
      steers <- setdiff(numbers, c(small, 0.99, 1e-3, 1e-6, 2.2e-8, 1.5))
      shape <- grepl("^[A-Z_]+$", name) && !name %in% allowed && length(numbers)
      if (shape || room_of(file) == "strategy" && !name %in% allowed && length(steers)) {
        found <- c(found, paste0(file, ": ", name))
      }
    }
  }
  expect_none(found, "numbers outside of policy.R")
})
