// SPDX-License-Identifier: Apache-2.0
// One run of a benchmark program: its arguments, whether its answers were right, and its file of figures.
#pragma once

#include <tbb/version.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json.hpp"

namespace bench {

/// Its exit code: 0, 1 if an answer was wrong, 2 for arguments that are refused.
class session {
 public:
  session(int argc, char** argv, const char* question) : question_(question) {
    const std::string path = argv[0];
    program_ = path.substr(path.rfind('/') + 1);
    for (int k = 1; k < argc; ++k) {
      const std::string_view argument = argv[k];
      if (argument == "--help") {
        std::printf("%s\n%s", question, usage().c_str());
        std::exit(0);
      } else if (argument == "--quick") {
        quick_ = true;
      } else if (argument == "--json" && k + 1 < argc) {
        open(argv[++k]);
      } else if (argument == "--json") {
        refuse("--json needs the name of a file behind it");
      } else {
        refuse("there is no argument \"" + std::string(argument) + "\"");
      }
    }
    std::printf("%s\n%ld cores, %s, %s\n", question, sysconf(_SC_NPROCESSORS_ONLN), compiler,
                optimised ? "optimised" : "NOT OPTIMISED, OR WITH CHECKS: no figures to quote");
  }
  bool quick() const { return quick_; }

  /// An answer was wrong.
  void wrong(const std::string& what) {
    std::printf("WRONG: %s\n", what.c_str());
    wrong_ = true;
  }
  /// A rival that cannot take part here, and why.
  void left_out(const std::string& rival, const std::string& why) {
    std::printf("%s is left out: %s\n", rival.c_str(), why.c_str());
    left_out_.push_back(json_object().add("rival", rival).add("why", why));
  }
  /// What one contest found.
  void add(json_object contest) {
    std::fflush(stdout);
    contests_.push_back(std::move(contest));
  }

  /// Writes the file of figures, and returns the exit code.
  int finish() {
    if (file_.is_open()) {
      file_ << json_object()
                   .add("program", program_)
                   .add("question", question_)
                   .add("quick", quick_)
                   .add("compiler", compiler)
                   .add("tbb", TBB_runtime_version())
                   .add("optimised", optimised)
                   .add("answers_right", !wrong_)
                   .add("left_out", left_out_)
                   .add("contests", contests_)
                   .text()
            << '\n';
      file_.close();
      if (!file_) refuse("the file of figures could not be written: is the disk full?");
    }
    return wrong_ ? 1 : 0;
  }

 private:
#if defined(NDEBUG) && defined(__OPTIMIZE__)
  static constexpr bool optimised = true;
#else
  static constexpr bool optimised = false;
#endif

#if defined(__clang__)
  static constexpr const char* compiler = __VERSION__;
#else
  static constexpr const char* compiler = "g++ " __VERSION__;
#endif

  std::string usage() const {
    return "usage: " + program_ +
           " [--quick] [--json FILE] [--help]\n"
           "  --quick      fewer rounds and smaller sizes: to see that it works, not to quote\n"
           "  --json FILE  writes the figures of every round into FILE\n";
  }
  [[noreturn]] void refuse(const std::string& why) const {
    std::fprintf(stderr, "%s: %s\n%s", program_.c_str(), why.c_str(), usage().c_str());
    std::exit(2);
  }
  void open(const char* name) {
    file_.open(name);
    if (!file_) refuse("\"" + std::string(name) + "\" cannot be written: does its folder exist?");
  }

  std::string question_, program_;
  bool quick_ = false, wrong_ = false;
  std::ofstream file_;
  std::vector<json_object> left_out_, contests_;
};

}  // namespace bench
