# SPDX-License-Identifier: Apache-2.0
# The tests of image_batch: of its parts, and of the program as a whole.
heddle_require(GTest libgtest-dev)
include(GoogleTest)

file(GLOB image_batch_tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/image_batch/tests/*.cpp)
add_executable(image_batch_test ${image_batch_tests})
heddle_developer_target(image_batch_test)
# The objects of the program itself, all but its main().
target_sources(image_batch_test PRIVATE "$<FILTER:$<TARGET_OBJECTS:image_batch>,EXCLUDE,/main\\.cpp>")
target_include_directories(image_batch_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/image_batch)
target_compile_definitions(image_batch_test PRIVATE IMAGE_BATCH_PROGRAM="$<TARGET_FILE:image_batch>")
target_link_libraries(image_batch_test PRIVATE heddle::heddle heddle_kernels PNG::PNG JPEG::JPEG GTest::gtest_main util)
add_dependencies(image_batch_test image_batch)
gtest_discover_tests(image_batch_test TEST_PREFIX image_batch. PROPERTIES TIMEOUT 150 LABELS example)

# The program on the double of the CUDA runtime, which runs its kernels' host twins: the same files as on host devices.
if(HEDDLE_WITH_NVCC)
  add_executable(image_batch_double $<TARGET_OBJECTS:image_batch> ${PROJECT_SOURCE_DIR}/tests/kernels/double/twins.cpp)
  heddle_developer_target(image_batch_double)
  set_target_properties(image_batch_double PROPERTIES HEDDLE_CUDART_DOUBLE ON)
  target_link_libraries(image_batch_double PRIVATE heddle::heddle heddle_kernels PNG::PNG JPEG::JPEG CLI11::CLI11
                                                   fakecudart)
  # Without semicolons, at which CMake would cut it.
  set(same_files [[
    set -e
    rm -rf "$2"
    HEDDLE_BACKEND=host "$1" --draw 2 "$2/in" -q
    for what in sharpen blur edges none
    do
      how="--size 100 --op $what --no-colours"
      HEDDLE_BACKEND=cuda FAKECUDA_DEVICES=2 "$1" "$2/in" --out "$2/gpu-$what" $how >"$2.txt"
      grep 'Fake GPU 1' "$2.txt"
      HEDDLE_BACKEND=host HEDDLE_HOST_DEVICES=2 "$1" "$2/in" --out "$2/host-$what" $how -q
      diff -r "$2/host-$what" "$2/gpu-$what"
    done
    test "$(ls "$2/gpu-none" | wc -l)" = 3]])
  add_test(NAME image_batch.double COMMAND sh -c "${same_files}" sh $<TARGET_FILE:image_batch_double>
                                           ${CMAKE_CURRENT_BINARY_DIR}/image_batch_double.work)
  set_tests_properties(image_batch.double PROPERTIES TIMEOUT 150 LABELS example)
endif()
