// SPDX-License-Identifier: Apache-2.0
// Finds the targets of copies of ranges and tensors, starts the copies and raises their faults.
#pragma once

#include <string>

#include "emulator/exec/async/bulk_site.hpp"
#include "emulator/exec/schedule/cluster.hpp"

namespace halfwarp::emulator::exec {

const bulk_site& bulk_of(const warp& w, const instruction& instr) noexcept;

// Raises the fault of a copy with an operand that the manual forbids.
[[noreturn]] void raise_copy(warp& w, const instruction& instr, int lane, report::fault_kind kind,
                             std::string detail, std::string hint);

// A block that receives a copy: offsets in the shared window.
struct bulk_target {
  std::uint64_t to = 0, barrier = 0;
};
// Returns the target of a copy to shared memory, or the targets that its mask selects.
std::vector<bulk_target> targets_of(warp& w, const instruction& instr, int lane);

// Returns bytes in shared memory; raises a fault if they are outside.
std::byte* shared_range(warp& w, const instruction& instr, int lane, std::uint64_t offset,
                        std::uint32_t bytes, report::access_kind kind);

// Sets what a copy signals, and runs it: at once, or when a thread waits for it.
void start_to_barrier(warp& w, const instruction& instr, int lane, const bulk_target& target,
                      std::uint32_t bytes, bulk_copy copy);
void start_in_group(warp& w, const instruction& instr, int lane, bulk_copy copy);

// The fields of tensormap.replace; those from box_dim on exist for each dimension.
enum class map_field : std::uint8_t {
  global_address,
  rank,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
};
// tensormap.replace: -, value, dimension, -, generic address. The target is a map_field.
void run_replace_map(warp& w, const instruction& instr);
// clusterlaunchcontrol.try_cancel: the target is the index of a bulk_site without a source.
void run_try_cancel(warp& w, const instruction& instr);
// clusterlaunchcontrol.query_cancel.is_canceled: predicate, last word of the response.
void run_is_canceled(warp& w, const instruction& instr);

// tensormap.cp_fenceproxy: -, generic source, -, -, generic target.
void run_publish_map(warp& w, const instruction& instr);

}  // namespace halfwarp::emulator::exec
