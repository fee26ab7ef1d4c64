# What is looked up by name is in tables that are built once, when the package is loaded. A name may
# come from a file that somebody has changed, so that nothing is looked up through R's search path.

# catalogue: what C has. traits, codecs: of each likelihood and kind of response what its function
# <name>_traits() or <name>_codec() returns. kinds: tables of <name>_kinds() (util-kinds.R).
# methods: constructors. plots: what <type>_plot() returns of each type (plot-sparsegp.R).
# kernels: one of each type, when they are first asked for (kernel-check.R).
# sound: the model that was last found undamaged (fit-check.R).
REGISTRY <- new.env(parent = emptyenv())

# Fills the registry from the functions in the namespace `home`.
fill_registry <- function(home) {
  REGISTRY$catalogue <- catalogue_of_c()
  likelihoods <- paste0(names(REGISTRY$catalogue$likelihoods), "_traits")
  REGISTRY$traits <- values_of(functions_named("_traits$", home)[likelihoods], "_traits")
  codecs <- functions_named("_codec$", home)
  REGISTRY$codecs <- values_of(codecs[lengths(lapply(codecs, formals)) == 0L], "_codec")
  REGISTRY$kinds <- values_of(functions_named("_kinds$", home), "_kinds")
  REGISTRY$plots <- values_of(functions_named("_plot$", home), "_plot")
  methods <- functions_named("^method_[a-z]+$", home)
  REGISTRY$methods <- methods[lengths(lapply(methods, formals)) > 1L]
  names(REGISTRY$methods) <- sub("method_", "", names(REGISTRY$methods))
}

# Returns the functions of a namespace whose names match, by name.
functions_named <- function(pattern, home) {
  found <- mget(ls(home, pattern = pattern), home)
  Filter(is.function, found)
}

# Returns what functions without arguments return, by their names without `ending`.
values_of <- function(functions, ending) {
  values <- lapply(Filter(is.function, functions), function(f) f())
  names(values) <- sub(ending, "", names(values), fixed = TRUE)
  values
}

# Returns the entry of this name in one of the tables, or NULL.
registered <- function(table, name) {
  if (is.character(name) && length(name) == 1L) REGISTRY[[table]][[name]]
}
