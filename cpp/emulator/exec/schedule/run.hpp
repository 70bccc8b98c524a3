// SPDX-License-Identifier: Apache-2.0
// Runs one kernel over its whole grid.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/exec/check/accessed_range.hpp"
#include "emulator/exec/executable.hpp"
#include "emulator/exec/profile/profile.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/report/fault.hpp"
#include "emulator/report/launch_writes.hpp"

namespace halfwarp::emulator::memory {
class device_heap;
}
namespace halfwarp::emulator::ptx {
struct instruction_row;
}
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
  std::span<const std::byte> parameters;  // with the layout of attributes().parameters
  bool is_cooperative = false;            // all blocks must be resident together
  std::uint32_t resident_blocks = 4;      // occupancy limit, if not cooperative
  std::uint64_t stream = 0, grid_id = 0;  // for reports and %gridid
  std::uint32_t nesting = 0;              // number of grids above, if a kernel launched this one
};

// Work that a kernel submits: a kernel; or a copy, or a fill, if `entry` is null.
struct device_work {
  const kernel* entry = nullptr;
  extent grid, block, cluster;
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
  memory::address to = 0, from = 0;  // from: 0 for a fill
  std::uint64_t bytes = 0;
  std::uint8_t fill = 0;
  bool is_tail = false;       // runs when all other work of the grid has ended
  std::uint32_t nesting = 0;  // as in the request
};

struct run_options {
  unsigned threads = 1;                   // host threads per kernel
  std::uint64_t seed = 0;                 // 0: ascending order of blocks, warps, splits
  bool is_shuffled = true;                // false: ascending order with each seed
  std::uint64_t step_limit = 1ull << 36;  // thread-instructions
  std::uint32_t stack_bytes = 1024;       // per thread, for recursion and alloca
  bool check_memory = true, check_sync = true;
  bool check_races = false;       // runs all blocks on the calling thread
  bool check_init = false;        // ... also; the address space must record written bytes
  bool check_barriers = false;    // ... also
  bool check_neighbors = false;   // ... also
  bool records_accesses = false;  // ... also; fills outcome::accesses
  bool records_forms = false;     // ... also; fills outcome::forms
  profile_detail profile = profile_detail::none;  // fills outcome::profiles
  bool copies_are_late = false;                   // asynchronous copies complete at the wait
  // Receives the text of each device printf call. Called by one host thread at a time. If null, the
  // text is discarded.
  std::function<void(std::string_view)> print;
  // Sets the value of a conditional handle of a graph. Returns an error message for an invalid
  // handle, else an empty string. If null, nothing is set.
  std::function<std::string(std::uint64_t handle, std::uint32_t value)> set_conditional;
  // Objects of texture and surface handles. If null, every handle is invalid.
  const texture::binding_table* textures = nullptr;
  // The heap of the kernels. If null, it has no room.
  memory::device_heap* heap = nullptr;
  std::uint64_t context = 0;              // owner of the heap
  std::uint64_t pending_launches = 2048;  // limit of the work that the threads of a grid submit
  // Called once after many rounds without an end of a block: the blocks may wait for memory that
  // other work writes. Depends on executed instructions, not on time.
  std::function<void()> on_long_run;
  const std::atomic<bool>* canceled = nullptr;  // true ends the run soon, with an invalid result
  // A change of the number ends the run with a fault. If null, nothing interrupts the run.
  const std::atomic<std::uint64_t>* interruptions = nullptr;
  std::uint32_t multiprocessors = 4;  // of the device or green context
};

struct outcome {
  std::optional<report::fault> fault;
  std::vector<report::fault> findings;   // of checks, in the order of the code
  std::vector<accessed_range> accesses;  // of global memory
  // The writers of each grid, in the order of execution, with check_races.
  std::vector<std::shared_ptr<const report::launch_writes>> writes;
  std::vector<const ptx::instruction_row*> forms;  // of executed instructions
  std::vector<launch_profile> profiles;            // of the grid and those it launched
  std::uint64_t instructions = 0;                  // thread-instructions executed
  bool was_canceled = false;
};

// Returns a fault if the kernel can reach an instruction that the emulator does not support. Call
// it when the launch is enqueued. The result is cached per kernel.
std::optional<report::fault> refusal(const kernel& entry);

// Runs the kernel on the calling thread and threads - 1 more host threads, until it ends. The
// executable and the parameter bytes must outlive the call. Several kernels may run concurrently.
outcome run(memory::address_space& space, const launch_request& request,
            const run_options& options);

}  // namespace halfwarp::emulator::exec
