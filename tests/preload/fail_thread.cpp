// SPDX-License-Identifier: Apache-2.0
// Loaded in front of the C library: the FAIL_THREAD-th creation of a thread fails (counted from 1; 0: none),
// as it does where the process has used up its limit. With FAIL_THREAD_ON all later ones fail, too.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

namespace {
std::atomic<int> failing{0};
std::atomic<int> created{0};
std::atomic<bool> all_later{false};
}  // namespace

extern "C" {

void fail_thread(int which, int later_too) {
  created = 0;
  all_later = later_too != 0;
  failing = which;
}

int threads_asked_for() { return created.load(); }

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  using create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next = reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
  const int number = created.fetch_add(1) + 1;
  const int which = failing.load();
  if (which != 0 && (number == which || (all_later && number > which))) return EAGAIN;
  return next(thread, attributes, start, argument);
}

}  // extern "C"
