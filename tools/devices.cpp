// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "table.hpp"

namespace heddle_tool {

int devices(heddle::backend use, std::ostream& out) {
  std::vector<std::vector<std::string>> rows = {{"id", "kind", "name", "uuid", "pci", "numa", "memory"}};
  for (const heddle::device_info& d : heddle::list_devices(use)) {
    rows.push_back({std::to_string(d.id), heddle::to_string(d.kind), d.name, d.uuid,
                    d.pci_bus_id.empty() ? "-" : d.pci_bus_id,
                    d.numa_node ? std::to_string(*d.numa_node) : "-", readable_bytes(d.memory_bytes)});
  }
  print_table(rows, out);
  return 0;
}

}  // namespace heddle_tool
