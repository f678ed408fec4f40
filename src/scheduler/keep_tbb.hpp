// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace heddle::detail {

/// Keeps TBB's library mapped until the process ends. Its workers outlive every arena, and would run on in
/// unmapped code if a plug-in that brought heddle, and TBB with it, were unloaded.
void keep_tbb_mapped() noexcept;

}  // namespace heddle::detail
