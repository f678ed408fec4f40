// SPDX-License-Identifier: Apache-2.0
// Reads every #include of include/ and src/ and fails on one that points to a higher layer, leaves the public
// headers for src/, or closes a circle.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_tree.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;
using layer_table = std::map<std::string, int>;

// The layers of docs/design.md. A file of src/ has the layer of its folder; a public header its own: that of
// the declarations in it.
const layer_table layer_of_folder = {
    {"config", 0}, {"observe", 0},   {"pure", 1},  {"work", 2},   {"driver", 3},
    {"device", 4}, {"scheduler", 5}, {"loops", 6}, {"graphs", 6},
};
const layer_table layer_of_header = {
    {"device_code.hpp", 0},
    {"device_info.hpp", 0},
    {"error.hpp", 0},
    {"extents.hpp", 0},
    {"index_range.hpp", 0},
    {"loop_options.hpp", 0},
    {"machine.hpp", 0},
    {"options.hpp", 0},
    {"stats.hpp", 0},
    {"this_device.hpp", 0},
    {"version.hpp", 0},
    {"view.hpp", 0},
    {"detail/time_limit.hpp", 0},
    {"detail/reduction_blocks.hpp", 1},
    {"detail/item.hpp", 2},
    {"detail/operation.hpp", 2},
    {"detail/submission.hpp", 2},
    {"detail/then.hpp", 2},
    {"future.hpp", 2},
    {"route.hpp", 2},
    {"detail/cuda_launch.hpp", 4},
    {"detail/device_allocation.hpp", 4},
    {"detail/host_loop.hpp", 4},
    {"detail/kernel_launch.hpp", 4},
    {"detail/launch.hpp", 4},
    {"detail/piece_body.hpp", 4},
    {"cuda.hpp", 4},
    {"device_context.hpp", 4},
    {"loop_arguments.hpp", 4},
    {"stream.hpp", 4},
    {"as_device.hpp", 5},
    {"await.hpp", 5},
    {"detail/arrivals.hpp", 5},
    {"detail/submit_many.hpp", 5},
    {"detail/waiting.hpp", 5},
    {"device_buffer.hpp", 5},
    {"device_local.hpp", 5},
    {"imap.hpp", 5},
    {"map.hpp", 5},
    {"memory_resource.hpp", 5},
    {"pinned_buffer.hpp", 5},
    {"scheduler.hpp", 5},
    {"when_all.hpp", 5},
    {"detail/array.hpp", 6},
    {"detail/graph_nodes.hpp", 6},
    {"detail/index_call.hpp", 6},
    {"detail/loop.hpp", 6},
    {"detail/loop_argument.hpp", 6},
    {"detail/loop_body.hpp", 6},
    {"detail/reduce_call.hpp", 6},
    {"detail/scan_bodies.hpp", 6},
    {"detail/scan_call.hpp", 6},
    {"distributed_array.hpp", 6},
    {"for_each_chunk.hpp", 6},
    {"loop_future.hpp", 6},
    {"parallel_for.hpp", 6},
    {"parallel_reduce.hpp", 6},
    {"parallel_scan.hpp", 6},
    {"replicated.hpp", 6},
    {"task_graph.hpp", 6},
    {"heddle.hpp", 6},
};

// A header that ends by including the bodies of its own templates; the bodies include it at their top. These
// circles are meant, and allowed only here.
using body_table = std::vector<std::pair<std::string, std::string>>;
const body_table bodies_of_header = {
    {"include/heddle/detail/launch.hpp", "include/heddle/detail/cuda_launch.hpp"},
    {"include/heddle/future.hpp", "include/heddle/detail/then.hpp"},
    {"include/heddle/scheduler.hpp", "include/heddle/detail/submit_many.hpp"},
    {"include/heddle/scheduler.hpp", "include/heddle/imap.hpp"},
    {"include/heddle/scheduler.hpp", "include/heddle/map.hpp"},
};

using include_graph = std::map<std::string, std::vector<std::string>>;  // file -> what its lines name

std::vector<std::string> includes_of(const fs::path& file) {
  // Ours are written "…" or <heddle/…>; <vector> and <tbb/…> are none of this test's business.
  static const std::regex line_with_include(R"re(^\s*#\s*include\s*(?:"([^"]*)"|<(heddle/[^>]*)>).*)re");
  std::vector<std::string> out;
  std::ifstream in(file);
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, line_with_include))
      out.push_back(match[1].matched ? match[1] : match[2]);
  }
  return out;
}

bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

// Files by their path from the root of the tree; lines by the path that the build finds for them, or as they
// are written if it finds none.
include_graph read_tree(const fs::path& root) {
  include_graph graph;
  for (const char* top : {"include", "src"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string kind = entry.path().extension().string();
      if (kind == ".hpp" || kind == ".cpp") graph[entry.path().lexically_relative(root).string()];
    }
  }
  for (auto& [file, named] : graph) {
    for (const std::string& line : includes_of(root / file)) {
      const std::string in_public = "include/" + line;
      const std::string in_src = "src/" + line;
      named.push_back(graph.count(in_public) != 0 ? in_public : graph.count(in_src) != 0 ? in_src : line);
    }
  }
  return graph;
}

// -1 if the tables do not know the file.
int layer_of(const std::string& file, const layer_table& folders, const layer_table& headers) {
  const bool is_public = starts(file, "include/heddle/");
  const std::string inside = file.substr(std::string(is_public ? "include/heddle/" : "src/").size());
  const layer_table& table = is_public ? headers : folders;
  const auto at = table.find(is_public ? inside : inside.substr(0, inside.find('/')));
  return at == table.end() ? -1 : at->second;
}

// The files of one circle, "a > b > a", or nothing.
std::string circle_from(const std::string& file, const include_graph& graph, std::vector<std::string>& path,
                        std::set<std::string>& finished) {
  const auto here = std::find(path.begin(), path.end(), file);
  if (here != path.end()) {
    std::string circle;
    for (auto i = here; i != path.end(); ++i) circle += *i + " > ";
    return circle + file;
  }
  const auto node = graph.find(file);
  if (node == graph.end() || finished.count(file) != 0) return {};
  path.push_back(file);
  for (const std::string& next : node->second) {
    std::string circle = circle_from(next, graph, path, finished);
    if (!circle.empty()) return circle;
  }
  path.pop_back();
  finished.insert(file);
  return {};
}

/// One sentence for each thing that is wrong.
std::vector<std::string> wrong_arrows(const fs::path& root, const layer_table& folders,
                                      const layer_table& headers, const body_table& bodies) {
  const include_graph graph = read_tree(root);
  include_graph without_bodies = graph;
  for (const auto& [header, body] : bodies) std::erase(without_bodies[header], body);
  std::vector<std::string> wrong;
  std::set<std::string> finished;
  for (const auto& [file, named] : graph) {
    const int layer = layer_of(file, folders, headers);
    if (layer < 0) wrong.push_back(file + " is in no layer; add it to the table in this test");
    for (const std::string& target : named) {
      if (graph.count(target) == 0) {
        wrong.push_back(file + " includes " + target + ", which is neither below include/ nor below src/");
        continue;
      }
      if (starts(file, "include/") && starts(target, "src/")) {
        wrong.push_back(file + " is public and includes " + target);
      }
      const int below = layer_of(target, folders, headers);
      if (layer >= 0 && below > layer) {
        wrong.push_back(file + " of layer " + std::to_string(layer) + " includes " + target + " of layer " +
                        std::to_string(below));
      }
    }
    std::vector<std::string> path;
    const std::string circle = circle_from(file, without_bodies, path, finished);
    if (!circle.empty()) {
      wrong.push_back("a circle: " + circle);
      finished.insert(path.begin(), path.end());
    }
  }
  return wrong;
}

TEST(IncludeArrows, NoneRunsUpInTheTree) {
  for (const std::string& sentence :
       wrong_arrows(HEDDLE_SOURCE_DIR, layer_of_folder, layer_of_header, bodies_of_header)) {
    ADD_FAILURE() << sentence;
  }
}

TEST(IncludeArrows, AreReadFromThisTree) {
  const include_graph graph = read_tree(HEDDLE_SOURCE_DIR);
  const auto node = graph.find("src/pure/pick.cpp");
  ASSERT_NE(node, graph.end());
  EXPECT_EQ(node->second, std::vector<std::string>{"src/pure/pick.hpp"});
}

class MadeUpTree : public ::testing::Test {
 protected:
  std::vector<std::string> wrong() const {
    return wrong_arrows(tree_.root(), {{"low", 0}, {"high", 2}}, {{"a.hpp", 1}}, bodies_);
  }
  using sentences = std::vector<std::string>;
  test::temp_tree tree_;
  body_table bodies_;
};

