# Sourced by databases.R and arrow.R.

# Megabytes of this process that are in memory, now (VmRSS) or at most (VmHWM)
resident <- function(field) {
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  as.double(gsub("[^0-9]", "", line)) / 1024
}

# Lets VmHWM begin anew
forget_peak <- function() writeLines("5", "/proc/self/clear_refs")

seconds <- function(expr) system.time(expr)[["elapsed"]]
