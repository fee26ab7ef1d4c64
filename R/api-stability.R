# A page of help alone: what users may rely on.

#' Stability of the interface
#'
#' The package follows semantic versions. All that a version 1.x exports stays in the later ones,
#' with its arguments and the classes of its values, except for what this page calls experimental.
#'
#' @section Stable:
#' Names, arguments and their meaning, types and classes of values, the classes of errors
#' (`sparsegp_error`, with `argument` and `remedy`) and units. An argument that moves keeps
#' working throughout 1.x, with a message, once a session, that shows what to write instead.
#'
#' @section Experimental:
#' [ask()], [average()], [kernel_custom()], [kernel_extension()], [lik_custom()], [lik_extension()],
#' [next_points()], [shard()], and the headers for packages in C (`inst/include/sparsegp.h`, whose
#' `SPARSEGP_VERSION` counts changes). Their pages state this at the top. They are tested as
#' everything else is; their arguments may change in a minor version, which `news(package =
#' "sparsegp")` describes.
#'
#' @section Saved fits:
#' Fits that [saveRDS()] has written since version 1.0.0 are read by every later 1.x, and their
#' predictions, intervals and log evidences are the same except for rounding. They can be updated
#' and merged like those of the version that reads them. An earlier version refuses fits of a later
#' one, with an error that names the version.
#'
#' @section Not promised:
#' The choices of a default fit (transformation, kernel, inducing points (the *basis*), evaluations)
#' may improve in a minor version, and numbers change with it. If you need the same numbers, give
#' the kernel, `structure = "fixed"`, the method and `lik_gaussian(transform = )`, or keep the
#' fit. Fields of a fit that no help page names, texts of messages, and what `print()` shows are
#' not for programs.
#'
#' The same version gives the same numbers for the same call: nothing is random unless `method`,
#' `learn` or the call is. Another BLAS rounds differently; log evidences then agree to about eight
#' digits, and learned hyperparameters to about four.
#' @name stability
#' @concept lifecycle
#' @concept deprecated
#' @concept backward compatibility
#' @seealso [sparsegp()]; [gp_control()].
NULL
