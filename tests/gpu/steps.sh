# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by scripts/gpu_check.sh: runs steps within their time, and keeps the summary. Who sources it has set $out
# (where results go), $work (a folder to work in), $total (seconds) and $dry.

# ---- results: rows of the summary, which is written anew after each, so that a kill loses one step at most -------

rows=() failed=0 now="" start=0 tail_of_build=""

write_summary() {
  {
    echo "# What a GPU says"
    echo
    ((dry)) && echo "DRY RUN, without a GPU: the double of the CUDA runtime is in its place." && echo
    [[ -z $now ]] || { echo "NOT COMPLETE: this was written while \"$now\" ran." && echo; }
    echo "| step | result | seconds | detail |"
    echo "|---|---|---|---|"
    ((${#rows[@]})) && printf '%s\n' "${rows[@]}"
    if [[ -s $out/facts.txt ]]; then
      printf '\n| question | answer |\n|---|---|\n'
      sed -nE 's/^([^|]*[^| ]) \| (.*)$/| \1 | \2 |/p' "$out/facts.txt"
    fi
    # shellcheck disable=SC2016  # the quotes of Markdown
    [[ -z $tail_of_build ]] || printf '\nThe end of what failed to build:\n\n```\n%s\n```\n' "$tail_of_build"
  } >"$out/summary.md"
}

begin() { now=$1 start=$SECONDS && write_summary; }

# finish RESULT DETAIL: of the step that begin named. RESULT: ok, FAILED or "not run".
finish() {
  local detail=${2//|//}
  detail=${detail//"$PWD/"/}
  [[ $1 != FAILED ]] || failed=1
  rows+=("| $now | $1 | $((SECONDS - start)) | ${detail//$'\n'/ } |")
  printf '%-28s %-8s %4d s  %s\n' "$now" "$1" $((SECONDS - start)) "${detail:0:200}"
  now="" && write_summary
}

not_run() { begin "$1" && finish "not run" "$2"; }

# ---- time: each command has a limit, and all of them the deadline --------------------------------------------------

left() { echo $((total - 10 - SECONDS)); }

# limited SECONDS LOG COMMAND…: its exit code; 124 when stopped, 200 when no time was left to start it. It is
# stopped, too, when it is silent for $silence seconds.
silence=60
limited() {
  local limit=$1 log=$2 size=-1 begun=$SECONDS changed=$SECONDS
  shift 2
  (($(left) >= limit)) || limit=$(left)
  ((limit >= 3)) || return 200
  printf -- '--- %s\n' "$*" >>"$log"
  timeout -k 5 "$limit" "$@" >>"$log" 2>&1 </dev/null &
  local child=$!
  while kill -0 "$child"; do
    sleep 0.2
    if [[ $(stat -c %s "$log") != "$size" ]]; then
      size=$(stat -c %s "$log") changed=$SECONDS
    elif ((SECONDS - changed > silence)); then
      echo "--- stopped: it was silent for $silence s" >>"$log"
      kill "$child" # timeout hands it on
      sleep 2
      kill -KILL -- "-$child" # the group that timeout made
      wait "$child"
      return 124
    fi
  done 2>/dev/null # with what the shell says of a child that a signal ended
  wait "$child" 2>/dev/null
  local code=$?
  ((code != 137 || SECONDS - begun < limit)) || code=124
  return "$code"
}

how_it_ended() {
  case $1 in
    124) echo "stopped: it took too long or was silent" ;;
    200) echo "no time was left" ;;
    13[0-9] | 14[0-9]) echo "died of signal $(($1 - 128))" ;;
    *) echo "exit code $1" ;;
  esac
}

# try STEP SECONDS LOG COMMAND…: a step of one command; ok is exit code 0, and the detail is the last line that it
# printed, or the last one that $pick (a regular expression) finds.
pick=.
try() {
  begin "$1"
  local log=$3 code=0 mark=0
  [[ ! -e $log ]] || mark=$(stat -c %s "$log")
  limited "$2" "$log" "${@:4}" || code=$?
  local last
  last=$(tail -c "+$((mark + 1))" "$log" 2>/dev/null | grep -v '^--- ' | grep -E "$pick" | tail -n 1 |
    sed -E 's/^ +//; s/ +/ /g')
  case $code in
    0) finish ok "$last" ;;
    200) finish "not run" "no time was left" ;;
    *) finish FAILED "$(how_it_ended "$code"); $last" ;;
  esac
  return "$code"
}

# ---- GoogleTest programs -------------------------------------------------------------------------------------------

