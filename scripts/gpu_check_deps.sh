#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu_check_deps.sh [FOLDER]: downloads what scripts/gpu_check.sh needs on a machine that has nvcc and
# CMake, but neither a network nor a package manager: the Debian packages of this machine's own release for
# x86-64, with all they depend on short of a C++ compiler and its libraries. They go to FOLDER (build/gpu-deps), their
# versions to FOLDER/versions.txt. Nothing is installed, and root is not needed.
set -euo pipefail
folder=""
[[ -z ${1-} ]] || folder=$(realpath -m -- "$1")
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

folder=${folder:-$PWD/build/gpu-deps}
limit=$((40 << 20)) # bytes in all: the folder has to travel

wanted=(libtbb-dev libgtest-dev libgmock-dev libcli11-dev libpng-dev libjpeg-dev zlib1g-dev
  ninja-build)
# What is there wherever C++ is compiled, or is of no use there.
there='libc6|libc6-dev.*|libc-dev|libc-bin|libgcc.*|libstdc\+\+.*|gcc-.*|cpp.*|g\+\+.*|python3.*|perl.*|dpkg|debconf.*'

command -v apt-get >/dev/null || die "apt-get was not found: run this on a Debian or Ubuntu machine"
mkdir -p "$folder"

apt=(-o APT::Architecture=amd64 -o APT::Architectures=amd64)
knows() { apt-cache "${apt[@]}" show "$1" >/dev/null 2>&1; }
if ! knows libtbb-dev; then
  # No lists, or those of another architecture: lists of our own, and the machine's are left alone.
  mkdir -p "$folder/lists/partial"
  apt+=(-o "Dir::State::Lists=$folder/lists" -o "Dir::Cache=$folder/lists" -o APT::Sandbox::User="$(id -un)")
  quietly gpu-check-update apt-get "${apt[@]}" update
  knows libtbb-dev || die "apt knows no libtbb-dev after an update (build/gpu-check-update.log)"
fi

# needs PACKAGE…: the packages that these depend on, by real names, one a line.
needs() {
  apt-cache "${apt[@]}" depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances "$@" | sed -nE 's/^ +(Pre)?Depends: ([^ <:]+)(:any)?$/\2/p' | sort -u
}

declare -A chosen
next=("${wanted[@]}")
while ((${#next[@]})); do
  for package in "${next[@]}"; do chosen[$package]=1; done
  mapfile -t found < <(needs "${next[@]}")
  next=()
  for package in "${found[@]}"; do
    [[ -n ${chosen[$package]-} || $package =~ ^($there)$ ]] || next+=("$package")
  done
done
mapfile -t packages < <(printf '%s\n' "${!chosen[@]}" | sort)

rm -f -- "$folder"/*.deb "$folder/versions.txt"
download() (cd "$folder" && apt-get "${apt[@]}" -o APT::Sandbox::User="$(id -un)" download "${packages[@]}")
quietly gpu-check-download download

shopt -s nullglob
files=("$folder"/*.deb)
((${#files[@]} == ${#packages[@]})) ||
  die "${#packages[@]} packages were wanted and ${#files[@]} have come (build/gpu-check-download.log)"

sum=0
for file in "${files[@]}"; do
  IFS=_ read -r package version architecture <<<"$(basename "$file" .deb)"
  bytes=$(stat -c %s "$file")
  sum=$((sum + bytes))
  printf '%-20s %-26s %-6s %9d bytes\n' "$package" "${version//%3a/:}" "$architecture" "$bytes" >>"$folder/versions.txt"
done
cat "$folder/versions.txt"
echo "${#files[@]} packages in $folder, $(((sum + (1 << 20) - 1) >> 20)) MiB"
((sum <= limit)) || die "that is more than $((limit >> 20)) MiB"
