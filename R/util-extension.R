# Likelihoods and kernels that other packages have registered (inst/include/sparsegp.h). A value,
# and a fit, have the names of the package and of what it registered: what these stand for is looked
# up anew with every call of C.

# Stops unless the package can be loaded. C calls this before it asks for what the package has
# registered. extension: the names of the package and of what it registered.
load_extension <- function(extension) {
  package <- extension[[1L]]
  if (isNamespaceLoaded(package)) return(invisible())
  failed <- tryCatch({
    loadNamespace(package)
    NULL
  }, error = function(e) conditionMessage(e))
  if (is.null(failed)) return(invisible())
  stop_sparsegp("package", paste0(dQuote(package, FALSE), " cannot be loaded: ", failed),
                paste0("Install the package that has ", dQuote(extension[[2L]], FALSE),
                       ", or use another likelihood or kernel"))
}

WHAT_EXTENSIONS_ARE <- c("likelihood", "kernel") # codes of sparsegp.h, from 1

# Returns what C finds of a registered likelihood or kernel: list(count, ordered), hyperparameters
# of a likelihood, or whether a kernel has a shape; whether there are quantiles.
extension_facts <- function(package, name, what) {
  if (!is_text(package) || !nzchar(package)) stop_sparsegp("package", "must be a package's name")
  if (!is_text(name) || !nzchar(name)) {
    stop_sparsegp("name", "must be the name of what the package has registered")
  }
  facts <- tryCatch(.Call(sg_extension, c(package, name)), error = function(e) {
    if (inherits(e, "sparsegp_error")) stop(e)
    stop_sparsegp("name", paste0("is ", dQuote(name, FALSE), ", which package ", package,
                                 " has not registered"),
                  "The package calls R_RegisterCCallable() with this name; see sparsegp.h")
  })
  if (facts[1L] == 0L) {
    stop_sparsegp("package", paste0(dQuote(package, FALSE), " was built for another version of ",
                                    "sparsegp's header"),
                  paste0("Install it again from its sources, with this version of sparsegp"))
  }
  if (!identical(WHAT_EXTENSIONS_ARE[facts[2L]], what) || facts[5L] == 0L) {
    stop_sparsegp("name", paste0("is ", dQuote(name, FALSE), ", which is no complete ", what),
                  paste0("See sparsegp.h for what a ", what, " has to have"))
  }
  list(count = facts[3L], ordered = facts[4L] == 1L)
}

is_extension <- function(x) are_words(x, 2L) && !anyNA(x) && all(nzchar(x))
