# Shared by the scripts of this folder and of engines/, which source it. POSIX sh.
#
# It finds the checkout ($root), makes a folder for everything temporary ($work, removed on exit),
# installs what is missing (need) and installs the package into $work (install_package).

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
[ -f "$root/DESCRIPTION" ] || root=$(dirname -- "$root") # the script is of engines/
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP # dash runs the EXIT trap on a signal only if the signal is trapped
trap 'exit 130' INT
trap 'exit 143' TERM

# A bare system has no locale set, and R would then mangle every character outside ASCII.
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in
  *[Uu][Tt][Ff]*) ;;
  *) if locale -a 2>/dev/null | grep -qi '^c\.utf'; then export LC_ALL=C.UTF-8; fi ;;
esac

# What the code of the website's articles needs.
for_articles="pkg:MASS pkg:survival pkg:boot pkg:nlme pkg:lme4 pkg:knitr pkg:rmarkdown pkg:ggplot2 \
  pkg:ragg pkg:future pkg:dplyr pkg:dbplyr pkg:RSQLite pkg:generics pkg:emmeans pkg:loo \
  pkg:posterior pkg:rstantools pkg:bayesplot"

# What tests use beside testthat: the packages of Suggests that Debian has, recommended ones first.
for_tests="pkg:Matrix pkg:mgcv pkg:codetools pkg:nlme pkg:DBI pkg:RSQLite pkg:bit64 pkg:caret \
  pkg:dbplyr pkg:dplyr pkg:emmeans pkg:future pkg:generics pkg:ggeffects pkg:ggplot2 pkg:haven \
  pkg:insight pkg:jsonlite pkg:knitr pkg:lmtest pkg:loo pkg:plumber pkg:ranger pkg:rmarkdown \
  pkg:units pkg:mice pkg:car pkg:posterior pkg:bayesplot pkg:rstantools pkg:sf \
  pkg:terra pkg:stars"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$(basename -- "$0"): $*"
  exit 1
}

# unless_there ITEM WORDS: ends the script well, and says so, where a thing that it does not install
# is missing; items are those of `need`.
unless_there() {
  has "$1" && return 0
  say "$(basename -- "$0"): $2 is not installed; nothing was run"
  exit 0
}

# R without the user's start-up file, which may print, attach or set anything.
rscript() { Rscript --no-init-file "$@"; }

# quietly WHAT COMMAND...: runs COMMAND and shows what it printed only if it fails.
quietly() {
  what=$1
  shift
  "$@" >"$work/log" 2>&1 </dev/null && return 0
  cat "$work/log" >&2
  say "failed: $what"
  return 1
}

# ---- what a script needs: r, compiler, pkg:NAME (an R package), lib:NAME (a library of Debian's),
# or the name of a command ----

# Can R here compile C and link it with BLAS and LAPACK? Only a try tells: it takes headers,
# a C compiler, make, the Fortran run time and the libraries' link names at once.
compiler_works() (
  mkdir -p "$work/probe" && cd "$work/probe" || exit 1
  cat >probe.c <<'C'
#include <Rinternals.h>
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
SEXP probe(void) { return R_MakeExternalPtr((void *) dpotrf_, R_NilValue, R_NilValue); }
C
  PKG_LIBS="$(R CMD config LAPACK_LIBS) $(R CMD config BLAS_LIBS) $(R CMD config FLIBS)"
  export PKG_LIBS
  R CMD SHLIB --clean --preclean probe.c
)

has() {
  case $1 in
    r) command -v R && command -v Rscript ;;
    compiler) command -v R && command -v make && compiler_works ;;
    pkg:*) [ -z "$(missing_packages "$1")" ] ;;
    lib:*) dpkg -s "lib${1#lib:}" ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1 </dev/null
}

# missing_packages pkg:NAME...: those that R does not find. R is started once for all of them.
missing_packages() {
  if command -v Rscript >/dev/null 2>&1; then
    rscript -e 'is_there <- function(item) nzchar(system.file(package = sub("pkg:", "", item)))' \
      -e 'writeLines(Filter(Negate(is_there), commandArgs(TRUE)))' "$@"
  else
    printf '%s\n' "$@"
  fi
}

missing() {
  packages=
  for item; do
    case $item in
      pkg:*) packages="$packages $item" ;;
      *) has "$item" || echo "$item" ;;
    esac
  done
  # shellcheck disable=SC2086 # a list of words without blanks
  [ -z "$packages" ] || missing_packages $packages
}

