# How a stream codes its inputs: as its first rows were coded.

# The coder of a formula once the pilot is there.
learn_coder <- function(coder, frame) {
  if (is.null(coder)) return(NULL)
  attr(frame, "terms") <- coder$terms
  inputs <- model_inputs(coder$terms, frame, coder$given)
  coder$xlevels <- stats::.getXlevels(coder$terms, frame)
  coder$contrasts <- attr(inputs$x, "contrasts")
  coder$input_terms <- inputs$terms
  coder
}

# Model frame to matrix, as at the pilot; a matrix stays.
code_inputs <- function(coder, x) {
  if (is.null(coder)) return(x)
  for (name in names(coder$xlevels)) {
    known <- coder$xlevels[[name]]
    unseen <- setdiff(unique(as.character(x[[name]])), known)
    if (length(unseen)) {
      stop_sparsegp("newdata", paste0("has levels of ", name, " unseen so far: ",
                                      toString(unseen, width = 60L)),
                    paste("Fit again with rows of all levels; a stream needs them among its",
                          "first rows, method_online(pilot =)"))
    }
    x[[name]] <- factor(as.character(x[[name]]), known, exclude = if (anyNA(known)) NULL else NA)
  }
  attr(x, "terms") <- coder$terms # which rbind() and `[` drop
  x <- model_inputs(coder$terms, x, coder$contrasts, coder$xlevels)$x
  check_no_missing(newdata = x)
  check_finite_inputs(x, "newdata")
}
