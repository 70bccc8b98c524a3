// SPDX-License-Identifier: Apache-2.0
// Running one kernel over its whole grid.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "emulator/exec/executable.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::texture {
class binding_table;
}

namespace halfwarp::emulator::exec {

struct extent {
  std::uint32_t x = 1, y = 1, z = 1;
  constexpr std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

struct launch_request {
  const kernel* entry = nullptr;
  extent grid, block;  // sizes in blocks, in threads
  extent cluster;      // in blocks
  std::uint32_t dynamic_shared_bytes = 0;
  std::span<const std::byte> parameters;  // laid out as attributes().parameters says
  bool is_cooperative = false;            // all blocks must be resident together
  std::uint32_t resident_blocks = 4;      // together, if not cooperative; occupancy limit
  std::uint64_t stream = 0, grid_id = 0;  // named in reports, %gridid
};

struct run_options {
  unsigned threads = 1;                   // of the host, per kernel
  std::uint64_t seed = 0;                 // 0: ascending order of blocks, warps, splits
  std::uint64_t step_limit = 1ull << 36;  // thread-instructions
  std::uint32_t stack_bytes = 1024;       // per thread, where recursion hides the need
  bool check_memory = true, check_sync = true;
  // Receives the text of device printf, whole records; called from the threads that run the kernel,
  // one at a time. Absent: the text is dropped.
  std::function<void(std::string_view)> print;
  // Sets the value behind a conditional handle of a graph; says what is wrong with the handle, or
  // nothing. Absent: nothing is set.
  std::function<std::string(std::uint64_t handle, std::uint32_t value)> set_conditional;
  // What the handles of textures and surfaces name. Absent: nothing.
  const texture::binding_table* textures = nullptr;
  // Called once when the blocks have given way so often that they may be waiting for memory that
  // something else writes. Depends on what was executed, not on time.
  std::function<void()> takes_long;
  const std::atomic<bool>* cancelled = nullptr;  // set: the run ends soon, its result is void
};

struct outcome {
  std::optional<report::fault> fault;
  std::uint64_t instructions = 0;  // thread-instructions executed
  bool was_cancelled = false;
};

// Refusal that is known before anything runs: the kernel can reach an instruction which the
// emulator does not have. Call it when the launch is enqueued. Remembered per kernel.
std::optional<report::fault> refusal(const kernel& entry);

// Runs to the end on the calling thread (and threads - 1 more). The executable and the parameter
// bytes must stay alive meanwhile. Reentrant: several kernels may run at once.
outcome run(memory::address_space& space, const launch_request& request,
            const run_options& options);

}  // namespace halfwarp::emulator::exec
