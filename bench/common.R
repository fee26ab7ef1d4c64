# What the scripts of this folder and of thesis/ share; each of them sources it.
library(sparsegp)

# The script's `i`th argument, a number.
argument <- function(i, default) {
  given <- commandArgs(TRUE)
  if (length(given) >= i) as.numeric(given[[i]]) else default
}

# Data set `name` from the folder that SPARSEGP_DATA names.
read_data <- function(name, file = name) {
  folder <- Sys.getenv("SPARSEGP_DATA")
  path <- file.path(folder, name, paste0(file, ".csv.gz"))
  if (!nzchar(folder) || !file.exists(path)) {
    stop("set SPARSEGP_DATA to the folder that holds ", name, "/", file, ".csv.gz", call. = FALSE)
  }
  read.csv(path)
}

# USPS digits: inputs in [-1, 1] and the digit of each row.
read_usps <- function(part = "train") {
  rows <- read_data("usps", paste0("usps_", part))
  list(x = as.matrix(rows[, -1L]) / 1000, digit = rows$label)
}
