// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace heddle::detail {

/// A callable of no arguments, called at most once, owned. Unlike std::function it holds move-only callables.
class operation {
 public:
  operation() noexcept = default;
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, operation>) explicit operation(F&& f)
      : held_(new held<std::decay_t<F>>{{&call<std::decay_t<F>>, &destroy<std::decay_t<F>>},
                                        std::forward<F>(f)}) {}

  void operator()() { held_->call(*held_); }
  explicit operator bool() const noexcept { return held_ != nullptr; }

 private:
  struct base {
    void (*call)(base&);
    void (*destroy)(base*) noexcept;
  };
  template <class F>
  struct held : base {
    held(base table, F&& f) : base(table), callable(std::move(f)) {}
    held(base table, const F& f) : base(table), callable(f) {}
    F callable;
  };
  template <class F>
  static void call(base& self) {
    static_cast<held<F>&>(self).callable();
  }
  template <class F>
  static void destroy(base* self) noexcept {
    delete static_cast<held<F>*>(self);
  }
  struct destroy_held {
    void operator()(base* self) const noexcept { self->destroy(self); }
  };

  std::unique_ptr<base, destroy_held> held_;
};

}  // namespace heddle::detail
