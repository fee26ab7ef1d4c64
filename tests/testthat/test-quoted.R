# Numbers that README.md quotes from runs of bench/ are those of the last run, which bench/results
# has. Articles read them there by themselves.

r_code_alone()

# Builds a row: lines of `file` that begin with `line`, and of which lines of which results their
# numbers are. `but`: what of the line is not quoted.
quoted <- function(file, line, ..., but = "^[|][^|]*[|]") {
  list(file = file, line = line, of = list(...), but = but)
}

# Rows of README.md's table: name there, and of the data in the results
README_ROWS <- c("USPS, ten digits" = "USPS, ten classes", "satimage, six soils" = "satimage",
                 image = "image", splice = "splice", diabetes = "diabetis", waveform = "waveform",
                 heart = "heart")

QUOTED <- lapply(names(README_ROWS), function(name) {
  quoted("README.md", paste0("| ", name, " |"),
         c("defaults", paste0("| ", README_ROWS[[name]], " |")), but = "^[|][^|]*[|][^|]*[|]")
})

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

test_that("README.md quotes the last runs", {
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
