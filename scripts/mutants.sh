#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/mutants.sh [NAME…]: proves that tests can fail. Each tests/mutants/NAME.patch breaks heddle on purpose
# and starts with a line "# fails: Suite.Test", the test (a GoogleTest filter, or the name of a CTest test) that
# has to fail then; "# fails:" may come several times. A test that hangs counts as failing. It works on a copy
# of the tree in build/mutants, and the exit code is 1 when a mutant survives or a patch is out of date.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

limit=60 # seconds for one test
copy=$PWD/build/mutants/tree
tests=$PWD/tests/mutants
double=tests/cuda/heddle_contract_double_tests # of the build; the contract on the double of the CUDA runtime

patches=()
if (($#)); then
  for name in "$@"; do
    [[ -e $tests/$name.patch ]] || die "there is no tests/mutants/$name.patch"
    patches+=("$tests/$name.patch")
  done
else
  shopt -s nullglob
  patches=("$tests"/*.patch)
fi
((${#patches[@]})) || { echo "no mutants in tests/mutants" && exit 0; }

need "${build_packages[@]}" patch

# Only what differs is copied, and gets the time of now: what an interrupted run left behind is built again.
copy_tree() {
  mkdir -p "$copy"
  local file
  while IFS= read -r -d '' file; do
    if [[ ! -e $file ]]; then
      rm -f -- "$copy/$file"
    elif ! cmp -s -- "$file" "$copy/$file"; then
      install -D -m "$(stat -c %a -- "$file")" -- "$file" "$copy/$file"
    fi
  done < <(
    {
      git ls-files -z --cached --others --exclude-standard
      cd "$copy" && find . -path ./build -prune -o -type f -printf '%P\0' # what went away here goes away there
    } | sort -zu
  )
}

# The names that a "# fails:" line gives.
named_tests() { sed -nE 's/^# fails: +([^ ]+) *$/\1/p' "$1"; }

# run_test NAME: 0 passes, 1 fails or hangs, 2 there is no such test. Says in which target the test is.
run_test() (
  cd "$copy/build/dev"
  found=2
  for program in tests/heddle_*_tests "$double"; do
    [[ -x $program ]] || continue
    # A program whose start-up is broken cannot list its tests: run it all the same.
    list=$(timeout "$limit" "$program" --gtest_list_tests --gtest_filter="$1" 2>/dev/null) || return 1
    [[ $list == *$'\n'' '* ]] || continue
    found=0
    echo "target ${program##*/}"
    timeout -k 5 "$limit" "$program" --gtest_filter="$1" --gtest_brief=1 || return 1
  done
  ((found == 0)) && return 0
  ctest -N -R "^$1\$" | grep -q 'Total Tests: [1-9]' || return 2
  ctest -R "^$1\$" --timeout "$limit" --output-on-failure || return 1
)

build_copy() { cmake --build "$copy/build/dev" -j "$(nproc)" --target "$@"; }

result() { printf '%-32s %-10s %s\n' "$1" "$2" "$3"; }

echo "building the tree without mutants"
copy_tree
# A mutant may leave a variable unused: warnings are no errors here.
quietly mutants-configure cmake -S "$copy" --preset dev -DHEDDLE_WERROR=OFF \
  -DHEDDLE_BUILD_BENCH=OFF -DHEDDLE_BUILD_EXAMPLES=OFF -DHEDDLE_BUILD_TOOLS=OFF
quietly mutants-build build_copy all

# Every test has to pass without its mutant, or its failing would prove nothing. All of that comes first, so
# that the healthy tree is built once.
bad=0
ready=()
declare -A targets # of each mutant, what its tests need
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  mapfile -t names < <(named_tests "$patch")
  problem=""
  ((${#names[@]})) || problem='its first lines name no test: "# fails: Suite.Test"'
  for test in "${names[@]}"; do
    if [[ $test == */double* && ! -x $copy/build/dev/$double ]]; then
      result "$name" "left out" "a build without CUDA has no $test"
      continue 2
    fi
    status=0
    run_test "$test" >"build/mutants/$name.log" 2>&1 </dev/null || status=$?
    target=$(sed -n 's/^target //p' "build/mutants/$name.log" | head -n 1)
    targets[$name]+=" ${target:-all}"
    case $status in
      0) ;;
      1) problem="$test fails without the mutant too (build/mutants/$name.log)" ;;
      *) problem="there is no test $test" ;;
    esac
  done
  if [[ -n $problem ]]; then
    result "$name" INVALID "$problem"
    bad=1
  else
    ready+=("$patch")
  fi
done

for patch in "${ready[@]}"; do
  name=$(basename "$patch" .patch)
  log=build/mutants/$name.log
  apply=(patch -d "$copy" -p1 --force --silent --no-backup-if-mismatch)
  if ! "${apply[@]}" --dry-run <"$patch" >"$log" 2>&1; then
    result "$name" OUTDATED "the patch no longer applies ($log)"
    bad=1
    continue
  fi
  "${apply[@]}" <"$patch" >"$log"
  read -ra needed <<<"${targets[$name]}"
  if ! build_copy "${needed[@]}" >"$log" 2>&1 </dev/null; then
    result "$name" OUTDATED "it does not build ($log)"
    bad=1
  else
    mapfile -t names < <(named_tests "$patch")
    for test in "${names[@]}"; do
      start=$SECONDS status=0
      run_test "$test" >"$log" 2>&1 </dev/null || status=$?
      if ((status == 1)); then
        result "$name" killed "by $test, $((SECONDS - start)) s"
      else
        result "$name" SURVIVED "$test passes"
        bad=1
      fi
    done
  fi
  "${apply[@]}" -R <"$patch" >>"$log"
done
exit "$bad"
