# Finds what the reader of a source, a formula and functions of the user take from the user's
# workspace and from attached packages, for workers that have neither (chunked-workers.R). A
# function that was made in the workspace looks its names up there, so a worker binds them in its
# own while it has a task (with_borrowed()), and puts back what was there.

# Is the plan for more than this process?
has_workers <- function(source) {
  source$apart && isNamespaceLoaded("future") && !inherits(future::plan(), "sequential")
}

# Options that reading rows depends on: codes of factors, missing values, numbers as texts.
READING_OPTIONS <- c("contrasts", "na.action", "OutDec", "scipen", "digits", "digits.secs",
                     "encoding")

# The name under which workers find the process that has them, `name`.
PROCESS <- new.env(parent = emptyenv())

# Returns what workers need for all that is in `user`, or NULL where there are none:
#   globals   named list of objects
#   from      packages of names that are taken from these, by name; packages: to attach, in order
#   options   those of this process
#   process   the name of this one
# user: list(recipes, values, contrasts): values are whatever may have functions in it.
borrowed_for <- function(source, user, traffic) {
  if (!has_workers(source)) return(NULL)
  if (!is.null(traffic$borrowed)) return(traffic$borrowed)
  found <- new_findings(source)
  options <- options()[READING_OPTIONS]
  names(options) <- READING_OPTIONS
  find_in_value(found, c(list(source$reader, options$na.action), user$values), "a function")
  for (recipe in user$recipes) find_in_recipe(found, recipe)
  named <- Filter(is.character, c(as.list(options$contrasts), user$contrasts, options$na.action))
  for (name in unlist(named)) find_name(found, name, globalenv(), "function")
  globals <- globals_to_send(found)
  attached <- sub("^package:", "", rev(search()))
  if (is.null(PROCESS$name)) PROCESS$name <- new_name()
  traffic$borrowed <- list(globals = globals, from = found$from,
                           packages = intersect(attached, c("sparsegp", found$from)),
                           options = options, process = PROCESS$name)
  traffic$borrowed
}

# Returns what of the user's is in what workers have of a fit.
user_of_fit <- function(chunked) {
  fit <- chunked$fit
  list(recipes = list(chunked$scan$recipe, recipe_of(fit)), contrasts = fit$contrasts,
       values = list(fit$kernel, fit$likelihood, fit$response, fit$contrasts))
}

# Returns a name that no other process gives, nor this one again.
new_name <- function() {
  basename(tempfile(paste(Sys.info()[["nodename"]], Sys.getpid(), "")))
}

# Evaluates `code` in a worker with what its task needs. A fork, or a plan of one worker that is
# this process, has it all.
with_borrowed <- function(borrowed, code) {
  if (is.null(borrowed) || identical(PROCESS$name, borrowed$process)) return(code)
  here <- globalenv()
  set <- c(borrowed$globals, masked_here(borrowed))
  names <- as.character(names(set))
  there <- intersect(names, ls(here, all.names = TRUE))
  kept <- lapply(stats::setNames(nm = there), function(name) here[[name]])
  old <- options(borrowed$options)
  on.exit({
    options(old)
    rm(list = intersect(names, ls(here, all.names = TRUE)), envir = here)
    list2env(kept, here)
  })
  list2env(set, here)
  code
}

# Returns those objects of attached packages that others hide in this process.
masked_here <- function(borrowed) {
  names <- setdiff(names(borrowed$from), names(borrowed$globals))
  own <- lapply(stats::setNames(nm = names), function(name) {
    value <- get0(name, as.environment(paste0("package:", borrowed$from[[name]])))
    mode <- if (is.function(value)) "function" else "any"
    if (!identical(get0(name, globalenv(), mode), value)) value
  })
  Filter(Negate(is.null), own)
}

# ---- Finding ----

# Returns where findings are noted: `globals`, `from`; `set`, names that `<<-` sets; `unsent`,
# classes of objects that cannot be sent, by name; `functions`, `places`: seen already.
new_findings <- function(source) {
  columns <- NULL
  list2env(list(globals = list(), from = character(), set = character(), unsent = character(),
                functions = list(), places = list(), columns = function() {
    if (is.null(columns)) columns <<- names_of_columns(source)
    columns
  }))
}

names_of_columns <- function(source) {
  chunks <- open_chunks(source)
  on.exit(chunks$close())
  names(chunks$read()$chunk) %||% character()
}

# Looks at what is evaluated among the columns of a chunk, which go before other variables.
find_in_recipe <- function(found, recipe) {
  among <- recipe$arguments[setdiff(names(recipe$arguments), "na.action")]
  terms <- recipe$terms
  variables <- if (inherits(terms, "terms")) attr(terms, "variables") else terms
  code <- as.expression(c(list(variables), among))
  find_in_code(found, code, environment(terms), found$columns)
  find_in_code(found, recipe$arguments$na.action, recipe$env)
  find_in_value(found, recipe$likelihood, "a function")
}

