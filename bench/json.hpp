// SPDX-License-Identifier: Apache-2.0
// As much of JSON as is needed to write figures down.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline std::string to_json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted + '"';
}
inline std::string to_json(const char* text) { return to_json(std::string_view(text)); }
inline std::string to_json(const std::string& text) { return to_json(std::string_view(text)); }
inline std::string to_json(bool value) { return value ? "true" : "false"; }
inline std::string to_json(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

template <class T>
std::string to_json(const std::vector<T>& values) {
  std::string text;
  for (const T& each : values) text += (text.empty() ? "" : ", ") + to_json(each);
  return "[" + text + "]";
}

/// An object, written member by member.
class json_object {
 public:
  template <class T>
  json_object& add(std::string_view name, const T& value) {
    text_ += (text_.empty() ? "" : ", ") + to_json(name) + ": " + to_json(value);
    return *this;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

inline std::string to_json(const json_object& object) { return object.text(); }

}  // namespace bench
