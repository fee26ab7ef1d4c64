# Likelihoods and kernels that other packages have registered (inst/include/sparsegp.h). A value,
# and a fit, have the names of the package and of what it registered: what these stand for is looked
# up anew with every call of C.

# Stops unless the package is one that links to this one, and can be loaded. C calls this before it
# asks for what the package has registered: the names may come from a saved fit, which is not to
# load whatever somebody has written into it. extension: the names of the package and of what it
# registered.
load_extension <- function(extension) {
  if (!is_extension(extension)) stop_damaged("its `extension` names no package")
  package <- extension[[1L]]
  refuse_if(!links_here(package), "package",
            paste0(dQuote(package, FALSE), " does not link to sparsegp: it is not loaded"),
            "Its DESCRIPTION must have LinkingTo: sparsegp; see sparsegp.h")
  if (isNamespaceLoaded(package)) return(invisible())
  failed <- tryCatch({
    loadNamespace(package)
    NULL
  }, error = function(e) conditionMessage(e))
  if (!is.null(failed)) stop_not_loaded(extension, failed)
}

stop_not_loaded <- function(extension, failed) {
  stop_sparsegp("package", paste0(dQuote(extension[[1L]], FALSE), " cannot be loaded: ", failed),
                paste0("Install the package that has ", dQuote(extension[[2L]], FALSE),
                       ", or use another likelihood or kernel"))
}

# Does the DESCRIPTION of an installed package have this one among those that it links to? Asks for
# the file alone: nothing of the package is loaded. Stops where there is no such package.
links_here <- function(package) {
  known <- extensions_seen[[package]]
  if (!is.null(known)) return(known)
  folder <- if (isNamespaceLoaded(package)) getNamespaceInfo(package, "path")
            else find.package(package, quiet = TRUE)
  if (length(folder) == 0L) {
    stop_not_loaded(c(package, "it"), "there is no package of this name")
  }
  links <- as.character(utils::packageDescription(package, dirname(folder[1L]), "LinkingTo"))
  found <- "sparsegp" %in% sub("[[:space:](].*", "", trimws(strsplit(links, ",")[[1L]]))
  if (isNamespaceLoaded(package)) assign(package, found, extensions_seen)
  found
}

# Keeps the answers of loaded packages: a call of C then reads no file.
extensions_seen <- new.env(parent = emptyenv())

WHAT_EXTENSIONS_ARE <- c("likelihood", "kernel") # codes of sparsegp.h, from 1

# Names faults in the order of C's codes (glue_extension.c).
EXTENSION_FAULTS <- c("missing", "foreign", "version", "incomplete")

# Stops with what C has found wrong. codes: of the fault, and of what was looked for.
stop_extension <- function(extension, codes) {
  package <- extension[[1L]]
  name <- dQuote(extension[[2L]], FALSE)
  what <- WHAT_EXTENSIONS_ARE[codes[2L]]
  again <- "Install it again from its sources, with this version of sparsegp"
  switch(
    EXTENSION_FAULTS[codes[1L]],
    missing = stop_sparsegp("name", paste0("is ", name, ", which package ", package, " has not ",
                                           "registered"),
                            paste("The package calls R_RegisterCCallable() with this name after",
                                  "SPARSEGP_PREFIX; see sparsegp.h")),
    foreign = stop_sparsegp("name", paste0("is ", name, ", for which package ", package, " gives ",
                                           "no sparsegp_kernel or sparsegp_likelihood"), again),
    version = stop_sparsegp("package", paste0(dQuote(package, FALSE), " was built for another ",
                                              "version of sparsegp's header"), again),
    incomplete = stop_sparsegp("name", paste0("is ", name, ", which is not a complete ", what),
                               paste0("See sparsegp.h for what a ", what, " has to have"))
  )
}

# Returns what C finds of a registered likelihood or kernel: list(count, ordered), hyperparameters
# of a likelihood, or whether a kernel has a shape; whether there are quantiles.
extension_facts <- function(package, name, what) {
  refuse_if(!is_text(package) || !is_package_name(package), "package", "must be a package's name")
  refuse_if(!is_text(name) || !is_registered_name(name),
            "name", "must be the name of what the package has registered",
            "Letters, digits, dots and underscores, at most 200 of them")
  facts <- .Call(sg_extension, c(package, name), match(what, WHAT_EXTENSIONS_ARE))
  list(count = facts[1L], ordered = facts[2L] == 1L)
}

is_package_name <- function(x) grepl("^[A-Za-z][A-Za-z0-9.]*$", x)

is_registered_name <- function(x) grepl("^[A-Za-z0-9._]{1,200}$", x)

is_extension <- function(x) {
  are_words(x, 2L) && !is.object(x) && !anyNA(x) && is_package_name(x[[1L]]) &&
    is_registered_name(x[[2L]])
}
