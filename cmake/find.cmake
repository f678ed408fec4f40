# SPDX-License-Identifier: Apache-2.0
# Dependencies are found, never downloaded. Both macros name the Debian package of what is missing. They are
# macros because find_package() sets variables and imported targets for the folder that calls it.

# heddle_require(PACKAGE DEBIAN_PACKAGE [find_package arguments…]): an error where it is missing.
macro(heddle_require package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "heddle needs ${package}, which was not found. "
                        "On Debian or Ubuntu: apt-get install ${debian}. Elsewhere: set ${package}_ROOT.")
  endif()
endmacro()

# heddle_find_optional(FOUND_VARIABLE WHAT PACKAGE DEBIAN_PACKAGE): a status line where it is missing; WHAT is
# what will not be built. FOUND_VARIABLE is set to OFF then, and left alone otherwise.
macro(heddle_find_optional found what package debian)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(STATUS "heddle: ${what} is not built: ${package} was not found (Debian package ${debian})")
    set(${found} OFF)
  endif()
endmacro()
