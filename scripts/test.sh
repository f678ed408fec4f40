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
[[ $preset == [at]san ]] || want "${test_packages[@]}"
# Whether each header compiles on its own has nothing to do with sanitizers.
targets=(all)
[[ $preset == [at]san ]] || targets+=(all_verify_interface_header_sets)
build "$preset" "${targets[@]}"

# Passed tests are not worth a line each; the log has them.
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
# What ctest ran as one may have been a suite of tests (tests/run_suite.sh): those are counted in its place.
while read -r suite_passed suite_failed suite_skipped; do
  ((total += suite_passed + suite_failed + suite_skipped - 1, skipped += suite_skipped, 1))
  ((failed += suite_failed - (suite_failed > 0), 1))
done < <(awk '/^suite [^ ]+: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { last[$2] = $3 " " $5 " " $7 }
              END { for (suite in last) print last[suite] }' "build/$preset/Testing/Temporary/LastTest.log")
echo "$((total - failed - skipped)) passed, $failed failed, $skipped skipped"
exit "$status"
