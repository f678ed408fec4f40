# SPDX-License-Identifier: Apache-2.0
# The examples with arguments, good and bad: each has to end with an exit code and print a text.

# heddle_example_test(NAME PROGRAM EXIT_CODE REGULAR_EXPRESSION ARGUMENT…); INPUT, where set, is its standard input.
function(heddle_example_test name program code expression)
  # Without semicolons, at which CMake would cut it.
  set(check [[
    code=$1 expression=$2 input=$3
    shift 3
    output=$(printf '%b' "$input" | "$@" 2>&1)
    got=$?
    printf '%s\n' "$output" "exit code $got, expected $code" "expected text: $expression"
    [ "$got" = "$code" ] && printf '%s\n' "$output" | grep -Eq -e "$expression"]])
  add_test(NAME example.${program}.${name}
           COMMAND sh -c "${check}" sh ${code} "${expression}" "${INPUT}" $<TARGET_FILE:${program}> ${ARGN})
  set_tests_properties(example.${program}.${name} PROPERTIES TIMEOUT 60 LABELS example)
endfunction()

set(INPUT "")
heddle_example_test(chosen_ids gpu_pool 0 "^ok +ids are those that were given" --ids 7,3)
heddle_example_test(used_id gpu_pool 2 "ids = 7 twice" --ids 7,7)
heddle_example_test(negative_id gpu_pool 2 "ids = -1: takes" --ids -1,2)
heddle_example_test(one_id gpu_pool 2 "--ids" --ids 7)
heddle_example_test(no_number gpu_pool 2 "--ids" --ids a,b)

heddle_example_test(refuses compute_server 2 "device 1 \\(host device 1, HOST-1\\): cannot load" --break-device 1)
heddle_example_test(goes_on compute_server 0 "^gpu 1: host device 1, left out" --break-device 1 --lenient)
heddle_example_test(none_left compute_server 2 "1 of 1 devices failed" --devices 1 --break-device 0 --lenient)
heddle_example_test(unknown_device compute_server 2 "there is no gpu 5" --break-device 5)
heddle_example_test(smallest_queue compute_server 0 "^60 requests served" --queue 1 --devices 1)
heddle_example_test(nothing_to_do compute_server 0 "^0 requests served" --requests 0)
heddle_example_test(bad_number compute_server 2 "not in range" --requests -1)
heddle_example_test(both_sources compute_server 2 "excludes" --requests 5 --stdin)
set(INPUT "sum 1 2 3\\n\\ndivide 1 0\\nnorm 3 4\\nstop\\nsum 7\\n")
heddle_example_test(stops compute_server 0 "^3 requests served, 1 of them" --stdin)
set(INPUT "sum 1 2 3\\nnorm 3 4")
heddle_example_test(end_of_input compute_server 0 "^#2 gpu [0-2]: 5$" --stdin)
