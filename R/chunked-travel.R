# Packs what travels to and from workers (chunked-workers.R), and counts its bytes.

# Returns states as they are sent: R, which follows from the hyperparameters, is sent once; of the
# symmetric S only one triangle.
state_to_send <- function(state, with_factor) {
  lapply(state, function(one) {
    triangles <- lapply(process_sums(one), function(S) S[lower.tri(S, diag = TRUE)])
    list(R = if (with_factor) one$R, S = unlist(triangles), t = one$t)
  })
}

state_received <- function(state) {
  lapply(state, function(one) {
    d <- nrow(one$t)
    triangles <- matrix(one$S, ncol = ncol(one$t))
    each <- lapply(seq_len(ncol(triangles)), function(process) {
      S <- matrix(0, d, d)
      S[lower.tri(S, diag = TRUE)] <- triangles[, process]
      S[upper.tri(S)] <- t(S)[upper.tri(S)]
      S
    })
    list(R = one$R, S = do.call(cbind, each), t = one$t)
  })
}

task_to_send <- function(task) {
  task$point$sums <- state_to_send(task$point$sums, with_factor = FALSE)
  task
}

task_received <- function(task) {
  task$point$sums <- state_received(task$point$sums)
  task
}

block_to_send <- function(block, with_factor) {
  if (!is.null(block$sum$state)) block$sum$state <- state_to_send(block$sum$state, with_factor)
  block
}

block_received <- function(block) {
  if (!is.null(block$sum$state)) block$sum$state <- state_received(block$sum$state)
  block
}

# ---- What workers answer ----

# Stops where an answer is not sound, before anything is made of it: a worker may have another
# version of this package, or a share's answer may have been lost or cut on its way.
check_worker_answer <- function(sound) {
  if (isTRUE(tryCatch(sound, error = function(e) FALSE))) return(invisible())
  stop_sparsegp("data", paste("was read by a worker that runs another version of sparsegp, or",
                              "whose answer was cut off"),
                "Install this version wherever workers run, and start them anew")
}

# Are these the blocks of the batches `share`, and their sums of states like these?
are_blocks_of_share <- function(blocks, share, states) {
  are_blocks(blocks, share) && all(vapply(blocks, function(block) {
    sum <- block$sum
    is.null(sum) || is_one(sum$status, -Inf) && is_plain(sum) &&
      (sum$status != 0L || are_states_like(sum$state, states))
  }, NA))
}

# Do blocks follow one another, as add_block() wants them, from the first to the last of a share?
are_blocks <- function(blocks, share) {
  if (!is.list(blocks) || is.object(blocks) || length(blocks) == 0L) return(FALSE)
  size <- vapply(blocks, `[[`, 0, "size")
  before <- vapply(blocks, `[[`, 0, "before")
  all(size >= 1) && sum(size) == length(share) &&
    all(before == share[1L] - 1 + cumsum(c(0, size[-length(size)])))
}

# Are these states, as they are sent, of the sizes of others?
are_states_like <- function(sent, states) {
  length(sent) == length(states) && all(mapply(function(one, own) {
    d <- nrow(own$t)
    (is.null(one$R) || is_table(one$R, nrow(own$R), ncol(own$R))) &&
      is_table(one$t, d, ncol(own$t)) && are_doubles(one$S, ncol(own$t) * d * (d + 1) / 2)
  }, sent, states))
}

# Numbers, and lists of them, none of a class
is_plain <- function(x) {
  is.null(x) || !is.object(x) && (is.numeric(x) || is.list(x) && all(vapply(x, is_plain, NA)))
}

# ---- How much it is ----

# An environment that counts `reads` and the `bytes` that went to and from `workers` for them, as
# serialize() makes them; `once`, of these what they are to keep. It has that as `sent`, with its
# `name` and `size`. forgetful: are workers new for every task? warned: of lost ones? `first` are
# the bytes of the first pass (chunked-scan.R).
new_traffic <- function(of_scan = NULL) {
  list2env(list(reads = 0, bytes = 0, once = 0, workers = 0, forgetful = FALSE,
                first = of_scan$first, warned = isTRUE(of_scan$warned)), parent = emptyenv())
}

note_traffic <- function(traffic, part, once = 0) {
  traffic$bytes <- traffic$bytes + bytes_of(part) + once
  traffic$once <- traffic$once + if (traffic$forgetful) 0 else once
}

bytes_of <- function(part) if (is.null(part)) 0 else length(serialize(part, NULL, xdr = FALSE))

# Returns the record of a fit's workers: how many, the bytes that they were given once, those of a
# read, and of the first pass; NULL: there were none.
traffic_record <- function(traffic) {
  if (traffic$reads == 0) return(NULL)
  list(count = as.integer(traffic$workers), once = traffic$once,
       read = (traffic$bytes - traffic$once) / traffic$reads, first = traffic$first)
}
