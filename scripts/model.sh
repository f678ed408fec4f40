#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/model.sh [--long | --test]: checks the models of tests/model, each a protocol of heddle in the language of
# spin, in every order that its threads can run in. A line of a model "// holds: OPTIONS" names a size that has to be
# free of errors, "// holds at length:" one that --long adds, and "// breaks: NAME WHAT" a bug that has to be found.
# --test installs nothing, and ends with 77 where spin is missing: how CTest runs it. The exit code is 1 when a model
# has an error or a bug is not found.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

holds='holds' fewer_bytes=()
case ${1-} in
  "") need spin gcc ;;
  --long)
    need spin gcc
    # States are told apart by a hash of 64 bits, or they would not fit into memory.
    holds='holds|holds at length' fewer_bytes=(-DHC4)
    ;;
  --test)
    if ! { command -v spin && command -v gcc; } >/dev/null; then
      echo "skipped: spin, or gcc, is not installed; scripts/model.sh does that" && exit 77
    fi
    ;;
  *) die "unknown argument \"$1\": give --long, --test or nothing" ;;
esac

mkdir -p build
work=$(mktemp -d build/model.XXXXXX)
trap 'rm -rf "$work"' EXIT

# check LEVEL MODEL OPTION…: makes the checker of the model and runs it; its report is in $work/report. LEVEL is the
# compiler's: what ends early takes longer to compile than to run.
check() (
  level=$1 model=$PWD/tests/model/$2.pml
  shift 2
  cd "$work"
  rm -f pan* ./*.trail
  spin -a "$@" "$model" && gcc "$level" "${fewer_bytes[@]}" -w -DSAFETY -DMEMLIM=6000 -o pan pan.c && ./pan -m100000 -n
) >"$work/report" 2>&1 </dev/null

# Whether the search ended, and without an error. What ran out of memory or of depth has not seen all states.
found_nothing() {
  grep -q 'errors: 0$' "$work/report" &&
    ! grep -qE '^(error|pan: (out of memory|reached)|Warning: Search not completed)' "$work/report"
}
errors='assertion violated|invalid end state'
found_error() { grep -qE "^pan:[0-9]+: ($errors)" "$work/report"; }

bad=0 checked=0
result() { printf '%-15s %-62s %s\n' "$@"; }

for file in tests/model/*.pml; do
  model=${file##*/}
  model=${model%.pml}

  while read -r -a options; do
    if check -O1 "$model" "${options[@]}" && found_nothing; then
      result "$model" "${options[*]}" "holds in $(sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' "$work/report") states"
    else
      result "$model" "${options[*]}" "HAS AN ERROR"
      grep -E '^(pan:[0-9]|spin|error)' "$work/report" || tail -n 20 "$work/report"
      # How it comes about: each step, by whom, at which line.
      [[ ! -e $work/$model.pml.trail ]] || spin -k "$work/$model.pml.trail" -p -g -B "${options[@]}" "$file" || true
      bad=1
    fi
    ((++checked))
  done < <(sed -nE "s/^\/\/ ($holds): +//p" "$file")

  while read -r bug; do
    check -O0 "$model" "-D$bug" || true
    if found_error; then
      result "$model" "$bug" "found: $(sed -nE "s/^pan:[0-9]+: ($errors).* \(at depth ([0-9]+)\)/\1, \2 steps/p" "$work/report")"
    else
      result "$model" "$bug" "NOT FOUND"
      bad=1
    fi
    ((++checked))
  done < <(sed -nE 's|^// breaks: +([A-Z_]+).*|\1|p' "$file")
done
((checked)) || die "tests/model has no models"
exit "$bad"
