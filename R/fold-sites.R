# Sites of rows that are read chunk by chunk: two numbers a latent value, unless they are exact. A
# generation of them is what one sweep has found, numbered from 1; generation 0 says nothing, and
# is nowhere. They are held in memory, as a list of chunks for each generation, or in files of a
# folder, one for each chunk and generation. GAMMA, which stays, is what the basis leaves
# unexplained of each row at the hyperparameters at hand: one number for each basis.

GAMMA <- "gamma"

sites_in_memory <- function() {
  held <- new.env(parent = emptyenv())
  name <- function(generation, i) paste(generation, i)
  list(folder = NULL,
       read = function(generation, i) held[[name(generation, i)]],
       write = function(generation, i, sites) assign(name(generation, i), sites, held),
       keep = function(generations) {
         there <- ls(held)
         rm(list = there[!sub(" .*", "", there) %in% c(GAMMA, generations)], envir = held)
       })
}

sites_in_files <- function(folder) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  file <- function(generation, i) file.path(folder, paste0(generation, "-", i, ".rds"))
  list(folder = folder,
       read = function(generation, i) readRDS(file(generation, i)),
       write = function(generation, i, sites) {
         saveRDS(sites, file(generation, i), compress = FALSE)
       },
       keep = function(generations) {
         there <- list.files(folder)
         unlink(file.path(folder, there[!sub("-.*", "", there) %in% c(GAMMA, generations)]))
       })
}

# Sites that stand a share of the way from one generation to another: point$from, $to, $share.
sites_at <- function(store, point, i, problem) {
  one <- function(generation) {
    if (generation == 0L) no_sites(problem) else store$read(generation, i)
  }
  if (point$share == 0) return(one(point$from))
  if (point$share == 1) return(one(point$to))
  Map(function(a, b) a + point$share * (b - a), one(point$from), one(point$to))
}