TEST_F(MadeUpTree, IsFineWhenArrowsRunDownOrSideways) {
  tree_.file("src/low/x.hpp", "").file("src/low/y.hpp", "#include \"low/x.hpp\"\n#include <vector>\n");
  tree_.file("include/heddle/a.hpp", "#include <tbb/task_arena.h>\n");
  tree_.file("src/high/z.cpp", "#include <heddle/a.hpp>\n#include \"low/y.hpp\"\n// #include \"gone.hpp\"\n");
  EXPECT_EQ(wrong(), sentences{});
}

TEST_F(MadeUpTree, ShowsAnArrowThatRunsUp) {
  tree_.file("src/high/z.hpp", "")
      .file("src/low/x.cpp", "#pragma once\n  #  include \"high/z.hpp\"  // why\n");
  EXPECT_EQ(wrong(), sentences{"src/low/x.cpp of layer 0 includes src/high/z.hpp of layer 2"});
}

TEST_F(MadeUpTree, ShowsAnArrowUpToAPublicHeaderInEitherForm) {
  for (const char* line : {"#include \"heddle/a.hpp\"", "#include <heddle/a.hpp>"}) {
    tree_.file("include/heddle/a.hpp", "").file("src/low/x.cpp", line);
    EXPECT_EQ(wrong(), sentences{"src/low/x.cpp of layer 0 includes include/heddle/a.hpp of layer 1"});
  }
}

TEST_F(MadeUpTree, ShowsAPublicHeaderThatIncludesAnInternalOne) {
  tree_.file("src/low/x.hpp", "").file("include/heddle/a.hpp", "#include \"low/x.hpp\"\n");
  EXPECT_EQ(wrong(), sentences{"include/heddle/a.hpp is public and includes src/low/x.hpp"});
}

TEST_F(MadeUpTree, ShowsAPathThatOnlyWorksByAccident) {
  tree_.file("src/low/x.hpp", "").file("src/low/y.cpp", "#include \"x.hpp\"\n");
  tree_.file("include/heddle/a.hpp", "#include \"../../src/low/x.hpp\"\n");
  EXPECT_EQ(
      wrong(),
      (sentences{"include/heddle/a.hpp includes ../../src/low/x.hpp, which is neither below include/ nor "
                 "below src/",
                 "src/low/y.cpp includes x.hpp, which is neither below include/ nor below src/"}));
}

TEST_F(MadeUpTree, ShowsFilesThatTheTableDoesNotKnow) {
  tree_.file("include/heddle/b.hpp", "").file("src/other/x.cpp", "");
  EXPECT_EQ(wrong(), (sentences{"include/heddle/b.hpp is in no layer; add it to the table in this test",
                                "src/other/x.cpp is in no layer; add it to the table in this test"}));
}

TEST_F(MadeUpTree, ShowsACircleWithinALayerOnce) {
  tree_.file("src/low/x.hpp", "#include \"low/y.hpp\"\n").file("src/low/y.hpp", "#include \"low/z.hpp\"\n");
  tree_.file("src/low/z.hpp", "#include \"low/x.hpp\"\n")
      .file("src/low/user.cpp", "#include \"low/x.hpp\"\n");
  EXPECT_EQ(wrong(), sentences{"a circle: src/low/x.hpp > src/low/y.hpp > src/low/z.hpp > src/low/x.hpp"});
}

TEST_F(MadeUpTree, AllowsAHeaderToEndWithTheBodiesThatTheTableNames) {
  tree_.file("src/low/x.hpp", "#include \"low/y.hpp\"\n").file("src/low/y.hpp", "#include \"low/x.hpp\"\n");
  EXPECT_EQ(wrong(), sentences{"a circle: src/low/x.hpp > src/low/y.hpp > src/low/x.hpp"});
  bodies_ = {{"src/low/x.hpp", "src/low/y.hpp"}};
  EXPECT_EQ(wrong(), sentences{});
}

TEST_F(MadeUpTree, ShowsAFileThatIncludesItself) {
  tree_.file("src/low/x.hpp", "#include \"low/x.hpp\"\n");
  EXPECT_EQ(wrong(), sentences{"a circle: src/low/x.hpp > src/low/x.hpp"});
}

}  // namespace
}  // namespace heddle
