// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace image_batch {

/// Lines of equally wide columns, two spaces between them: the first row names the columns. Columns whose
/// other cells all start with a digit stand to the right, the others to the left. Every row has as many cells
/// as the first; ASCII only.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace image_batch
