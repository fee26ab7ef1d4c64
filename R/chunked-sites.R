# Sites of rows that are read chunk by chunk: two numbers a latent value, unless they are exact. A
# generation of them is where one sweep was, or what it has found, numbered from 1; generation 0,
# where all sites are 0, is nowhere. They are held in memory, as a list of chunks for each
# generation, or in files of a folder, one for each chunk and generation; the folder may hold other
# files, which are let alone. remove() deletes what was written. GAMMA, which stays, is what the
# basis leaves unexplained of each row at the hyperparameters of the last read: one number for each
# basis.

GAMMA <- "gamma"

# Keeps nothing: for exact sites, whose gamma is recomputed.
NO_STORE <- list(read = function(generation, i) NULL,
                 write = function(generation, i, sites) NULL,
                 keep = function(generations) NULL, remove = function() invisible())

sites_in_memory <- function() {
  held <- new.env(parent = emptyenv())
  name <- function(generation, i) paste(generation, i)
  list(folder = NULL,
       read = function(generation, i) held[[name(generation, i)]],
       write = function(generation, i, sites) assign(name(generation, i), sites, held),
       keep = function(generations) {
         there <- ls(held)
         rm(list = there[!sub(" .*", "", there) %in% c(GAMMA, generations)], envir = held)
       },
       remove = function() invisible())
}

# remedy: against files that cannot be read.
sites_in_files <- function(folder, argument, remedy) {
  force(argument)
  force(remedy) # a promise would take its caller's frame along to workers
  guard <- function(expr, what, file) {
    tryCatch(suppressWarnings(expr), error = function(e) {
      stop_sparsegp(argument, paste0("has sites of rows that cannot be ", what, ": ", file, " (",
                                     conditionMessage(e), ")"), remedy)
    })
  }
  guard(dir.create(folder, recursive = TRUE) || dir.exists(folder) || stop("no folder"), "written",
        folder)
  file <- function(generation, i) file.path(folder, paste0(generation, "-", i, ".rds"))
  own_files <- function() list.files(folder, paste0("^(", GAMMA, "|[0-9]+)-[0-9]+[.]rds$"))
  list(folder = folder,
       read = function(generation, i) {
         file <- file(generation, i)
         guard(check_sites(readRDS(file), generation), "read", file)
       },
       write = function(generation, i, sites) {
         file <- file(generation, i)
         guard(saveRDS(sites, file, compress = FALSE), "written", file)
       },
       keep = function(generations) {
         own <- own_files()
         unlink(file.path(folder, own[!sub("-.*", "", own) %in% c(GAMMA, generations)]))
       },
       remove = function() {
         unlink(file.path(folder, own_files()))
         there <- list.files(folder, all.files = TRUE, no.. = TRUE)
         if (length(there) == 0L) unlink(folder, recursive = TRUE)
       })
}

check_sites <- function(found, generation) {
  numbers <- if (generation == GAMMA) list(found) else if (is.list(found)) found[c("tau", "nu")]
  if (length(numbers) && all(vapply(numbers, is.double, NA))) return(found)
  stop("no sites")
}

# Sites in a folder beside a checkpoint. A folder that was there before is somebody else's.
sites_of_checkpoint <- function(checkpoint, ours, claim) {
  folder <- paste0(checkpoint, ".sites")
  refuse_if(!isTRUE(ours) && file.exists(folder), "checkpoint",
            paste0("keeps sites of rows in ", folder, ", which is there ",
                   "already and is not of this fit"), "Give another name, or move that folder away")
  if (!isTRUE(ours)) claim()
  sites_in_files(folder, "checkpoint", paste("Begin again: remove the checkpoint, and the files of",
                                             "its folder"))
}

# Returns the sites of a chunk in one generation.
stored_sites <- function(store, generation, i, problem) {
  none <- no_sites(problem)
  if (generation == 0L) return(none)
  found <- store$read(generation, i)
  if (identical(lengths(found), lengths(none))) return(found)
  stop_sparsegp("checkpoint", paste0("has sites of other rows than those of chunk ", i),
                "Begin again: remove the checkpoint, and the files of its folder")
}

# Weighted sums of generations, of which the weights have the names.
sites_at <- function(store, weights, i, problem) {
  sum <- no_sites(problem)
  for (generation in names(weights)) {
    one <- stored_sites(store, generation, i, problem)
    sum <- Map(function(a, b) a + weights[[generation]] * b, sum, one)
  }
  sum
}

# ---- Residuals of past steps, for those that are mixed from them (anderson.h) ----

# Returns products of the residual of a chunk's sites, in units of the prior, and of the last
# differences of residuals, newest first. past: pairs of generations, sites and those that they
# asked for.
step_products <- function(store, past, i, sites, part, problem) {
  w <- problem_width(problem)
  unit <- matrix(sqrt(part$prior), w) # as ep_step.c has it
  units <- as.vector(unit[rep(seq_len(w), w), ] * unit[rep(seq_len(w), each = w), ])
  residual <- function(from, to) c((to$tau - from$tau) * units, (to$nu - from$nu) * c(unit))
  read <- function(generation) stored_sites(store, generation, i, problem)
  each <- cbind(residual(sites, part),
                vapply(past, function(pair) residual(read(pair[1L]), read(pair[2L])),
                       numeric(length(sites$tau) + length(sites$nu))))
  crossprod(cbind(each[, 1L], each[, -ncol(each)] - each[, -1L]))
}
