// SPDX-License-Identifier: Apache-2.0
// Opens, empties and destroys contexts.
#include "emulator/driver/context_life.hpp"

#include <vector>

#include "emulator/driver/pools.hpp"

namespace halfwarp::emulator {
namespace {

void release_allocation(driver& d, const memory::allocation& allocation) {
  if (allocation.kind == memory::allocation_kind::registered) {
    d.memory.unregister_host(reinterpret_cast<void*>(allocation.base));
    return;
  }
  if (allocation.is_reserved) {
    d.unfreed.erase(d.graph_memories[allocation.base].lock());
    d.memory.deactivate(allocation.base, {});
    return;
  }
  for (const auto& pool : d.pools) {
    if (allocation.pool != 0 && pool->id() == allocation.pool) pool->deallocate(allocation.size);
  }
  d.managed.erase(allocation);
  d.memory.release(allocation.base);
}

template <class Predicate>
void release_memory(driver& d, Predicate&& matches) {
  for (const auto& a : d.memory.live_allocations()) {
    const bool is_graph_internal = a.is_internal && a.is_reserved;
    if (a.name.empty() && !is_graph_internal && matches(a)) release_allocation(d, a);
  }
  trim_pools(d);
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
  // A copy, since the context must outlive its list entry.
  std::erase(primary.greens, std::shared_ptr{target});
  if (primary.device().primary_retains > 0) --primary.device().primary_retains;
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
  target.heap.clear();
  target.repair();
  target.assign_unique_id();
}

void end_context(driver& d, driver_guard& guard, context& target) {
  empty_context(d, guard, target);
  target.is_alive = false;
  target.close();
}

std::shared_ptr<context> open_primary(driver& d, device& owner) {
  if (!owner.primary) {
    owner.primary = d.objects.make<context>(owner, owner.primary_flags, true);
    owner.primary->is_library_owned = true;  // its retain count is reported instead
  }
  owner.primary->is_alive = true;
  return owner.primary;
}

void synchronize_contexts(driver& d, driver_guard& guard) {
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
    } else if (!each->is_green()) {  // destroyed with their primary contexts
      end_context(d, guard, *each);
      d.objects.remove(*each);
    }
  }
  release_memory(d, [](const auto& a) { return a.pool != 0; });
  d.faults.clear();
}

}  // namespace halfwarp::emulator
