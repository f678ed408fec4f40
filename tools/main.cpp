// SPDX-License-Identifier: Apache-2.0
#include <heddle/error.hpp>
#include <heddle/machine.hpp>
#include <heddle/options.hpp>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <string>

#include "commands.hpp"

int main(int argc, char** argv) {
  CLI::App app("heddle: what the library sees of this machine");
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return heddle::describe_machine().version; });

  const std::map<std::string, heddle::backend> backends = {{"automatic", heddle::backend::automatic},
                                                           {"cuda", heddle::backend::cuda},
                                                           {"host", heddle::backend::host}};
  std::string use;
  CLI::App* devices = app.add_subcommand("devices", "list the devices that a scheduler would drive");
  devices->add_option("--backend", use, "which kind of devices; HEDDLE_BACKEND where it is not given")
      ->check(CLI::IsMember(backends));
  CLI::App* doctor =
      app.add_subcommand("doctor", "tell what could be in the way; exit code 1 if something is");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;  // CLI11 has a code of its own for each mistake; 2 is the custom
  }

  try {
    int code = 1;
    if (*devices) {
      const auto wanted = use.empty() ? heddle::scheduler_options::from_environment().use : backends.at(use);
      code = heddle_tool::devices(wanted, std::cout);
    } else if (*doctor) {
      code = heddle_tool::doctor(std::cout);
    }
    if (std::cout.flush()) return code;
    std::cerr << "heddle: standard output could not be written\n";
    return 2;
  } catch (const heddle::error& e) {
    std::cerr << "heddle: " << e.what() << "\n";
  }
  return 1;
}
