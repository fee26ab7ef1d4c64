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

# A file of the MNIST set: the images as rows of a matrix, or the labels.
read_idx <- function(file) {
  path <- file.path(Sys.getenv("SPARSEGP_DATA"), "mnist", file)
  if (!file.exists(path)) stop("set SPARSEGP_DATA to the folder that holds mnist/", file,
                               call. = FALSE)
  input <- gzfile(path, "rb")
  on.exit(close(input))
  magic <- readBin(input, "integer", 1L, endian = "big")
  size <- readBin(input, "integer", magic %% 256, endian = "big")
  values <- readBin(input, "integer", prod(size), size = 1L, signed = FALSE)
  if (length(size) == 1L) values else matrix(values, size[1L], byrow = TRUE)
}

# MNIST digits: inputs in [0, 1] and the digit of each row.
read_mnist <- function(part = "train") {
  list(x = read_idx(paste0(part, "-images-idx3-ubyte.gz")) / 255,
       digit = read_idx(paste0(part, "-labels-idx1-ubyte.gz")))
}
