// SPDX-License-Identifier: Apache-2.0
// The slow path of memory accesses: looks up allocations and reports faults.
#pragma once

#include <cstdint>

#include "emulator/exec/warp.hpp"
#include "emulator/ptx/ast.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

// Locates the lanes' bytes: lane l accesses host address address[l] + offset.
struct lane_view {
  const std::uint64_t* address = nullptr;
  std::uint64_t offset = 0;
};

struct access {
  report::access_kind kind = report::access_kind::load;
  std::uint32_t bytes = 0;  // of one lane, a power of two
};

// Looks up global or generic addresses outside the cached range. Fills the cache, or returns one
// host address per lane. Throws kernel_fault.
lane_view find_lanes(warp& w, const instruction& instr, const std::uint64_t* address,
                     access requested);

// Returns the bytes of one lane's access, which need no alignment.
std::byte* locate_bytes(warp& w, const instruction& instr, int lane, std::uint64_t address,
                        access requested);

// Raise the fault of shared or local accesses of which at least one is invalid. `offset` returns
// the offset of a lane's access from the start of the space.
[[noreturn]] void raise_shared_fault(warp& w, const instruction& instr, access requested,
                                     std::uint64_t (*offset)(warp&, const instruction&, int lane));
[[noreturn]] void raise_local_fault(warp& w, const instruction& instr, access requested,
                                    std::uint64_t (*offset)(warp&, const instruction&, int lane));

// Returns a fault record with the kernel, block, thread and source location of a lane.
report::fault describe_fault(const warp& w, const instruction& instr, int lane);

// Sets the PTX line, text and source location of an instruction.
void set_source(report::fault& f, const ptx::module& owner, const ptx::function& function,
                std::uint32_t index);

// Copies bytes at a generic address of one lane to `to`. Returns false if they are not readable.
bool read_generic(warp& w, int lane, std::uint64_t address, void* to, std::uint32_t bytes);

}  // namespace halfwarp::emulator::exec
