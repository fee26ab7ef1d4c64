# Run by tools/engines/plumber with the profile of a server: where its processor time goes.

stacks <- grep("\"rookCall\"", readLines(commandArgs(TRUE), warn = FALSE), value = TRUE)

# A stack is of the first part that one of its functions is in.
PARTS <- c("R's compiler, at first" = "compiler:::tryCmpfun",
           "predict(): check of the fit" = "check_fit", "predict(): all else" = "predict",
           "JSON of the answer" = "toJSON", "JSON of the request" = "parse_body")
part <- rep("plumber, and all else", length(stacks))
for (name in rev(names(PARTS))) part[grepl(paste0("\"", PARTS[[name]], "\""), stacks)] <- name
counts <- sort(table(part), decreasing = TRUE)
cat("| part of a request | of its processor time, % |\n| --- | ---: |\n")
cat(sprintf("| %s | %.0f |\n", names(counts), 100 * counts / length(stacks)), sep = "")
