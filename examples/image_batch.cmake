# SPDX-License-Identifier: Apache-2.0
# image_batch is a folder of sources and needs image and command line libraries; its tests are its own.
file(GLOB image_batch_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/image_batch/*.cpp)
if(NOT image_batch_sources)
  return()
endif()

set(image_batch_wanted ON)
heddle_find_optional(image_batch_wanted "example image_batch" PNG libpng-dev)
heddle_find_optional(image_batch_wanted "example image_batch" JPEG libjpeg-dev)
heddle_find_optional(image_batch_wanted "example image_batch" CLI11 libcli11-dev)
if(NOT image_batch_wanted)
  return()
endif()

add_executable(image_batch ${image_batch_sources})
heddle_quick_command_line(${image_batch_sources})
heddle_developer_target(image_batch)
target_link_libraries(image_batch PRIVATE heddle::heddle heddle_kernels PNG::PNG JPEG::JPEG CLI11::CLI11)
if(HEDDLE_BUILD_TESTS)
  include(image_batch/tests.cmake OPTIONAL)
endif()
