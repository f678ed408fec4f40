// SPDX-License-Identifier: Apache-2.0
#include "config/cgroup.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "config/number.hpp"
#include "config/text.hpp"

namespace heddle::detail {
namespace {

namespace fs = std::filesystem;

struct hierarchy {
  bool v2 = false;
  std::string shown_root;   // which group the mount point shows; "/" unless only a part is mounted
  std::string mount_point;  // as this process sees it
};

bool contains(const std::vector<std::string_view>& list, std::string_view what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

// mountinfo writes space, tab, line end and backslash as a backslash and three octal digits.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    const bool escape = text[i] == '\\' && digits.size() == 3 &&
                        digits.find_first_not_of("01234567") == std::string_view::npos;
    if (escape) {
      out += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Lines of proc_pid_mountinfo(5): id parent major:minor root mount-point options tag… - type source options
std::vector<hierarchy> mounted_hierarchies(const fs::path& root) {
  std::vector<hierarchy> found;
  const std::string text = small_file(root / "proc/self/mountinfo").value_or("");
  for (const std::string_view line : pieces(text, '\n')) {
    const auto field = pieces(line, ' ');
    const auto dash = static_cast<std::size_t>(std::find(field.begin(), field.end(), "-") - field.begin());
    if (dash < 6 || dash + 3 >= field.size()) continue;
    const bool v2 = field[dash + 1] == "cgroup2";
    const bool v1 = field[dash + 1] == "cgroup" && contains(pieces(field[dash + 3], ','), "cpu");
    if (v1 || v2) found.push_back({v2, unescaped(field[3]), unescaped(field[4])});
  }
  if (!found.empty()) return found;
  return {{true, "/", "/sys/fs/cgroup"}, {false, "/", "/sys/fs/cgroup/cpu"}};
}

// Lines of proc_pid_cgroup(5): number:controller,controller:path. Version 2 has number 0 and no controller.
std::string own_group(std::string_view text, bool v2) {
  for (const std::string_view line : pieces(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const bool mine =
        v2 ? line.substr(0, first) == "0" && controllers.empty() : contains(pieces(controllers, ','), "cpu");
    if (mine) return std::string(line.substr(second + 1));
  }
  return "/";
}

// Where the group lies below the mount point; empty for the mount point itself. A group outside of what is
// mounted, as a process sees that was moved in from another namespace ("/../x"), has no folder there: then
// only the mount point can be asked.
fs::path below_mount(const hierarchy& h, const fs::path& group) {
  const fs::path relative = group.lexically_relative(h.shown_root);
  const bool outside = relative.empty() || *relative.begin() == "..";
  return outside || relative == "." ? fs::path() : relative;
}

std::optional<cpu_quota> quota_v2(const fs::path& folder) {
  constexpr std::uint64_t usual_period_us = 100000;
  const auto text = small_file(folder / "cpu.max");
  if (!text) return std::nullopt;
  const auto field = pieces(trimmed(*text), ' ');  // "max 100000" or "150000 100000"
  const auto quota = whole_number<std::uint64_t>(field[0]);
  const auto period = field.size() > 1 ? whole_number<std::uint64_t>(field[1]) : usual_period_us;
  if (!quota || !period) return std::nullopt;
  return cpu_quota{*quota, *period};
}

std::optional<cpu_quota> quota_v1(const fs::path& folder) {
  const auto number = [&](const char* name) {
    return whole_number<std::uint64_t>(trimmed(small_file(folder / name).value_or("")));
  };
  const auto quota = number("cpu.cfs_quota_us");  // "-1" is no limit, and no number here
  const auto period = number("cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return cpu_quota{*quota, *period};
}

}  // namespace

std::vector<cpu_quota> read_cpu_quotas(const fs::path& root) {
  std::vector<cpu_quota> quotas;
  const std::string groups = small_file(root / "proc/self/cgroup").value_or("");
  for (const hierarchy& h : mounted_hierarchies(root)) {
    const fs::path top = root / fs::path(h.mount_point).relative_path();
    fs::path group = below_mount(h, own_group(groups, h.v2));
    // An ancestor's limit holds too, so every one is asked, up to the mount point.
    while (true) {
      const auto quota = h.v2 ? quota_v2(top / group) : quota_v1(top / group);
      if (quota && quota->period_us != 0) quotas.push_back(*quota);
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
  return quotas;
}

}  // namespace heddle::detail
