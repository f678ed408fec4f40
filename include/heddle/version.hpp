// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <version>

#ifndef __cpp_lib_source_location
#error \
    "heddle needs C++20 with std::source_location: g++ 12, clang 16 with libstdc++ 12, or newer; -std=c++20"
#endif

#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0
