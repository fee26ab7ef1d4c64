# Adds up what the chunks of a source give, in an order that does not depend on who does it. What
# chunks of a batch add is added up in their order, and batches are added up as the leaves of a tree
# in which every branch has two of the same size. So a worker that has some batches sends the sums
# of the largest branches that are all its own, and the numbers do not depend on who has added them.

# Batches are these many, whatever the number of workers, so sums are the same.
MOST_BATCHES <- 256L

batches_of <- function(chunks) {
  batch_of <- ceiling(seq_len(chunks) * min(1, MOST_BATCHES / chunks))
  unname(split(seq_len(chunks), batch_of))
}

# Adds up what part(i, chunk) returns of the chunks of batches `which`; NULL: of all batches.
# batches: NULL if the number of chunks is unknown, and each is a batch. Returns list(
# blocks, seen), the latter the numbers of the chunks that have rows.
fold_batches <- function(source, batches, which, part, add) {
  batch_of <- rep(seq_along(batches), lengths(batches))
  if (is.null(which)) which <- seq_along(batches)
  blocks <- list()
  at <- if (length(which)) which[1L] else 1L
  sum <- NULL
  go_to <- function(batch) { # batches without rows are passed, too
    while (at < batch) {
      blocks <<- add_block(blocks, list(before = at - 1, size = 1, sum = sum), add)
      sum <<- NULL
      at <<- at + 1L
    }
  }
  seen <- each_chunk(source, function(i, chunk) {
    own <- part(i, chunk)
    go_to(if (is.null(batches)) i else batch_of[i])
    sum <<- add(sum, own)
  }, which = if (source$apart) unlist(batches[which]))
  go_to(max(which, if (is.null(batches)) seen, 0L) + 1L)
  list(blocks = blocks, seen = seen)
}

# Appends a block to those before it. A block is the sum of `size` batches, a power of two, that
# follow on `before` others, a multiple of `size`; two that are the halves of one become that one.
add_block <- function(blocks, block, add) {
  repeat {
    last <- if (length(blocks)) blocks[[length(blocks)]]
    halves <- !is.null(last) && last$size == block$size && last$before %% (2 * last$size) == 0
    if (!halves) return(c(blocks, list(block)))
    block <- list(before = last$before, size = 2 * last$size, sum = add(last$sum, block$sum))
    blocks[[length(blocks)]] <- NULL
  }
}
