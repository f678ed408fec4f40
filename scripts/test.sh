#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/test.sh [PRESET] [ctest arguments…]: builds and runs every test that this machine can run.
#   scripts/test.sh                   the dev build
#   scripts/test.sh asan              under the address and undefined-behaviour sanitizers
#   scripts/test.sh dev -R Future     only the tests whose name matches
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

preset=dev
case ${1-} in
  dev | release | clang | asan | tsan) preset=$1 && shift ;;
  "" | -*) ;;
  *) die "unknown preset \"$1\": give dev, release, clang, asan or tsan, then arguments for ctest" ;;
esac

need "${build_packages[@]}"
[[ $preset != clang ]] || need clang-16
build "$preset" all all_verify_interface_header_sets

# Passed tests are not worth a line each; the log has them. ctest's closing line is kept for the end.
log=build/test-$preset.log
status=0
ctest --preset "$preset" -j "$(nproc)" --no-label-summary "$@" </dev/null 2>&1 |
  tee "$log" |
  { grep -vE '^ +Start +[0-9]+: |^ *[0-9]+/[0-9]+ Test +#.*( Passed|\*\*\*Skipped) |^Test project |tests passed, |^$' || true; } ||
  status=$?

closing=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+$' "$log") ||
  die "ctest did not get as far as running tests (see $log)"
# ctest counts a skipped test as passed, and one that could not be started as failed.
read -r failed total < <(sed -E 's/.*passed, ([0-9]+) .* ([0-9]+)$/\1 \2/' <<<"$closing")
skipped=$(grep -cE $'^\t *[0-9]+ - .* \\(Skipped\\)$' "$log") || true
echo "$closing"
echo "$((total - failed - skipped)) passed, $failed failed, $skipped skipped"
exit "$status"
