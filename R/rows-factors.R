# Factors that are one input each: which, and how kernels read them.

# Among the contrasts of factors: no contrasts, but one column with the number of the level, which
# kernels read as a level, or of an ordered factor as a number.
BY_LEVEL <- "number of the level"
BY_SCORE <- "score of the level"

# Returns the setup with what it makes of a formula's factors: the kernel with `vars` for every part
# that had none beside factor kernels; `coded`, the coding of factors that are one column each
# (rows-code.R); `ordered`, which of these may be read as numbers; `factors`, those that kernels
# of distances read as levels; and `labels`, which variables are no numbers. variables:
# named list of the inputs; open: is the kernel chosen?
see_factors <- function(setup, terms, variables, open) {
  others <- Filter(Negate(is.numeric), variables)
  factors <- names(Filter(has_levels, others))
  setup$kernel <- share_inputs(setup$kernel, attr(terms, "term.labels"), factors)
  grouped <- grouping_factors(setup, terms, factors)
  own <- character()
  if (length(factors)) own <- factors_by_level(setup$coding, open, terms, variables[factors])
  setup$ordered <- setdiff(Filter(function(name) is.ordered(variables[[name]]), own), grouped)
  setup$factors <- own
  setup$labels <- c(factors, names(Filter(is.logical, others)))
  if (length(setup$ordered)) setup$factors <- codings(setup)[[1L]]$setup$factors
  coded <- union(own, grouped)
  setup$coded <- stats::setNames(rep(list(BY_LEVEL), length(coded)), coded)
  setup$coded[setup$ordered] <- list(BY_SCORE)
  setup
}

# Returns the names of the factors that factor kernels see.
grouping_factors <- function(setup, terms, factors) {
  leaves <- kernel_leaves(setup$kernel)
  levels <- vapply(leaves, reads_levels, NA)
  if (!any(levels)) return(character())
  refuse_if(any(vapply(leaves, function(leaf) is.numeric(leaf$vars), NA)),
            "vars", "are numbers of columns, beside kernel_factor()", "Give names")
  seen <- function(leaves) unlist(lapply(leaves, `[[`, "vars"))
  coded <- intersect(factors, seen(leaves[levels]))
  if (!identical(setup$coding, "levels")) refuse_two_codings(coded, seen(leaves[!levels]))
  refuse_interactions(coded, terms, "kernel_factor() reads by level")
  coded
}

# Returns the names of the factors that are one input each. If that was not asked for, these are
# those for which nobody has asked for columns, by contrasts or interactions, and there are none
# where a kernel is given.
factors_by_level <- function(coding, open, terms, factors) {
  if (identical(coding, "levels")) {
    refuse_interactions(names(factors), terms, "`coding` makes one input of")
    return(names(factors))
  }
  if (!is.null(coding) || !open) return(character())
  plain <- vapply(factors, function(factor) is.null(attr(factor, "contrasts")), NA)
  setdiff(names(factors)[plain], interacting(names(factors), terms))
}

# Returns those of some variables that interactions are with.
interacting <- function(names, terms) {
  within <- attr(terms, "factors")
  if (length(names) == 0L || length(within) == 0L) return(character())
  rownames(within) <- variable_names(terms)
  names[rowSums(within[names, attr(terms, "order") > 1L, drop = FALSE] > 0L) > 0]
}

# A factor seen by level has no columns that another kernel, or an interaction, could use.
refuse_two_codings <- function(coded, others) {
  twice <- intersect(coded, others)
  if (length(twice) == 0L) return(invisible())
  stop_sparsegp("kernel", paste0("has a part that reads ", toString(twice), ", which ",
                                 "kernel_factor() reads by level, as numbers"),
                paste("Multiply that part by kernel_factor(), give it other `vars`, or give",
                      "coding = \"levels\""))
}

# why: who sees them by level
refuse_interactions <- function(coded, terms, why) {
  found <- interacting(coded, terms)
  if (length(found) == 0L) return(invisible())
  stop_sparsegp("formula", paste0("has interactions with ", toString(found), ", which ", why),
                "Leave them out: a kernel of several inputs has interactions by itself")
}

# ---- Alternatives ----

# Returns how the ordered factors of a model may be read, simplest first: a list of list(label,
# setup), the latter the fields of the setup that change. Empty where there is none.
codings <- function(setup) {
  if (length(setup$ordered) == 0L) return(list())
  plain <- setdiff(setup$factors, setup$ordered)
  list(list(label = "ordered factors as numbers", setup = list(factors = plain)),
       list(label = ORDERED_AS_FACTORS,
            setup = list(factors = c(plain, setup$ordered))))
}

# Returns the recipe with the contrasts of ordered factors as they were read at last.
with_read_levels <- function(recipe, setup) {
  if (length(setup$ordered) == 0L) return(recipe)
  as_factor <- setup$ordered %in% setup$factors
  recipe$contrasts[setup$ordered] <- ifelse(as_factor, BY_LEVEL, BY_SCORE)
  recipe
}
