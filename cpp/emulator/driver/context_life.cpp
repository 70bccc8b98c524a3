// SPDX-License-Identifier: Apache-2.0
// Beginning, emptying and ending contexts.
#include "emulator/driver/context_life.hpp"

#include <vector>

#include "emulator/driver/pools.hpp"

namespace halfwarp::emulator {
namespace {

void release_one(driver& d, const memory::allocation& gone) {
  if (gone.kind == memory::allocation_kind::registered) {
    d.memory.unregister_host(reinterpret_cast<void*>(gone.base));
    return;
  }
  if (gone.is_reserved) {
    d.unfreed.erase(d.graph_memories[gone.base].lock());
    d.memory.deactivate(gone.base, {});
    return;
  }
  for (const auto& pool : d.pools) {
    if (gone.pool != 0 && pool->id() == gone.pool) pool->deallocate(gone.size);
  }
  d.managed.erase(gone);
  d.memory.release(gone.base);
}

template <class Which>
void release_memory(driver& d, Which&& is_meant) {
  for (const auto& a : d.memory.live_allocations()) {
    const bool is_graphs_own = a.is_internal && a.is_reserved;
    if (a.name.empty() && !is_graphs_own && is_meant(a)) release_one(d, a);
  }
  settle_pools(d);
}

std::vector<std::shared_ptr<context>> all_contexts(const driver& d) {
  std::vector<std::shared_ptr<context>> all;
  d.objects.for_each(object_kind::context, [&](const object& each) {
    all.push_back(d.objects.find<context>(each.handle_as<CUcontext>()));
  });
  return all;
}

}  // namespace

void end_green_context(driver& d, driver_guard& guard, const std::shared_ptr<context>& target) {
  d.streams.wait_for_all(guard, *target);
  target->flush_prints();
  target->is_alive = false;
  auto& primary = target->root();
  // By value: the context must outlive its place in the list.
  std::erase(primary.greens, std::shared_ptr{target});
  if (primary.on().primary_retains > 0) --primary.on().primary_retains;
  target->close();
}

void empty_context(driver& d, driver_guard& guard, context& target) {
  if (target.is_broken()) target.cancel();
  while (!target.greens.empty()) {
    end_green_context(d, guard, std::shared_ptr{target.greens.back()});
  }
  d.streams.wait_for_all(guard, target);
  target.flush_prints();
  d.objects.remove_context_objects(target.id());
  release_memory(d, [&](const auto& a) { return a.context == target.id() && a.pool == 0; });
  target.repair();
  target.begin_anew();
}

void end_context(driver& d, driver_guard& guard, context& target) {
  empty_context(d, guard, target);
  target.is_alive = false;
  target.close();
}

std::shared_ptr<context> open_primary(driver& d, device& of) {
  if (!of.primary) {
    of.primary = d.objects.make<context>(of, of.primary_flags, true);
    of.primary->is_library_owned = true;  // made by a count, which is reported by itself
  }
  of.primary->is_alive = true;
  return of.primary;
}

void settle_contexts(driver& d, driver_guard& guard) {
  for (const auto& each : all_contexts(d)) {
    d.streams.wait_for_all(guard, *each);
    each->flush_prints();
  }
}

bool repair_contexts(driver& d, driver_guard& guard) {
  bool was_broken = false;
  for (const auto& each : all_contexts(d)) {
    if (!each->is_broken() || each->is_green()) continue;
    was_broken = true;
    d.streams.wait_for_all(guard, *each);
    each->flush_prints();
    each->repair();
  }
  d.faults.clear();
  return was_broken;
}

void reset_contexts(driver& d, driver_guard& guard) {
  for (const auto& each : all_contexts(d)) {
    if (each->is_primary()) {
      empty_context(d, guard, *each);
    } else if (!each->is_green()) {  // those go with their primary contexts
      end_context(d, guard, *each);
      d.objects.remove(*each);
    }
  }
  release_memory(d, [](const auto& a) { return a.pool != 0; });
  d.faults.clear();
}

}  // namespace halfwarp::emulator