# The Debian packages of an item. OpenBLAS is R's BLAS and LAPACK from the moment it is installed.
debian_packages() {
  case $1 in
    r) echo r-base-core libopenblas0-pthread ;;
    compiler) echo gcc libc6-dev gfortran make libopenblas-dev ;;
    pkg:*) echo "r-cran-${1#pkg:}" | tr '[:upper:]' '[:lower:]' ;;
    lib:*) echo "lib${1#lib:}" ;;
    *) echo "$1" ;;
  esac
}

explain() {
  case $1 in
    r) echo "R, 4.1 or newer, with R and Rscript on the PATH" ;;
    compiler)
      echo "for R: a C compiler, a Fortran compiler, make, and BLAS and LAPACK to link with" ;;
    pkg:*) echo "the R package ${1#pkg:}: install.packages(\"${1#pkg:}\")" ;;
    lib:*) echo "the library ${1#lib:}" ;;
    *) echo "the command $1" ;;
  esac
}

list_missing() {
  say "$1"
  shift
  for item; do say "  - $(explain "$item")"; done
}

apt() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"
  fi
}

# need ITEM...: installs the missing ones through apt; apt is not called if nothing is missing.
need() {
  lacking=$(missing "$@")
  [ -n "$lacking" ] || return 0
  # shellcheck disable=SC2086 # $lacking and $debs are lists of words without blanks
  {
    command -v apt-get >/dev/null || {
      list_missing "missing here, and there is no apt-get to install it with:" $lacking
      exit 1
    }
    # An R that is not Debian's does not look where Debian puts R packages.
    case "$lacking" in
      *pkg:*)
        if has r && ! dpkg -S "$(R RHOME)/bin/Rscript" >/dev/null 2>&1; then
          list_missing "missing here, and this R was not installed by apt:" $lacking
          exit 1
        fi ;;
    esac
    debs=$(for item in $lacking; do debian_packages "$item"; done | tr '\n' ' ')
    debs=${debs% }
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
      die "needs root or sudo for: apt-get install --no-install-recommends $debs"
    say "installing: $debs"
    set -- install -y --no-install-recommends $debs
    # The index of packages is empty on a bare system, and an old one names files that are gone.
    apt "$@" >"$work/log" 2>&1 </dev/null || {
      say "updating: the index of packages, to try once more"
      quietly "apt-get update" apt update || : # one broken source of many need not matter
      quietly "apt-get install (on Ubuntu, R is in the component universe)" apt "$@" || exit 1
    }
    lacking=$(missing $lacking)
    [ -z "$lacking" ] || {
      list_missing "still missing after the installation:" $lacking
      exit 1
    }
  }
}

# want ITEM...: installs the missing ones where that can be done, and says which it did not.
want() {
  lacking=$(missing "$@")
  [ -n "$lacking" ] || return 0
  # shellcheck disable=SC2086 # $lacking is a list of words without blanks
  (need $lacking) || {
    list_missing "what needs these is skipped:" $lacking
  }
}

# libraries FOLDER...: R takes its BLAS and LAPACK from these folders of Debian's. Its own script
# puts a list of folders before LD_LIBRARY_PATH; this variable is that list.
libraries() {
  R_LD_LIBRARY_PATH=
  for folder; do
    for path in /usr/lib/*/"$folder"; do
      [ -d "$path" ] || return 1
      R_LD_LIBRARY_PATH="$R_LD_LIBRARY_PATH$path:"
    done
  done
  R_LD_LIBRARY_PATH="$R_LD_LIBRARY_PATH$(R RHOME)/lib"
  export R_LD_LIBRARY_PATH
}

# build_package FOLDER OPTION...: the package's tarball into FOLDER; its name goes to $tarball.
# Building copies the checkout first, so nothing is compiled or left in the checkout itself.
build_package() {
  folder=$1
  shift
  say "building: the package"
  mkdir -p "$folder"
  (cd "$folder" && quietly "R CMD build" R CMD build "$@" "$root") || exit 1
  tarball=$(echo "$folder"/*.tar.gz)
}

# Installs the package into a library of its own, and puts that first for the R that follows. Where
# SPARSEGP_LIBRARY names a library, it is installed there, once.
install_package() {
  mkdir "$work/library"
  export R_LIBS="$work/library${SPARSEGP_LIBRARY:+:$SPARSEGP_LIBRARY}${R_LIBS:+:$R_LIBS}"
  into=${SPARSEGP_LIBRARY:-$work/library}
  [ ! -d "$into/sparsegp" ] || return 0
  build_package "$work/tarball" --no-build-vignettes
  say "installing: the package, into a temporary library"
  quietly "R CMD INSTALL" R CMD INSTALL --library="$into" "$tarball" || exit 1
}
