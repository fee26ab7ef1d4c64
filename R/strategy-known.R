# A structure that is known: one that another fit's race for structure (strategy-structure.R)
# compared, made again without a race. It is in the place of sparsegp(structure = ), a list of
#   labels  the candidate of each stage of the race, by stage (choices.R); a stage that is not named
#           has its simplest
#   tie     the logarithm of the common length scale to which those of labels are tied, or NULL

new_known_structure <- function(labels, tie = NULL) {
  structure(list(labels = labels, tie = tie), class = "sparsegp_structure")
}

is_known_structure <- function(structure) inherits(structure, "sparsegp_structure")

# Returns the setup with the fields that a known structure settles. inputs: their names
with_known_structure <- function(setup, inputs = NULL) {
  known <- setup$structure
  if (!is_known_structure(known)) return(setup)
  of <- function(stage) if (stage %in% names(known$labels)) known$labels[[stage]] else ""
  if (of("latent functions") == OF_EACH_CATEGORY) setup$each_category <- TRUE
  coded <- Filter(function(coding) coding$label == of("coding"), codings(setup))
  if (length(coded)) setup$factors <- coded[[1L]]$setup$factors
  if (nzchar(of("error of log times"))) setup$likelihood <- as_likelihood(of("error of log times"))
  if (!of("response scale") %in% c("", "identity")) {
    setup$likelihood <- with_transform(setup$likelihood %||% lik_gaussian(), of("response scale"))
  }
  if (of("noise") == NOISE_NEAR_NONE) {
    setup$likelihood <- nearly_noiseless(setup$likelihood %||% lik_gaussian())
  }
  if (of("input scale") == ONE_SCALE) setup$scale <- "common"
  if (endsWith(of("input scale"), SKEWED_ON_LOG)) setup$scale <- "log"
  setup <- with_known_kernel(setup, of("kernel"), known$tie)
  for (name in factors_of_label(of("effects of levels"))) {
    setup$kernel <- with_effect(setup$kernel %||% kernel_rbf(), name, inputs)
  }
  setup
}

# Returns the names in a label of effects_in_words(), in which one with a comma has backticks.
factors_of_label <- function(label) {
  outside_of_backticks <- ", (?=([^`]*`[^`]*`)*[^`]*$)"
  setdiff(strsplit(label, outside_of_backticks, perl = TRUE)[[1L]], NO_EFFECTS)
}

# A kernel that was given leaves its degree open at most.
with_known_kernel <- function(setup, label, tie) {
  if (!nzchar(label)) return(setup)
  if (!is.null(setup$kernel)) {
    offered <- lapply(seq_len(policy$most_degree), with_open_degree, kernel = setup$kernel)
    labels <- vapply(offered, format, "")
    if (label %in% labels) setup$kernel <- offered[[match(label, labels)]]
    return(setup)
  }
  setup$kernel <- kernel_of_label(label)
  first <- c(setup$kernel$parts, list(setup$kernel))[[1L]]
  if (!is.null(tie) && isTRUE(first$ard)) setup$prior <- tied_lengthscales(setup, tie)
  setup
}

# Returns the kernel that a label of the race stands for: a sum of these.
kernel_of_label <- function(label) {
  makers <- list(kernel_rbf, kernel_matern52, kernel_matern32, kernel_matern12)
  known <- c(list(kernel_linear()), lapply(makers, function(kernel) kernel()),
             lapply(makers, function(kernel) kernel(ard = TRUE)))
  Reduce(`+`, lapply(strsplit(label, " + ", fixed = TRUE)[[1L]], function(part) {
    at <- match(part, vapply(known, format, ""))
    if (is.na(at)) rhythm_of_label(part, label) else known[[at]]
  }))
}

# Returns the periodic part that its label stands for.
rhythm_of_label <- function(part, label) {
  found <- regmatches(part, regexec("^periodic\\(period = ([^,]+?)(?:, vars = (.+))?\\)$", part,
                                    perl = TRUE))[[1L]]
  period <- suppressWarnings(as.double(found[2L]))
  if (is.na(period)) {
    stop_damaged(paste("its `choices` name a kernel that no race has,", label), "...")
  }
  kernel_periodic(period = period, vars = if (nzchar(found[3L])) found[3L])
}
