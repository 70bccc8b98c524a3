// SPDX-License-Identifier: Apache-2.0
// Beginning, emptying and ending contexts.
#include "emulator/driver/context_life.hpp"

#include <vector>

namespace halfwarp::emulator {
namespace {

void release_memory(driver& d, const context& of) {
  using enum memory::allocation_kind;
  for (const auto& a : d.memory.live_allocations()) {
    if (a.context != of.id() || a.pool != 0 || !a.name.empty()) continue;
    if (a.kind == registered) {
      d.memory.unregister_host(reinterpret_cast<void*>(a.base));
    } else {
      d.memory.release(a.base);
    }
  }
}

std::vector<std::shared_ptr<context>> all_contexts(const driver& d) {
  std::vector<std::shared_ptr<context>> all;
  d.objects.for_each(object_kind::context, [&](const object& each) {
    all.push_back(d.objects.find<context>(each.handle_as<CUcontext>()));
  });
  return all;
}

}  // namespace

void empty_context(driver& d, driver_guard& guard, context& target) {
  if (target.is_broken()) target.cancel();
  d.streams.wait_for_all(guard, target);
  target.flush_prints();
  d.objects.remove_all_of(target.id());
  release_memory(d, target);
  target.repair();
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
    if (!each->is_broken()) continue;
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
    } else {
      end_context(d, guard, *each);
      d.objects.remove(*each);
    }
  }
  d.faults.clear();
}

}  // namespace halfwarp::emulator
