# Holds the tables of what is looked up by name, built once, when the package is loaded. A name may
# come from a file that somebody has changed, so nothing is looked up through R's search path.

# catalogue: what C has. traits, codecs: of each likelihood and kind of response what its function
# <name>_traits() or <name>_codec() returns. kinds: tables of <name>_kinds() (util-kinds.R).
# methods: constructors. plots: of each type of picture what <type>_plot() returns
# (plot-sparsegp.R). kernels: the types (kernel-table.R).
# sound, sound_fit: the model and the fit that were last found undamaged (fit-check.R).
# known: what the last posterior by neighbours gives to points (posterior-neighbours.R).
REGISTRY <- new.env(parent = emptyenv())

# Stands for the catalogue's row of likelihoods that are R functions, of which C has no list.
HOSTED <- list(q = 2L, npar = 0L, width = 1L, classes = FALSE, par = character(), exact = FALSE,
               ordered = TRUE)

# Fills the registry from the functions in the namespace `home`.
fill_registry <- function(home) {
  REGISTRY$catalogue <- .Call(sg_catalogue)
  REGISTRY$catalogue$likelihoods$custom <- HOSTED
  likelihoods <- paste0(names(REGISTRY$catalogue$likelihoods), "_traits")
  REGISTRY$traits <- values_of(functions_named("_traits$", home)[likelihoods], "_traits")
  codecs <- functions_named("_codec$", home)
  codecs <- values_of(codecs[lengths(lapply(codecs, formals)) == 0L], "_codec")
  for (others in functions_named("^codecs_", home)) codecs <- others(codecs)
  REGISTRY$codecs <- codecs
  kinds <- values_of(functions_named("_kinds$", home), "_kinds")
  REGISTRY$kinds <- lapply(kinds, functions_named("^kind_table$", home)[[1L]])
  REGISTRY$plots <- values_of(functions_named("_plot$", home), "_plot")
  methods <- functions_named("^method_[a-z]+$", home)
  REGISTRY$methods <- methods[lengths(lapply(methods, formals)) > 1L]
  names(REGISTRY$methods) <- sub("method_", "", names(REGISTRY$methods))
  REGISTRY$kernels <- functions_named("^kernel_table$", home)[[1L]]()
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
  plain <- is.character(name) && !is.object(name) && length(name) == 1L
  if (plain && Encoding(name) != "bytes") REGISTRY[[table]][[name]]
}

# Calls the function of the same name that this package's generic hides: the next one attached.
pass_on <- function(name, ...) {
  for (place in setdiff(search(), c(".GlobalEnv", "package:sparsegp"))) {
    hidden <- get0(name, as.environment(place), mode = "function", inherits = FALSE)
    if (!is.null(hidden)) return(hidden(...))
  }
  first <- if (...length()) class(..1)[1L] else "missing"
  stop_sparsegp("object", paste0("is of class ", dQuote(first, FALSE)), "Give a fit of sparsegp()")
}
