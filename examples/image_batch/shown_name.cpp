// SPDX-License-Identifier: Apache-2.0
#include "shown_name.hpp"

#include <cstddef>
#include <string_view>

namespace image_batch {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
}

// The length of the UTF-8 sequence of a printable character at the start of `text`; 0 if there is none.
std::size_t printable_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f && first != '\\' ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte_at(text, k) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte_at(text, 1);
  const bool control = first == 0xc2 && second < 0xa0;
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return control || too_long || no_character ? 0 : length;
}

std::string escaped(unsigned byte) {
  if (byte == '\\') return "\\\\";
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  constexpr char digits[] = "0123456789abcdef";
  return {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

std::string shown_name(const std::filesystem::path& name) {
  std::string_view rest = name.native();
  std::string shown;
  while (!rest.empty()) {
    const std::size_t length = printable_length(rest);
    shown += length > 0 ? std::string(rest.substr(0, length)) : escaped(byte_at(rest, 0));
    rest.remove_prefix(length > 0 ? length : 1);
  }
  return shown;
}

}  // namespace image_batch
