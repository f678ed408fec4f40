// SPDX-License-Identifier: Apache-2.0
#include "pure/select.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "config/number.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  // Not std::tolower: what a device is called must not depend on the locale.
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string qualified(const device_info& d) {
  return std::string(to_string(d.kind)) + ":" + std::to_string(d.ordinal);
}

// Tools print the domain with four or eight digits, or leave it out: "0000:3b:00.0", "00000000:3B:00.0",
// "3b:00.0" are one device. Empty if `text` has not the form of a bus id.
std::string normal_bus_id(std::string_view text) {
  std::string id = lower(text);
  const auto colons = std::count(id.begin(), id.end(), ':');
  if (colons == 1) {
    id.insert(0, "0:");
  } else if (colons != 2) {
    return {};
  }
  if (id.find('.') == std::string::npos || id.find_first_not_of("0123456789abcdef:.") != std::string::npos) {
    return {};
  }
  const std::size_t colon = id.find(':');
  const std::size_t digit = std::min(id.find_first_not_of('0'), colon);
  return id.substr(digit);
}

std::vector<std::size_t> matches(const std::vector<device_info>& all, std::string_view entry) {
  std::vector<std::size_t> found;
  const auto gather = [&](auto&& is_it) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_it(all[i])) found.push_back(i);
    }
    return !found.empty();
  };
  const std::string name = lower(entry);
  const auto ordinal = whole_number<int>(name);
  if (ordinal && gather([&](const device_info& d) { return d.ordinal == *ordinal; })) return found;
  const auto colon = name.find(':');
  if (colon != std::string::npos) {
    const auto place = whole_number<int>(std::string_view(name).substr(colon + 1));
    const auto kind = name.substr(0, colon);
    if (place &&
        gather([&](const device_info& d) { return to_string(d.kind) == kind && d.ordinal == *place; })) {
      return found;
    }
  }
  // A whole uuid first: "HOST-1" is also how "HOST-10" begins.
  if (gather([&](const device_info& d) { return !d.uuid.empty() && lower(d.uuid) == name; })) return found;
  if (gather([&](const device_info& d) { return lower(d.uuid).starts_with(name); })) return found;
  const std::string bus_id = normal_bus_id(name);
  if (!bus_id.empty()) gather([&](const device_info& d) { return normal_bus_id(d.pci_bus_id) == bus_id; });
  return found;
}

std::string described(const std::vector<device_info>& all, const std::vector<std::size_t>& which) {
  constexpr std::size_t most = 16;
  std::string out;
  for (std::size_t k = 0; k < std::min(which.size(), most); ++k) {
    const device_info& d = all[which[k]];
    out += (k == 0 ? "" : ", ") + qualified(d);
    if (!d.uuid.empty()) out += " (" + d.uuid + (d.pci_bus_id.empty() ? "" : ", " + d.pci_bus_id) + ")";
  }
  if (which.size() > most) out += " and " + std::to_string(which.size() - most) + " more";
  return out.empty() ? "no device" : out;
}

std::vector<std::size_t> every(const std::vector<device_info>& all) {
  std::vector<std::size_t> indices(all.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

}  // namespace

std::vector<std::size_t> select_devices(const std::vector<device_info>& all,
                                        const std::vector<std::string>& wanted) {
  if (wanted.empty()) return every(all);
  const auto refuse = [&](const std::string& entry, const std::string& why) {
    throw invalid_option("devices: \"" + entry + "\" " + why + "; there is " + described(all, every(all)));
  };
  std::vector<std::size_t> chosen;
  for (const std::string& entry : wanted) {
    if (entry.empty()) refuse(entry, "names no device; leave the list empty for all of them");
    const std::vector<std::size_t> found = matches(all, entry);
    if (found.empty()) refuse(entry, "names no device that can be seen");
    if (found.size() > 1) {
      refuse(entry, "could be any of " + described(all, found) + "; name one by its backend or whole uuid");
    }
    const auto before = std::find(chosen.begin(), chosen.end(), found[0]);
    if (before != chosen.end()) {
      const std::string& earlier = wanted[static_cast<std::size_t>(before - chosen.begin())];
      refuse(entry, "names " + qualified(all[found[0]]) + ", which \"" + earlier +
                        "\" named before; name each device once");
    }
    chosen.push_back(found[0]);
  }
  return chosen;
}

}  // namespace heddle::detail