find_in_code <- function(found, code, env, columns = function() character()) {
  taken <- names_taken(code)
  found$set <- union(found$set, taken$set)
  for (name in taken$calls) find_name(found, name, env, "function")
  for (name in taken$variables) find_name(found, name, env, "any", columns)
}

# Looks for functions in a value, and for what cannot be sent.
find_in_value <- function(found, value, name) {
  if (is.function(value)) return(find_in_function(found, value))
  if (typeof(value) == "externalptr" || inherits(value, "connection")) {
    found$unsent[name] <- class(value)[1L]
  }
  if (is.environment(value)) return(find_in_place(found, value, name))
  parts <- if (is.list(value)) unclass(value) else if (isS4(value)) attributes(value)
  for (k in seq_along(parts)) {
    if (is_searched(parts[[k]])) find_in_value(found, parts[[k]], name)
  }
}

# Can there be functions in it? An argument without a default, as formals() has, is no value at all.
is_searched <- function(part) !identical(part, formals(function(x) x)$x) && !is.atomic(part)

find_in_function <- function(found, fun) {
  env <- environment(fun)
  if (is.primitive(fun) || !travels(env) && !identical(env, globalenv())) return(invisible())
  if (any(vapply(found$functions, identical, NA, fun))) return(invisible())
  found$functions <- c(found$functions, fun)
  find_in_code(found, fun, env)
  # one that a package has made of the user's may call these by other ways than their names
  if (!identical(topenv(env), globalenv())) find_in_place(found, env, "a function")
}

find_in_place <- function(found, env, name) {
  if (!travels(env) || any(vapply(found$places, identical, NA, env))) return(invisible())
  found$places <- c(found$places, env)
  for (own in setdiff(ls(env, all.names = TRUE), "...")) {
    if (!bindingIsActive(own, env)) find_in_value(found, value_in(own, env), name)
  }
}

# Is an environment sent with what refers to it?
travels <- function(env) {
  !identical(env, globalenv()) && !identical(env, baseenv()) && !isNamespace(env) &&
    is.null(package_of(env))
}

# Returns a value, or NULL where there is none of this mode or an argument is missing.
value_in <- function(name, env, mode = "any") {
  tryCatch({
    value <- env[[name]]
    if (mode == "any" || is.function(value)) value
  }, error = function(e) NULL)
}

# Finds what a name stands for, and notes it if workers lack it.
find_name <- function(found, name, env, mode, columns = function() character()) {
  while (!identical(env, emptyenv()) && !bound_in(name, env, mode)) env <- parent.env(env)
  if (is_of_package(env)) return(invisible())
  package <- package_of(env)
  if (is_word(package, STANDARD_PACKAGES)) return(invisible())
  if (mode == "any" && name %in% columns()) return(invisible())
  if (!is.null(package)) {
    found$from[name] <- package
    return(invisible())
  }
  value <- value_in(name, env, mode)
  shared <- identical(env, globalenv()) || is_word(attr(env, "name"), search())
  if (shared && !name %in% names(found$globals)) found$globals[name] <- list(value)
  find_in_value(found, value, name)
}

# Is it where nothing is, or where a package or R itself finds its names, in a worker, too?
is_of_package <- function(env) {
  identical(env, emptyenv()) || identical(env, baseenv()) || isNamespace(env) ||
    startsWith(attr(env, "name") %||% "", "imports:")
}

STANDARD_PACKAGES <- c("base", "stats", "graphics", "grDevices", "utils", "datasets", "methods")

bound_in <- function(name, env, mode) {
  if (mode == "any") exists(name, env, inherits = FALSE) else !is.null(value_in(name, env, mode))
}

# Returns the name of the package whose place on the search path it is, or NULL.
package_of <- function(env) {
  name <- attr(env, "name")
  if (is_text(name) && startsWith(name, "package:")) sub("package:", "", name, fixed = TRUE)
}

# ---- Sending ----

# Returns the globals. What `<<-` sets a function may make anew in the worker.
globals_to_send <- function(found) {
  unsent <- found$unsent
  refused <- setdiff(names(unsent), found$set)
  refuse_if(length(refused) && !in_this_process(), "data",
            paste0("is to be read by workers, and needs ", refused[1L], ", which ",
                   "cannot be sent to them (class ", unsent[[refused[1L]]], ")"),
            "Make it within the function, or fit with future::plan(\"sequential\")")
  globals <- found$globals[setdiff(names(found$globals), names(unsent))]
  bytes <- vapply(globals, function(value) as.double(utils::object.size(value)), 0)
  if (sum(bytes) <= getOption("future.globals.maxSize", 500 * 1024^2)) return(globals)
  stop_sparsegp("data", paste0("is to be read by workers, which need ", signif(sum(bytes) / 1e6, 3),
                               " MB of your workspace, most of them ",
                               names(globals)[which.max(bytes)]),
                paste("Read the rows within the function, or set",
                      "options(future.globals.maxSize =)"))
}

# Do the plan's tasks share the memory of this process?
in_this_process <- function() {
  inherits(future::plan(), "multicore") ||
    inherits(future::plan(), "multisession") && future::nbrOfWorkers() == 1L
}
