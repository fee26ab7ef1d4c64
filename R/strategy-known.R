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
  if (of("noise") == NOISE_NEAR_NONE) setup$noiseless <- TRUE
  kind <- vapply(NOISES, `[[`, "", "label") == of("noise")
  if (any(kind)) {
    setup$likelihood <- with_noise(setup$likelihood %||% lik_gaussian(), names(NOISES)[kind])
  }
  if (of("prior mean") == "constant") setup$mean <- "constant"
  if (of("input scale") == ONE_SCALE) setup$scale <- "common"
  if (endsWith(of("input scale"), SKEWED_ON_LOG)) setup$scale <- "log"
  setup <- with_known_kernel(setup, of("kernel"), known$tie, inputs)
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
with_known_kernel <- function(setup, label, tie, inputs = NULL) {
  if (!nzchar(label)) return(setup)
  if (!is.null(setup$kernel)) {
    offered <- lapply(seq_len(policy$most_degree), with_open_degree, kernel = setup$kernel)
    labels <- vapply(offered, format, "")
    if (label %in% labels) setup$kernel <- offered[[match(label, labels)]]
    return(setup)
  }
  setup$kernel <- kernel_of_label(label, inputs)
  first <- c(setup$kernel$parts, list(setup$kernel))[[1L]]
  if (!is.null(tie) && isTRUE(first$ard)) setup$prior <- tied_lengthscales(setup, tie)
  setup
}

# Returns the kernel that a label of the race stands for: a sum of these. inputs: names of all
kernel_of_label <- function(label, inputs = NULL) {
  makers <- list(rbf = kernel_rbf, matern52 = kernel_matern52, matern32 = kernel_matern32,
                 matern12 = kernel_matern12, linear = kernel_linear, periodic = rhythm_again)
  kernel <- NULL
  rest <- label
  repeat {
    read <- read_kernel(rest, makers, inputs)
    if (is.null(read)) {
      stop_damaged(paste("its `choices` name a kernel that no race has,", label), "...")
    }
    kernel <- if (is.null(kernel)) read$kernel else kernel + read$kernel
    if (!nzchar(read$rest)) return(kernel)
    rest <- sub("^ [+] ", "", read$rest)
  }
}

# Returns list(kernel, rest) of a text that begins with one as format() writes it, or NULL.
read_kernel <- function(text, makers, inputs) {
  type <- sub("[(].*", "", text)
  if (!type %in% names(makers)) return(NULL)
  rest <- substring(text, nchar(type) + 2L)
  arguments <- list(ard = startsWith(rest, "ard = TRUE"))
  if (type == "periodic") {
    if (!grepl("^period = [0-9]", rest)) return(NULL)
    arguments <- list(period = sub("^period = ([^,)]*).*", "\\1", rest))
  }
  rest <- sub("^(ard = TRUE|period = [0-9][^,)]*)(, )?", "", rest)
  vars <- NULL
  if (startsWith(rest, "vars = ")) {
    read <- read_inputs(sub("^vars = ", "", rest), inputs)
    vars <- read$vars
    rest <- read$rest
  }
  if (!startsWith(rest, ")")) return(NULL)
  kernel <- do.call(makers[[type]], c(arguments, list(vars = vars)))
  list(kernel = kernel, rest = substring(rest, 2L))
}

# Returns the periodic part with a period that format() has written.
rhythm_again <- function(period, vars) kernel_periodic(period = as.double(period), vars = vars)

# Returns list(vars, rest) of a text that begins with names of inputs and ")". Names may hold
# commas and brackets, so the longest that fits is taken.
read_inputs <- function(text, inputs) {
  vars <- NULL
  repeat {
    after <- substring(text, nchar(inputs) + 1L)
    fits <- inputs[startsWith(text, inputs) & (startsWith(after, ", ") | startsWith(after, ")"))]
    if (length(fits) == 0L) return(list(vars = vars, rest = text))
    vars <- c(vars, fits[which.max(nchar(fits))])
    text <- sub("^, ", "", substring(text, max(nchar(fits)) + 1L))
  }
}
