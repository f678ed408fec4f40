// SPDX-License-Identifier: Apache-2.0
// uxlfoundation/oneTBB#977: a crash when a plug-in that uses TBB is unloaded, since workers are still in its
// code. Right: after the scheduler's end no thread of heddle is left and none of TBB's is in heddle's code,
// so a plug-in that ends its schedulers may be unloaded, again and again. This program links neither heddle
// nor TBB.
#include <dirent.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

int heddle_threads() {
  int count = 0;
  DIR* const tasks = opendir("/proc/self/task");
  while (const dirent* const each = readdir(tasks)) {
    std::string name;
    std::getline(std::ifstream("/proc/self/task/" + std::string(each->d_name) + "/comm"), name);
    if (name.rfind("heddle/", 0) == 0) ++count;
  }
  closedir(tasks);
  return count;
}

bool fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  return false;
}

bool once(const char* path, int devices) {
  void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return fail(dlerror());
  const auto run = reinterpret_cast<int (*)(int)>(dlsym(plugin, "run_plugin"));
  if (run == nullptr) return fail(dlerror());
  if (run(devices) != 0) return fail("the plug-in gave a wrong result");
  if (heddle_threads() != 0) return fail("a thread of heddle is left after the end of its scheduler");
  if (dlclose(plugin) != 0) return fail(dlerror());
  if (dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr) return fail("the plug-in was not unloaded");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PLUGIN\n", argv[0]);
    return 2;
  }
  for (int round = 0; round < 100; ++round) {
    if (!once(argv[1], 1 + round % 8)) return 1;
  }
  return 0;
}