# results_of LOG: "RESULT NAME" of each test that began; a test that did not end is DIED. What a test prints may
# stand in front of its result.
results_of() {
  awk 'function name_in(pattern) { return match($0, pattern) ? substr($0, RSTART + 13, RLENGTH - 13) : "" }
       (name = name_in("\\[ RUN      \\] [^ ]+")) != "" { if (open != "") print "DIED", open; open = name; next }
       (name = name_in("\\[       OK \\] [^ ]+")) != "" { print "OK", name; open = ""; next }
       !/ ms\)$/ { next }
       (name = name_in("\\[  SKIPPED \\] [^ ,]+")) != "" { print "SKIPPED", name; open = ""; next }
       (name = name_in("\\[  FAILED  \\] [^ ,]+")) != "" { print "FAILED", name; open = "" }
       END { if (open != "") print "DIED", open }' "$1"
}

# run_alone LOG PROGRAM NAME…: each test in a process of its own; prints "EXIT_CODE NAME" of each.
run_alone() {
  local log=$1 tests=$2
  shift 2
  (($# && $(left) >= 5)) || return 0
  rm -rf "$work/alone" && mkdir "$work/alone"
  # shellcheck disable=SC2016  # the inner shell expands it
  printf '%s\n' "$@" | timeout -k 5 "$(($(left) < 60 ? $(left) : 60))" xargs -P 4 -I @ \
    sh -c 'timeout -k 5 25 "$1" "--gtest_filter=$2" >"$3/$$" 2>&1 </dev/null; echo "$? $2"' sh "$tests" @ "$work/alone"
  cat "$work/alone"/* >>"$log" 2>/dev/null
}

# test_program STEP SECONDS LOG PROGRAM: all tests in one process. One that dies or hangs is noted, and the rest
# goes on in a new process. What failed is run again by itself, to tell whether it was to blame.
test_program() {
  begin "$1"
  local seconds=$2 log=$3 tests=$4 part=$work/part.log results=$work/results.txt filter='*' code=0
  local end=$((SECONDS + seconds)) processes=0
  : >"$results"
  while ((++processes)); do
    : >"$part"
    code=0
    limited $((end - SECONDS)) "$part" "$tests" "--gtest_filter=$filter" || code=$?
    cat "$part" >>"$log"
    results_of "$part" >>"$results"
    if ((code <= 1 || processes == 8 || SECONDS >= end)) || ! results_of "$part" | grep -q '^DIED'; then break; fi
    filter=-$(cut -d' ' -f2 "$results" | paste -sd:)
  done

  local passed skipped reached all bad=() reasons detail told
  passed=$(grep -c '^OK ' "$results")
  skipped=$(grep -c '^SKIPPED ' "$results")
  mapfile -t bad < <(sed -nE 's/^(FAILED|DIED) //p' "$results" | sort -u)
  reached=$((passed + skipped + ${#bad[@]}))
  all=$(timeout 20 "$tests" --gtest_list_tests 2>/dev/null | grep -c '^  [^ ]')
  reasons=$(awk '/: Skipped$/ { if ((getline why) > 0) print why }' "$log" | sort | uniq -c | sort -rn | head -n 4 |
    sed -E 's/^ +([0-9]+) /\1 × /' | paste -sd ';' | sed 's/;/; /g')
  detail="$passed passed, ${#bad[@]} failed, $skipped skipped of $all${reasons:+; skipped: $reasons}"
  ((reached >= all)) || detail+="; $((all - reached)) NOT REACHED ($(how_it_ended "$code"))"
  ((processes == 1)) ||
    detail+="; $processes processes, since tests died or hung: $(sed -n 's/^DIED //p' "$results" | paste -sd ' ')"
  if ((${#bad[@]})); then
    run_alone "$log" "$tests" "${bad[@]}" >"$work/alone.txt"
    told=$(grep -c '^0 ' "$work/alone.txt")
    detail+="; of the failed, each run again alone, $told pass, $(grep -vc '^0 ' "$work/alone.txt") fail"
    detail+=": $(sort -rn "$work/alone.txt" | head -n 12 |
      sed -E 's/^0 (.*)/\1 (passes)/; s/^([0-9]+) (.*)/\2 (exit code \1)/' | paste -sd ' ')"
    ((${#bad[@]} <= 12)) || detail+=" …"
  fi
  if ((reached == 0 && code == 200)); then
    finish "not run" "no time was left"
  elif ((${#bad[@]} == 0 && reached >= all && reached > 0)); then
    finish ok "$detail"
  else
    finish FAILED "$detail"
  fi
}
