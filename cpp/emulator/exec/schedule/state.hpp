// SPDX-License-Identifier: Apache-2.0
// State of a running launch: frames, splits, warps and blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/code.hpp"
#include "emulator/exec/matrix/warpgroup.hpp"
#include "emulator/exec/schedule/device_queue.hpp"
#include "emulator/exec/schedule/run.hpp"
#include "emulator/exec/schedule/warp/warp_splits.hpp"
#include "emulator/exec/tensor/tensor_memory.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/exec/watch/changes.hpp"

namespace halfwarp::emulator::exec {

class barrier_checker;
class init_checker;
class launch_checks;
class launch_counts;
class observer;
class race_checker;
class transcript;
struct undefined_values;

// Thrown by handlers and the scheduler. Ends the launch.
struct kernel_fault {
  report::fault record;
};

// Leads a warp from one barrier to the next past instructions that do nothing for it.
struct passage {
  std::uint32_t barrier = 0;  // the next one
  std::uint32_t steps = 0;    // with the next barrier; 0: not known yet, ~0: there is none
};

// Registers and local memory of one function call, for the lanes that made the call.
struct frame {
  const function_code* function = nullptr;
  frame* parent = nullptr;
  const call_site* site = nullptr;              // in the parent
  std::uint32_t return_index = 0;               // instruction of the parent
  std::uint32_t depth = 0;                      // 0: the kernel
  std::uint32_t base = 0;                       // in local memory of each thread
  std::uint32_t users = 0;                      // splits in the frame, and frames called from it
  lane_storage values;                          // registers, then predicates
  std::shared_ptr<undefined_values> undefined;  // null: all values are defined
  // Ends of the memory that each lane allocated, in its local memory; empty before the first
  // alloca.
  std::vector<std::uint32_t> stack_ends;
  bool has_fixed_values = false;  // function_code::fixed has run
  std::vector<passage> passages;  // by number, see schedule/warp/passage.hpp
};

struct warp_state {
  warp view;
  warp_splits splits;
  std::vector<std::unique_ptr<frame>> frames, unused_frames;
  std::uint32_t backward_branches = 0;  // with other splits ready, since the last rotation
  bool is_rotating = false;             // the split that has waited longest runs next
  // Lanes that arrived at the barrier of the cluster and have not waited: in the present phase, and
  // in the one that is complete.
  lane_mask cluster_arrived = 0, cluster_passed = 0;
};

struct barrier_state {
  std::uint32_t arrived = 0;           // threads
  std::uint32_t expected = 0;          // 0: all live threads
  lane_mask any = 0, all = all_lanes;  // results of bar.red, 0 or all ones
  std::uint32_t count = 0;             // of true predicates
  bool is_reduction = false;
};

struct launch_state;
struct cluster_state;

inline constexpr int barrier_count = 16;
inline constexpr std::uint32_t reserved_shared_bytes = 1024;

struct block_state {
  launch_state* launch = nullptr;
  std::uint64_t number = 0;  // in ascending order of z, y, x
  std::array<std::uint32_t, 3> index{};
  launch_counts* counts = nullptr;  // of the host thread, if a profile follows the launch
  cluster_state* cluster = nullptr;
  std::uint32_t rank = 0;  // in the cluster
  std::vector<warp_state> warps;
  lane_storage shared, local;
  std::array<barrier_state, barrier_count> barriers;
  std::vector<thread_copies> copies;       // by thread; empty before the first late copy
  std::vector<std::uint32_t> bulk_groups;  // by thread: the open group; empty before the first
  std::vector<warp_products> products;     // by warp; empty before the first late product
  std::unique_ptr<tensor_memory> tensors;  // null before the first allocation
  // For the check of uninitialized memory: the states of the bytes.
  std::vector<std::byte> shared_states, local_states;
  std::uint32_t live_threads = 0;
  std::uint32_t used_barriers = 0;     // bit n: threads arrived at barrier n
  std::vector<std::uint32_t> order;    // of the warps
  std::shared_ptr<transcript> script;  // null if blocks take different ways
  transcript* recorder = nullptr;      // the transcript, while it records this block
  bool is_scripted = false;            // the transcript runs the block
};

// Shared by the host threads that run one launch.
struct launch_state {
  memory::address_space& space;
  const launch_request& request;
  const run_options& options;
  const kernel_code& code;

  launch_state(memory::address_space& s, const launch_request& r, const run_options& o,
               const kernel_code& c)
      : space{s}, request{r}, options{o}, code{c} {}

  std::uint32_t shared_bytes = 0;      // of a block
  std::uint32_t reserved_shared = 0;   // offset of the driver's part, after all variables
  memory::address grid_workspace = 0;  // two words of a cooperative launch, initially zero
  std::uint32_t stack_bytes = 0;       // local memory of a thread
  std::uint32_t warps_per_block = 0;
  bool is_watched = false;                // for lock cycles; only with one host thread
  std::unique_ptr<change_table> changes;  // of a watched launch, after the first change
  observer* observed_by = nullptr;        // of a watched launch, during some rounds
  bool is_followed = false;               // by checks or a profile
  // If a check is selected; only with one host thread.
  launch_checks* checks = nullptr;
  race_checker* races = nullptr;
  init_checker* definedness = nullptr;
  barrier_checker* barriers = nullptr;
  std::unique_ptr<device_queue> children;  // null before the first call that needs it
  std::atomic<std::uint64_t> next_cluster{0}, executed{0};
  std::atomic<std::uint64_t> last_block{~0ull};  // a fault makes later blocks unnecessary
  std::atomic<bool> was_canceled{false}, has_run_long{false};
  std::mutex mutex;  // guards fault, faulting_block, counts, children and calls of options.print
  std::optional<report::fault> fault;
  std::uint64_t faulting_block = ~0ull;
  std::shared_ptr<launch_counts> counts;      // of the host threads that have ended
  std::uint64_t interruptions = 0;            // before the launch
  std::atomic<bool> repeats_no_block{false};  // a transcript of a block was useless
};

}  // namespace halfwarp::emulator::exec
