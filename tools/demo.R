# The sex of 200 rock crabs from five measurements: fitted on 80, tested on the other 120.
# Run by tools/demo; any R with sparsegp and MASS installed can run it too.
library(sparsegp)

crabs <- MASS::crabs
in_train <- crabs$index %% 5 %in% c(1, 3)
train <- crabs[in_train, ]
test <- crabs[!in_train, ]

seconds <- system.time(
  fit <- sparsegp(sex ~ FL + RW + CL + CW + BD, data = train)
)[["elapsed"]]
print(summary(fit))

wrong <- sum(predict(fit, test, type = "class") != test$sex)
prob <- predict(fit, test, type = "prob")
prob_of_truth <- prob[cbind(seq_len(nrow(test)), match(test$sex, colnames(prob)))]

cat(sprintf("\ntest error: %d of %d wrong (%.1f %%)\n", wrong, nrow(test),
            100 * wrong / nrow(test)))
cat(sprintf("mean test log likelihood: %.3f\n", mean(log(prob_of_truth))))
cat(sprintf("fitted in %.2f seconds\n", seconds))

# cairo draws without a display and smooths lines; the default device may need X11
picture <- "demo.png"
device <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
png(picture, width = 1400, height = 665, res = 119, type = device)
par(mfrow = c(1, 2), mar = c(4.2, 4.2, 3.6, 1), mgp = c(2.4, 0.7, 0), tcl = -0.3, las = 1)
plot(fit, which = c("RW", "CL"))
plot(fit, type = "reliability", newdata = test)
invisible(dev.off())
cat("picture:", normalizePath(picture), "\n")
