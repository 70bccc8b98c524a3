// SPDX-License-Identifier: Apache-2.0
// The slow path of memory accesses: finding allocations, and saying what is wrong.
#pragma once

#include <cstdint>

#include "emulator/exec/warp.hpp"
#include "emulator/ptx/ast.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

// The byte of lane l in this process is at address[l] + offset.
struct lane_view {
  const std::uint64_t* address = nullptr;
  std::uint64_t offset = 0;
};

struct access {
  report::access_kind kind = report::access_kind::load;
  std::uint32_t bytes = 0;  // of one lane, a power of two
};

// For global and generic addresses outside the cached range: fills the cache, or gives a host
// address per lane. Throws kernel_fault.
lane_view find_lanes(warp& w, const instruction& in, const std::uint64_t* address, access wanted);

// Accesses of shared and local memory of which at least one is wrong; `offset` counts from the
// start of the space.
[[noreturn]] void raise_shared_fault(warp& w, const instruction& in, access wanted,
                                     std::uint64_t (*offset)(warp&, const instruction&, int lane));
[[noreturn]] void raise_local_fault(warp& w, const instruction& in, access wanted,
                                    std::uint64_t (*offset)(warp&, const instruction&, int lane));

// A fault record with kernel, block, place and options filled in, of the lane.
report::fault describe_place(const warp& w, const instruction& in, int lane);

// Line, text and source location of an instruction of a function.
void set_source(report::fault& f, const ptx::module& owner, const ptx::function& function,
                std::uint32_t index);

// Copies bytes at a generic address of one lane to `to`; false when they may not be read.
bool read_generic(warp& w, int lane, std::uint64_t address, void* to, std::uint32_t bytes);

}  // namespace halfwarp::emulator::exec
