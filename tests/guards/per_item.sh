#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/guards/per_item.sh ITEMS WHAT KIND CEILING: whether one item more of a KIND costs at most CEILING of WHAT, which is
# instructions (counted by callgrind), calls (of the system, by strace) or allocations. Counts do not depend on how busy
# the machine is. Ends with 77 where the tool is missing.
set -euo pipefail
items=$1 what=$2 kind=$3 ceiling=$4
few=4000 many=8000
runs=2 # of the program: the first makes what is kept, and its allocations do not count
[[ $what != allocations ]] || runs=1
file=$(mktemp)
trap 'rm -f "$file"' EXIT

count() { # N
  case $what in
    instructions)
      valgrind --tool=callgrind --callgrind-out-file=/dev/null "$items" "$kind" "$1" 2>&1 >/dev/null |
        sed -nE 's/.*Collected : ([0-9]+).*/\1/p'
      ;;
    calls)
      strace -f -c -o "$file" "$items" "$kind" "$1" >/dev/null
      awk '$NF == "total" { print $4 }' "$file"
      ;;
    allocations) "$items" "$kind" "$1" | sed -nE 's/^allocations ([0-9]+)$/\1/p' ;;
  esac
}

case $what in
  instructions) tool=valgrind ;;
  calls) tool=strace ;;
  *) tool=bash ;;
esac
if ! command -v "$tool" >/dev/null; then
  echo "left out: $tool is not installed, which counts the $what of an item"
  exit 77
fi

a=$(count $few) b=$(count $many)
[[ $a =~ ^[0-9]+$ && $b =~ ^[0-9]+$ ]] || { echo "no count: \"$a\", \"$b\"" >&2 && exit 1; }
awk -v a="$a" -v b="$b" -v n=$((runs * (many - few))) -v most="$ceiling" -v what="$what" -v kind="$kind" 'BEGIN {
  each = (b - a) / n
  printf "%s of one item more, %s: %.3f; at most %s\n", what, kind, each, most
  exit each <= most ? 0 : 1
}'
