# Words that messages and pictures share.

counted <- function(n, what) paste0(n, " ", what, if (n != 1L) "s")

percent <- function(level) paste0(format(100 * level, digits = 4L), "%")

nonempty <- function(words) words[nzchar(words)]
