#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/run_suite.sh LIMIT PROGRAM SUITE: runs the tests of one suite in one process, each for LIMIT seconds at most.
# A test that the process did not live to end counts as failed and is named. The last line, for scripts/test.sh:
#   suite PROGRAM.SUITE: 7 passed, 0 failed, 1 skipped
set -uo pipefail

limit=$1 program=$2 suite=$3
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# A suite may take long, and its tests may not: the limit of all of them is for a process that does not end.
HEDDLE_TEST_LIMIT_S=$limit timeout -k 10 1000 "$program" --gtest_filter="$suite.*" </dev/null 2>&1 |
  tee "$log" |
  grep --line-buffered -vE '^\[( RUN      |       OK |-*|=*)\]|^$|^Note: |^Running main'
status=${PIPESTATUS[0]}

# with RESULT: the names of the tests that the program gave this result. Once each: a test may run its own program.
with() { sed -nE "s|.*\\[ +$1 +\\] ($suite\\.[^ ,]+)(, where .*)? \\([0-9]+ ms\\)\$|\\1|p" "$log" | sort -u; }
# All, but for those that are disabled.
all() {
  "$program" --gtest_list_tests --gtest_filter="$suite.*" 2>/dev/null | sed -nE "/DISABLED_/d; s|^  ([^ ]+).*|$suite.\\1|p"
}
passed=$(with OK | wc -l)
failed=$(with FAILED | wc -l)
skipped=$(with SKIPPED | wc -l)

# The tests are listed only where they cannot all have ended well.
if ((status != 0)) || ! grep -qE '^\[==========\] [0-9]+ tests? from ' "$log"; then
  lost=$(comm -23 <(all | sort) <({ with OK && with FAILED && with SKIPPED; } | sort))
  if [[ $lost ]]; then
    echo "exit code $status before these tests ended:"
    echo "$lost"
    ((failed += $(wc -l <<<"$lost")))
  elif ((failed == 0)); then
    echo "exit code $status, though no test failed"
    failed=1
  fi
fi
echo "suite ${program##*/}.$suite: $passed passed, $failed failed, $skipped skipped"
((failed == 0))
