# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the other scripts: goes to the root of the tree, and makes sure of the packages and of a build.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# shellcheck disable=SC2034  # used by those who source this
build_packages=(g++ cmake ninja-build ccache pkg-config
  libtbb-dev libgtest-dev libcli11-dev libpng-dev libjpeg-dev)
# Tools that some tests count and check with; those tests are left out without them.
# shellcheck disable=SC2034
test_packages=(spin valgrind strace)

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# as_root COMMAND…: as root, or by sudo where that asks no password.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

# need PACKAGE…: installs those that are missing, or says how. Nothing is printed when all are there.
need() {
  command -v dpkg-query >/dev/null ||
    die "this script installs Debian packages, and this is no Debian or Ubuntu. Install the equivalents of
  $*
and build by hand: cmake --preset dev && cmake --build --preset dev && ctest --preset dev"

  local missing=() package
  for package in "$@"; do
    # Two queries would be slow, and one for all fails as a whole when a name is unknown.
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  as_root true 2>/dev/null || die "these packages are missing: ${missing[*]}
Install them, then run this again:  sudo ${install[*]}"

  echo "installing ${missing[*]}"
  mkdir -p build
  local log=build/apt.log
  {
    # The lists may be older than the mirror: try with what is there, and refresh them only then.
    as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}" ||
      { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}"; }
  } >"$log" 2>&1 </dev/null || {
    tail -n 20 "$log" >&2
    die "apt-get failed (the whole log: $log). Try by hand:  sudo ${install[*]}"
  }
}

# want PACKAGE…: installs those that are missing where it may, and does without them where it may not.
want() { (need "$@") 2>/dev/null || true; }

# origin_of PACKAGE: "URI SUITE COMPONENT" of the mirror that the package is installed from.
origin_of() {
  apt-cache policy "$1" |
    sed -nE 's!^ +-?[0-9]+ ([a-z+]+:[^ ]+) ([^ /]+(/updates)?)/([a-z]+) [^ ]+ Packages$!\1 \2 \4!p' | head -n 1 |
    grep . || die "apt-cache does not know a mirror for $1: run apt-get update, then this again"
}

# quietly WHAT COMMAND…: prints the output of the command only when it fails; keeps it in build/WHAT.log.
quietly() {
  local log=build/$1.log
  shift
  mkdir -p build
  "$@" >"$log" 2>&1 </dev/null || {
    grep -vE '^\[[0-9]+/[0-9]+\] ' "$log" | tail -n 60 >&2 # without ninja's lines of what went well
    die "failed: $*  (the whole log: $log)"
  }
}

# build PRESET TARGET…: configures and builds. The first build of a preset says that it takes a while.
build() {
  local preset=$1
  shift
  local version
  version=$(cmake --version | sed -nE '1s/.* ([0-9]+\.[0-9]+).*/\1/p')
  [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) == 3.25 ]] ||
    die "CMake 3.25 or newer is needed, this is $version: use Debian 12, Ubuntu 24.04 or newer, or install a newer CMake"
  [[ -e build/$preset/build.ninja ]] || echo "building $preset for the first time, which takes some minutes"
  quietly "configure-$preset" cmake --preset "$preset"
  quietly "build-$preset" cmake --build "build/$preset" --target "$@" -j "$(nproc)"
}
