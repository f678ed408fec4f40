# SPDX-License-Identifier: Apache-2.0
# include/heddle/version.hpp is written by hand, so that it can be read and used without CMake. This is what
# keeps it equal to project(VERSION).
set(version_header ${PROJECT_SOURCE_DIR}/include/heddle/version.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${version_header})
file(STRINGS ${version_header} version_lines REGEX "^#define HEDDLE_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
string(REGEX REPLACE "#define HEDDLE_VERSION_[A-Z]+ +([0-9]+)[^;]*" "\\1" version_numbers "${version_lines}")
list(JOIN version_numbers "." header_version)
if(NOT header_version STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "include/heddle/version.hpp says \"${header_version}\", project() says "
                      "\"${PROJECT_VERSION}\": make them equal.")
endif()
