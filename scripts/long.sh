#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/long.sh [ROUNDS]: what takes too long for every change: release and clang builds, thread sanitizer,
# mutants, a clean root, and the stress tests ROUNDS times over (20). All of it runs, whatever fails; the last
# lines say what did.
set -uo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

rounds=${1:-20}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || die "\"$rounds\" is no number of rounds: give 1 or more"

results=()
step() {
  local start=$SECONDS verdict=ok
  echo "=== $*"
  "$@" || verdict=FAILED
  results+=("$(printf '%-7s %6d s  %s' "$verdict" $((SECONDS - start)) "$*")")
}

step scripts/test.sh dev
step scripts/test.sh release
step scripts/test.sh clang
step scripts/test.sh dev -L stress --repeat "until-fail:$rounds"
step scripts/test.sh asan -L stress --repeat "until-fail:$rounds"
step scripts/model.sh --long
step scripts/tsan.sh
step scripts/tsan.sh -L stress --repeat "until-fail:$rounds"
step scripts/mutants.sh
step scripts/clean_root.sh

printf '%s\n' "${results[@]}"
[[ "${results[*]}" != *FAILED* ]]
