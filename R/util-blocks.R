# Blocks of w x w numbers, one for each row, end to end or as the columns of a matrix.

# Returns the diagonals of the blocks, a column for each.
block_diagonals <- function(blocks, w) matrix(blocks, w * w)[seq(1L, w * w, w + 1L), , drop = FALSE]

# Returns the blocks L_i L_i', a column for each, of a matrix whose rows come in groups L_i of w.
own_products <- function(L, w) block_products(L, L, w)

# The blocks L_i R_i' of two such matrices.
block_products <- function(L, R, w) {
  part <- function(A, a) A[seq(a, by = w, length.out = nrow(A) %/% w), , drop = FALSE]
  pairs <- expand.grid(a = seq_len(w), b = seq_len(w))
  do.call(rbind, Map(function(a, b) rowSums(part(L, a) * part(R, b)), pairs$a, pairs$b))
}

# Rows at a time, so that rows x nodes stay in bounds
BLOCK_ROWS <- 500L

# Returns the numbers that block(rows) gives for one block of n rows after the other.
in_blocks <- function(n, block) {
  from <- seq(1L, by = BLOCK_ROWS, length.out = ceiling(n / BLOCK_ROWS))
  as.double(unlist(lapply(from, function(at) block(at:min(at + BLOCK_ROWS - 1L, n)))))
}

# Returns the numbers from 1 to n in blocks of at most `size` that follow one another.
row_blocks <- function(n, size) {
  if (n == 0L) return(list(integer()))
  unname(split(seq_len(n), (seq_len(n) - 1L) %/% size))
}
