// SPDX-License-Identifier: Apache-2.0
// Runs the warps of a block in turn and reports a fault when no warp can run.
#include "emulator/exec/schedule/block.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/launch_checks.hpp"
#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/schedule/order.hpp"
#include "emulator/exec/schedule/transcript.hpp"
#include "emulator/exec/schedule/warp/frame.hpp"
#include "emulator/exec/schedule/warp/interpret.hpp"
#include "emulator/exec/tensor/tensor_instructions.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t warp_budget = 1u << 9;  // warp instructions per turn
constexpr int passes_per_round = 64;            // passes over all warps between two counts of steps

void number_threads(warp& view, const extent& size) {
  std::uint64_t threads = size.count();
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    std::uint32_t thread = view.index * warp_size + lane;
    if (thread < threads) view.existing |= 1u << lane;
    view.thread[0][lane] = thread % size.x;
    view.thread[1][lane] = thread / size.x % size.y;
    view.thread[2][lane] = thread / size.x / size.y;
  }
}

// Copies of what is filled already are faster than a loop over words.
void fill_pattern(lane_storage& memory, std::uint64_t seed, std::uint64_t number) {
  constexpr std::size_t most = 4096;
  const std::size_t size = memory.size();
  if (size == 0) return;
  std::array<std::uint32_t, 16> line;  // the unit of `lane_storage`
  line.fill(memory::fresh_pattern(seed, number));
  std::memcpy(memory.data(), line.data(), sizeof line);
  for (std::size_t filled = sizeof line; filled < size;) {
    const std::size_t bytes = std::min({filled, most, size - filled});
    std::memcpy(memory.data() + filled, memory.data(), bytes);
    filled += bytes;
  }
}

// Runs the instructions that need not run in each block.
void set_fixed_values(warp& view, frame& entry) {
  if (std::exchange(entry.has_fixed_values, true)) return;
  activate(view, entry);
  view.active = view.existing;
  for (const instruction& instr : entry.function->fixed) instr.run(view, instr);
}

// Copies the parameters to each thread's local memory, for kernels that use their address.
void copy_parameters(block_state& block, const function_code& entry) {
  if (entry.parameter_block_bytes == 0) return;
  for (warp_state& w : block.warps) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      std::byte* to = w.view.local + lane * w.view.local_stride + entry.parameter_block;
      std::memcpy(to, w.view.parameters, entry.parameter_block_bytes);
    }
  }
}

bool has_ready(const warp_state& w) {
  return std::any_of(w.splits.begin(), w.splits.end(),
                     [](const warp_split& f) { return f.state == split_state::ready; });
}

const char* wait_text(split_state state) {
  switch (state) {
    case split_state::at_barrier:
      return "waits at the barrier on PTX line ";
    case split_state::at_cluster:
      return "waits for the other blocks of its cluster on PTX line ";
    case split_state::before_aligned:
      return "waits for the other threads of its warp before the barrier on PTX line ";
    case split_state::at_collective:
      return "waits for the other threads of its mask on PTX line ";
    case split_state::ready:
    case split_state::running:
      break;
  }
  return "is ready on PTX line ";
}

std::string describe_group(const warp_state& w, const warp_split& f) {
  const ptx::function& source = *f.top_frame->function->source;
  std::uint32_t index = f.top_frame->function->code[f.next].source;
  std::uint32_t line = index < source.instructions.size() ? source.instructions[index].line : 0;
  return "warp " + std::to_string(w.view.index) + " lanes " + report::hexadecimal(f.lanes) + " " +
         wait_text(f.state) + std::to_string(line);
}

// Raises the fault of a block that cannot run. The most specific wait determines its kind.
[[noreturn]] void raise_stuck(block_state& block) {
  constexpr std::pair<split_state, report::fault_kind> kinds[] = {
      {split_state::at_collective, report::fault_kind::member_mask},
      {split_state::before_aligned, report::fault_kind::divergent_barrier},
      {split_state::at_barrier, report::fault_kind::deadlock},
      {split_state::at_cluster, report::fault_kind::deadlock},
  };
  std::string groups;
  std::size_t listed = 0;
  for (const warp_state& w : block.warps) {
    for (const warp_split& f : w.splits) {
      if (listed++ < 8) groups += (groups.empty() ? "" : "; ") + describe_group(w, f);
    }
  }
  if (listed > 8) groups += "; and " + std::to_string(listed - 8) + " more groups";
  for (auto [state, kind] : kinds) {
    for (warp_state& w : block.warps) {
      for (const warp_split& f : w.splits) {
        if (f.state != state) continue;
        activate(w.view, *f.top_frame);
        const instruction& instr = f.top_frame->function->code[f.next];
        report::fault fault = describe_fault(w.view, instr, __builtin_ctz(f.lanes));
        fault.kind = kind;
        fault.other_threads = lanes_in(f.lanes) - 1;
        fault.detail = groups;
        fault.hint = "every thread that a barrier or a mask includes must reach it";
        throw kernel_fault{fault};
      }
    }
  }
  throw std::logic_error("a block without waiting threads is stuck");
}

