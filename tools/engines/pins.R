# Run by tools/engines/pins. All is checked with stopifnot().
library(sparsegp)

fits <- list(sparsegp(Fertility ~ Agriculture, swiss),
             sparsegp(Fertility ~ Agriculture + Education, swiss))
answers <- function(fit) predict(fit, swiss[1:9, ], interval = "prediction")
board <- pins::board_temp(versioned = TRUE)

# ---- Versions of a pin ----

suppressMessages(for (fit in fits) {
  pins::pin_write(board, fit, "fertility", type = "rds",
                  metadata = list(formula = deparse1(formula(fit))))
  Sys.sleep(1.1) # a version's name has its second
})
versions <- pins::pin_versions(board, "fertility")$version
stopifnot(length(versions) == length(fits))
for (i in seq_along(fits)) {
  read <- pins::pin_read(board, "fertility", version = versions[i])
  about <- pins::pin_meta(board, "fertility", version = versions[i])
  stopifnot(identical(answers(read), answers(fits[[i]])),
            about$user$formula == deparse1(formula(fits[[i]])))
}
stopifnot(identical(answers(pins::pin_read(board, "fertility")), answers(fits[[2L]])))
cat("pins", format(utils::packageVersion("pins")), ": versions of a fit predict as they did\n")

# ---- A model of vetiver ----

if (!requireNamespace("vetiver", quietly = TRUE)) {
  cat("package vetiver is not installed; nothing of it was run\n")
  quit()
}
example <- swiss[0L, c("Agriculture", "Education")]
model <- vetiver::vetiver_model(fits[[2L]], "served", save_prototype = example,
                                description = "A Gaussian process")
suppressMessages(vetiver::vetiver_pin_write(board, model))
read <- vetiver::vetiver_pin_read(board, "served")
stopifnot(identical(answers(read$model), answers(fits[[2L]])))
cat("vetiver", format(utils::packageVersion("vetiver")), ": a model predicts as it did\n")
