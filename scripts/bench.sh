#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/bench.sh [--quick] [--compare OLD.json] [--out DIR] [QUESTION…]: builds in release and runs the benchmarks, or
# only those named: bench/QUESTION.cpp. Prints one table, and writes bench.json, bench.html and what each program printed
# into DIR (build/bench). --compare says what changed beyond noise since an earlier bench.json.
# Exit code: 0, 1 if an answer was wrong or a program failed, 2 for arguments that are refused. A missed goal is no failure.
set -euo pipefail

refuse() {
  echo "bench.sh: $*" >&2
  exit 2
}

quick=() old="" out="" questions=() words=("$@")
while (($#)); do
  case $1 in
    --help | -h)
      sed -nE '3,6s/^# ?//p' "$0"
      exit 0
      ;;
    --quick) quick=(--quick) ;;
    --compare)
      [[ $# -gt 1 ]] || refuse "--compare needs the bench.json of an earlier run behind it"
      [[ -f $2 ]] || refuse "there is no file \"$2\": give --compare the bench.json of an earlier run"
      old=$(realpath -- "$2")
      shift
      ;;
    --out)
      [[ $# -gt 1 && -n $2 ]] || refuse "--out needs a folder behind it"
      { mkdir -p -- "$2" && [[ -w $2 ]]; } 2>/dev/null || refuse "\"$2\" cannot be written: give --out another folder"
      out=$(realpath -- "$2")
      shift
      ;;
    -*) refuse "there is no option \"$1\": use --quick, --compare OLD.json, --out DIR, and names of questions" ;;
    *) questions+=("$1") ;;
  esac
  shift
done

# shellcheck source=scripts/setup.sh
source "$(dirname "$0")/setup.sh"

all=(bench/*.cpp)
all=("${all[@]#bench/}")
all=("${all[@]%.cpp}")
((${#questions[@]})) || questions=("${all[@]}")
for question in "${questions[@]}"; do
  [[ -f bench/$question.cpp ]] || refuse "there is no question \"$question\": there are ${all[*]}"
done

command -v python3 >/dev/null || need python3
report=(python3 -B scripts/bench_report.py) # -B: no __pycache__ in the tree
[[ -z $old ]] || "${report[@]}" --check "$old" || exit

need "${build_packages[@]}"
build release "${questions[@]/#/bench_}"

out=${out:-$PWD/build/bench}
mkdir -p "$out/figures"
failed=()
for question in "${questions[@]}"; do
  printf '%-20s' "$question"
  began=$SECONDS status=0
  rm -f "$out/figures/$question".{json,txt}
  "build/release/bench/bench_$question" "${quick[@]}" --json "$out/figures/$question.json" \
    >"$out/figures/$question.txt" 2>&1 </dev/null || status=$?
  echo "$((SECONDS - began)) s"
  if ((status != 0)); then
    failed+=("$question")
    { grep '^WRONG' "$out/figures/$question.txt" || tail -n 5 "$out/figures/$question.txt"; } | sort -u | head -n 5 >&2
  fi
done

files=()
for question in "${questions[@]}"; do
  [[ ! -s $out/figures/$question.json ]] || files+=("$out/figures/$question.json")
done
((${#files[@]})) || die "no program came to its end; what they printed is in $out/figures"
"${report[@]}" --out "$out" --command "scripts/bench.sh${words[*]:+ ${words[*]}}" ${old:+--compare "$old"} "${files[@]}"
((${#failed[@]} == 0)) || die "an answer was wrong, or the program failed: ${failed[*]} ($out/figures has what they printed)"
