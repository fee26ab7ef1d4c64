# Numbers that README.md and the article "papers" quote from runs of bench/ are those of the last
# run, which bench/results has. Both are parts of a checkout alone.

r_code_alone()

# Builds a row: lines of `file` that begin with `line`, and of which lines of which results their
# numbers are. `but`: what of the line is not quoted.
quoted <- function(file, line, ..., but = "^[|][^|]*[|]") {
  list(file = file, line = line, of = list(...), but = but)
}

PAPERS <- "vignettes/articles/papers.Rmd"

QUOTED <- list(
  quoted(PAPERS, "| all observations |", c("earlier", "| 3.4, omissions")),
  quoted(PAPERS, "| 50 points |", c("earlier", "| 3.4, omissions")),
  quoted(PAPERS, "| 52 |", c("earlier", "| 5.5, sonar"), c("thesis_sonar", "| 52 | 3 |")),
  quoted(PAPERS, "| 104 |", c("earlier", "| 5.5, sonar")),
  quoted(PAPERS, "| 4 against the rest, one pass", c("earlier", "| 5.6a")),
  quoted(PAPERS, "| 4 against the rest, sparse EP", c("earlier", "| 5.6a")),
  quoted(PAPERS, "| ten digits, common points, one pass", c("earlier", "| 5.6b")),
  quoted(PAPERS, "| ten digits, common points, sparse EP", c("earlier", "| 5.6b")),
  quoted(PAPERS, "| ten digits, `sparsegp()`", c("defaults", "| USPS, ten classes | sparsegp")),
  quoted(PAPERS, "| 50 | 2.93 |", c("earlier", "| 50 | 2.93")),
  quoted(PAPERS, "| 100 | 1.67 |", c("earlier", "| 100 | 1.67")),
  quoted(PAPERS, "| 200 | 1.03 |", c("earlier", "| 200 | 1.03")),
  quoted(PAPERS, "| 500 | 1.03 |", c("earlier", "| 500 | 1.03")),
  quoted(PAPERS, "| constant |", c("ivm_inner", "| constant |")),
  quoted(PAPERS, "| hybrid |", c("ivm_inner", "| hybrid |")),
  quoted(PAPERS, "| exact |", c("ivm_inner", "| exact |")),
  quoted(PAPERS, "| 5 | 3200", c("earlier", "| table 2, MNIST 5")),
  quoted(PAPERS, "| 8 | 3600", c("earlier", "| table 2, MNIST 8")),
  quoted(PAPERS, "| 9 | 3900", c("earlier", "| table 2, MNIST 9")),
  quoted(PAPERS, "| ours, 200 points", c("defaults", "| pumadyn, mean of 10 | sparsegp")),
  quoted(PAPERS, "| `lik_mprobit()`, `method_ivm(1000)`", c("earlier", "| table 3, satimage")),
  quoted(PAPERS, "| `sparsegp()` by default", c("defaults", "| satimage | sparsegp")),
  quoted(PAPERS, "| a tuned support vector", c("defaults", "| satimage | svm")),
  quoted(PAPERS, "| ours, by its method", c("virtual", "| all |")),
  quoted(PAPERS, "| ours, by default", c("virtual", "| as they are |"), c("virtual", "| 4 copies"),
         c("virtual", "| 8 copies"))
)

# Rows of README.md's table: name there, and of the data in the results
README_ROWS <- c("USPS, ten digits" = "USPS, ten classes", "satimage, six soils" = "satimage",
                 image = "image", splice = "splice", diabetes = "diabetis", waveform = "waveform",
                 heart = "heart")

QUOTED <- c(QUOTED, lapply(names(README_ROWS), function(name) {
  quoted("README.md", paste0("| ", name, " |"),
         c("defaults", paste0("| ", README_ROWS[[name]], " |")), but = "^[|][^|]*[|][^|]*[|]")
}))

# What bench/zoo.R wrote about the sets, in two lines
QUOTED <- c(QUOTED, list(
  quoted("README.md", "On 46 data sets", c("zoo_defaults", "| best of all methods |"),
         but = "^On 46 data sets"),
  quoted("README.md", "within one standard error", c("zoo_defaults", "| best, or within"),
         c("zoo_defaults", "| behind by more than two"), but = "^within one standard error"),
  quoted("README.md", "best in ", c("zoo_defaults", "| best of all methods |"),
         c("zoo_defaults", "| best, or within"), but = "^best"),
  quoted("README.md", "Over sets of numbers", c("zoo_defaults", "| the same, numbers alone |"),
         c("zoo_defaults", "| numbers, if peers may"), but = "^Over")
))

begins <- function(lines, with) lines[startsWith(lines, with)]

numbers_in <- function(lines) {
  unlist(regmatches(lines, gregexpr("-?[0-9]+([.][0-9]+)?", lines)))
}

# A number as written, whose digits after the point say how it was rounded
is_rounded <- function(written, of) {
  decimals <- nchar(sub("^[^.]*[.]?", "", written))
  any(abs(as.numeric(of) - as.numeric(written)) <= 0.5001 * 10^-decimals)
}

test_that("README.md and the vignette of the papers quote the last runs", {
  root <- dirname(source_folder("bench"))
  for (entry in QUOTED) {
    lines <- begins(readLines(file.path(root, entry$file)), entry$line)
    expect_gt(length(lines), 0L, label = entry$line)
    results <- unlist(lapply(entry$of, function(of) {
      found <- begins(readLines(file.path(root, "bench", "results", paste0(of[1L], ".md"))), of[2L])
      expect_gt(length(found), 0L, label = of[2L])
      found
    }))
    wanted <- numbers_in(sub(entry$but, "", lines))
    stale <- Filter(function(number) !is_rounded(number, numbers_in(results)), wanted)
    expect_none(stale, paste0(entry$file, ", \"", entry$line, "\": numbers not in the results"))
  }
})
