# The state of R's random number generator.

# The generator's state as stats::simulate() documents it: what was before when seed is NULL; else
# the seed and kind, and the old state is put back on exit.
with_seed <- function(seed) {
  globals <- globalenv()
  if (!exists(".Random.seed", globals, inherits = FALSE)) stats::runif(1)
  before <- get(".Random.seed", globals, inherits = FALSE)
  if (is.null(seed)) return(list(seed = before, restore = function() NULL))
  seed <- check_number(seed, "seed", -.Machine$integer.max, .Machine$integer.max, open = FALSE)
  set.seed(seed)
  list(seed = structure(seed, kind = as.list(RNGkind())),
       restore = function() set_random_state(before))
}

# Returns the state of the generator, or NULL: nothing has been drawn yet.
random_state <- function() get0(".Random.seed", globalenv(), inherits = FALSE)

set_random_state <- function(state) {
  globals <- globalenv()
  if (!is.null(state)) assign(".Random.seed", state, globals)
}
