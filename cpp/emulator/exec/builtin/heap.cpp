// SPDX-License-Identifier: Apache-2.0
// malloc and free in kernels, which new and delete call.
#include "emulator/exec/access.hpp"
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/memory/device_heap.hpp"

namespace halfwarp::emulator::exec {
namespace {

[[noreturn]] void raise_invalid_free(warp& w, const instruction& instr, int lane,
                                     std::uint64_t address, memory::free_result freed) {
  report::fault f = describe_fault(w, instr, lane);
  f.kind = report::fault_kind::invalid_free;
  f.address = address;
  f.detail = "free of " + report::hexadecimal(address);
  if (freed.status == memory::free_status::already_freed) {
    f.detail += ", which was already freed";
  } else {
    f.detail += ", which malloc did not return";
  }
  f.nearest = freed.record ? std::move(freed.record) : w.block->launch->space.nearest(address);
  f.hint = "pass each address that malloc returned to free once";
  throw kernel_fault{f};
}

}  // namespace

std::string site_of(warp& w, const instruction& instr, int lane) {
  const report::fault place = describe_fault(w, instr, lane);
  return "kernel '" + report::demangled(place.kernel) + "', " + report::place_text(place);
}

// malloc(bytes) -> address, null if the heap has no room
void run_malloc(warp& w, const instruction& instr) {
  launch_state& launch = *w.block->launch;
  const run_options& options = launch.options;
  const std::string site = site_of(w, instr, __builtin_ctz(w.active));
  for_each_lane(w.active, [&](int lane) {
    std::uint64_t address = 0;
    if (options.heap) {
      address = options.heap
                    ->allocate(launch.space, builtin_argument(w, instr, lane, 0),
                               launch.request.entry->owner().device, options.context, site)
                    .value_or(0);
    }
    set_builtin_result(w, instr, lane, address);
  });
}

// free(address); a null address has no effect
void run_free(warp& w, const instruction& instr) {
  launch_state& launch = *w.block->launch;
  const std::string site = site_of(w, instr, __builtin_ctz(w.active));
  for_each_lane(w.active, [&](int lane) {
    const std::uint64_t address = builtin_argument(w, instr, lane, 0);
    if (address == 0) return;
    memory::free_result freed;
    if (launch.options.heap) freed = launch.options.heap->release(launch.space, address, site);
    if (freed.status == memory::free_status::done) return;
    raise_invalid_free(w, instr, lane, address, std::move(freed));
  });
}

}  // namespace halfwarp::emulator::exec
