// SPDX-License-Identifier: Apache-2.0
#include "cg/solve.hpp"

#include <utility>

#include "cg/bodies.hpp"
#include "heddle/heddle.hpp"

namespace cg {

solution solve(heddle::scheduler& sched, const settings& wanted, const std::vector<double>& b) {
  using heddle::parallel_for_async, heddle::parallel_reduce_async;
  const heddle::extents grid{wanted.n, wanted.n};
  heddle::distributed_array<double> u(sched, grid), r(sched, grid), q(sched, grid),
      p(sched, grid, {.halo = 1});
  heddle::replicated<double> rr(sched), rr_before(sched),
      pq(sched);  // r.r, that of the iteration before, p.q
  u.fill(0);
  r.scatter(b);
  p.scatter(b);

  // None of these calls waits. Each takes effect behind those before it that name the same array or value.
  std::vector<heddle::future<void>> issued;
  issued.push_back(parallel_reduce_async(sched, grid, 0., add(), square(), in(r), out(rr)));
  const auto iterate = [&] {
    issued.push_back(parallel_for_async(sched, grid, multiply{{wanted.n}}, with_halo(p), out(q)));
    issued.push_back(parallel_reduce_async(sched, grid, 0., add(), product(), in(p), in(q), out(pq)));
    issued.push_back(
        parallel_for_async(sched, grid, advance(), inout(u), inout(r), in(p), in(q), in(rr), in(pq)));
    std::swap(rr, rr_before);
    issued.push_back(parallel_reduce_async(sched, grid, 0., add(), square(), in(r), out(rr)));
    issued.push_back(parallel_for_async(sched, grid, turn(), inout(p), in(r), in(rr), in(rr_before)));
  };

  solution found;
  double residual = rr.get();
  const double enough = wanted.tolerance * wanted.tolerance * residual;
  while (residual > enough && found.iterations < 20 * wanted.n) {
    for (int k = 0; k < wanted.look_every; ++k) iterate();
    found.iterations += wanted.look_every;
    residual = rr.get();                   // here the host waits for the devices, and nowhere else
    for (auto& each : issued) each.get();  // rethrows what failed
    issued.clear();
  }
  found.u = u.gather();
  return found;
}

}  // namespace cg
