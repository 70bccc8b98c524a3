// SPDX-License-Identifier: Apache-2.0
// Collects live objects and allocations.
#include "emulator/driver/findings/leaks.hpp"

#include <iterator>
#include <map>
#include <utility>

#include "emulator/driver/driver.hpp"
#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {
namespace {

// Kernels and functions belong to their library or module, so they are not counted.
constexpr object_kind counted_kinds[] = {object_kind::context,
                                         object_kind::stream,
                                         object_kind::event,
                                         object_kind::module,
                                         object_kind::library,
                                         object_kind::memory_pool,
                                         object_kind::graph,
                                         object_kind::graph_exec,
                                         object_kind::user_object,
                                         object_kind::physical_memory,
                                         object_kind::address_reservation,
                                         object_kind::green_context,
                                         object_kind::array,
                                         object_kind::mipmapped_array,
                                         object_kind::texture_object,
                                         object_kind::surface_object,
                                         object_kind::graphics_resource};

// In the order of memory::allocation_kind.
constexpr std::string_view memory_names[] = {
    "device memory",    "pool memory",   "module variable", "memory of malloc in a kernel",
    "mapped memory",    "pinned memory", "managed memory",  "mapped memory",
    "registered memory"};
static_assert(std::size(memory_names) ==
              static_cast<std::size_t>(memory::allocation_kind::registered) + 1);

std::string_view kind_name(memory::allocation_kind kind) {
  return memory_names[static_cast<std::size_t>(kind)];
}

}  // namespace

std::vector<live_record> live_records(const driver& d) {
  std::vector<live_record> records;
  for (const auto kind : counted_kinds) {
    d.objects.for_each(kind, [&](const object& each) {
      if (each.is_library_owned) return;
      records.push_back({std::string{name(kind)}, each.id(), 0, -1, 0, 0, {}, each.created_at});
    });
  }
  for (const auto& a : d.memory.live_allocations()) {
    if (a.is_internal || !a.name.empty()) continue;
    records.push_back({std::string{kind_name(a.kind)}, a.base, a.size, a.device, a.pool, a.stream,
                       a.name, a.created_at});
  }
  return records;
}

void report_leaks(driver& d) {
  struct sum {
    std::uint64_t count = 0, bytes = 0;
  };
  std::map<std::pair<std::string, std::string>, sum> groups;
  for (const auto& each : live_records(d)) {
    auto& group = groups[{each.kind, each.created_at}];
    ++group.count;
    group.bytes += each.bytes;
  }
  for (const auto& [group, total] : groups) {
    const auto& [kind, site] = group;
    std::string text = "leak: " + std::to_string(total.count) + " x " + kind;
    if (total.bytes) text += ", " + std::to_string(total.bytes) + " bytes";
    if (!site.empty()) text += ", created at " + site;
    d.report.note("leak", text);
  }
}

}  // namespace halfwarp::emulator
