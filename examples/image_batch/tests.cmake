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