// Without check_sync, parts of a warp may wait at different aligned barriers, as if the barriers
// were of the unaligned form. Returns true if a part arrived.
bool arrive_partial_warp(block_state& block) {
  if (block.launch->options.check_sync) return false;
  for (warp_state& w : block.warps) {
    for (std::size_t i = 0; i < w.splits.size(); ++i) {
      if (w.splits[i].state != split_state::before_aligned) continue;
      arrive_without_warp(w, i);
      return true;
    }
  }
  return false;
}

// Lets all threads start at the first instruction.
void begin_warps(block_state& block) {
  launch_state& launch = *block.launch;
  for (warp_state& w : block.warps) {
    w.view.live = w.view.existing;
    w.backward_branches = 0;
    w.is_rotating = false;
    w.cluster_arrived = w.cluster_passed = 0;
    w.splits.clear();
    frame* entry = make_entry_frame(w, launch.code.functions.front());
    entry->parent = nullptr;
    entry->depth = entry->base = 0;
    entry->users = 1;
    if (!launch.is_followed || launch.checks) set_fixed_values(w.view, *entry);
    warp_split start;
    start.lanes = w.view.live;
    start.top_frame = entry;
    w.splits.add(start);
  }
}

bool waits_for_cluster(const block_state& block) {
  return std::ranges::any_of(block.warps, [](const warp_state& w) {
    return std::any_of(w.splits.begin(), w.splits.end(),
                       [](const warp_split& f) { return f.state == split_state::at_cluster; });
  });
}

}  // namespace

void prepare(block_state& block, launch_state& launch, range_cache* ranges) {
  block.launch = &launch;
  block.warps.resize(launch.warps_per_block);
  block.shared.resize(launch.shared_bytes);
  std::size_t per_warp = std::size_t{launch.stack_bytes} * warp_size;
  block.local.resize(per_warp * block.warps.size());
  block.order.resize(block.warps.size());
  block.script = transcript::create(launch);
  for (std::uint32_t i = 0; i < block.warps.size(); ++i) {
    warp& view = block.warps[i].view;
    view.block = &block;
    view.records_changes = launch.is_watched;
    view.ranges = ranges;
    view.index = i;
    view.shared = block.shared.data();
    view.shared_bytes = launch.shared_bytes;
    view.local = block.local.data() + i * per_warp;
    view.local_stride = launch.stack_bytes;
    view.parameters = launch.request.parameters.data();
    number_threads(view, launch.request.block);
  }
}

void begin(block_state& block, std::uint64_t number) {
  launch_state& launch = *block.launch;
  const extent& grid = launch.request.grid;
  std::uint64_t seed = launch.options.seed;
  block.number = number;
  block.index = {static_cast<std::uint32_t>(number % grid.x),
                 static_cast<std::uint32_t>(number / grid.x % grid.y),
                 static_cast<std::uint32_t>(number / grid.x / grid.y)};
  if (std::exchange(block.used_barriers, 0)) block.barriers.fill({});
  block.copies.clear();
  block.bulk_groups.clear();
  block.tensors.reset();
  block.live_threads = static_cast<std::uint32_t>(launch.request.block.count());
  fill_pattern(block.shared, seed, 2 * number);
  fill_pattern(block.local, seed, 2 * number + 1);
  const std::uint64_t order = launch.options.is_shuffled ? seed : 0;
  for (std::uint32_t i = 0; i < block.order.size(); ++i) {
    block.order[i] =
        static_cast<std::uint32_t>(shuffled_index(i, block.order.size(), order, number));
  }
  copy_parameters(block, launch.code.functions.front());
  block.is_scripted = block.script && block.script->is_ready();
  if (block.is_scripted) return;
  begin_warps(block);
  block.recorder = nullptr;
  if (block.script) block.script->start(block);
  if (launch.checks) launch.checks->begin(block);
}

namespace {

block_progress run_warps(block_state& block) {
  bool has_yielded = false;
  for (warp_state& w : block.warps) ++w.view.round;
  for (int pass = 0; !has_yielded; ++pass) {
    if (pass == passes_per_round) return block_progress::paused;
    bool has_run = false;
    for (std::uint32_t index : block.order) {
      warp_state& w = block.warps[index];
      if (!has_ready(w)) continue;
      has_run = true;
      has_yielded |= run_warp(w, warp_budget) == warp_progress::yielded;
    }
    if (block.live_threads == 0) {
      require_released_tensors(block);
      return block_progress::finished;
    }
    if (has_run || arrive_partial_warp(block)) continue;
    if (!waits_for_cluster(block) || block.cluster->is_stuck()) raise_stuck(block);
    return block_progress::yielded;
  }
  return block_progress::yielded;
}

}  // namespace

block_progress run_round(block_state& block) {
  if (std::exchange(block.is_scripted, false)) {
    if (block.script->run(block)) return block_progress::finished;
    begin_warps(block);
  }
  const block_progress progress = run_warps(block);
  if (block.recorder) block.recorder->finish(block, progress == block_progress::finished);
  return progress;
}

}  // namespace halfwarp::emulator::exec
