// SPDX-License-Identifier: Apache-2.0
#include "loop_programs.hpp"

namespace heddle::test {
loop_programs programs_by_gxx() { return all_programs; }
}  // namespace heddle::test
