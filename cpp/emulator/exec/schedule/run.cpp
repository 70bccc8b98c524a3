// SPDX-License-Identifier: Apache-2.0
// Running a grid: host threads take blocks, each keeps some resident, faults end the launch.
#include <algorithm>
#include <cfenv>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/exec/access.hpp"
#include "emulator/exec/launch.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/block.hpp"
#include "emulator/exec/schedule/frame.hpp"
#include "emulator/exec/schedule/order.hpp"

namespace halfwarp::emulator::exec {
namespace {

// Default rounding, denormals kept, nothing trapped: another library may have chosen otherwise.
class floating_point_defaults {
 public:
  floating_point_defaults() {
    fegetenv(&saved_);
    fesetenv(FE_DFL_ENV);
  }
  ~floating_point_defaults() { fesetenv(&saved_); }
  floating_point_defaults(const floating_point_defaults&) = delete;  // restores once
  floating_point_defaults& operator=(const floating_point_defaults&) = delete;

 private:
  fenv_t saved_;
};

struct resident_block {
  block_state block;
  std::uint64_t position = 0;  // in the order in which blocks start
};

// One host thread's share of a launch.
class worker {
 public:
  worker(launch_state& launch, std::uint64_t resident_limit)
      : launch_{launch}, limit_{resident_limit}, ranges_(launch.code.range_caches + 1) {}

  void run() {
    floating_point_defaults defaults;
    while (may_go_on()) {
      bool wants_more = resident_.size() < limit_ &&
                        (resident_.empty() || all_yielded_ || launch_.request.is_cooperative);
      if (wants_more && start_block()) {
        if (launch_.request.is_cooperative) continue;
      } else if (resident_.empty()) {
        return;
      }
      run_round_of_all();
    }
  }

 private:
  bool may_go_on() {
    const auto* cancelled = launch_.options.cancelled;
    if (cancelled && cancelled->load(std::memory_order_relaxed)) launch_.was_cancelled = true;
    return !launch_.was_cancelled.load(std::memory_order_relaxed);
  }

  bool start_block() {
    std::uint64_t count = launch_.request.grid.count();
    std::uint64_t position = launch_.next_block.fetch_add(1, std::memory_order_relaxed);
    if (position >= count || position > launch_.last_block) return false;
    std::unique_ptr<resident_block> started;
    if (unused_.empty()) {
      started = std::make_unique<resident_block>();
      prepare(started->block, launch_, ranges_.data());
    } else {
      started = std::move(unused_.back());
      unused_.pop_back();
    }
    started->position = position;
    begin(started->block, shuffled(position, count, launch_.options.seed, launch_.request.grid_id));
    resident_.push_back(std::move(started));
    return true;
  }

  void run_round_of_all() {
    all_yielded_ = true;
    for (std::size_t i = 0; i < resident_.size();) {
      refresh_ranges();
      if (run_one(*resident_[i])) {
        ++i;
        continue;
      }
      unused_.push_back(std::move(resident_[i]));
      resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i));
      all_yielded_ = false;
    }
  }

  // False: the block has ended.
  bool run_one(resident_block& one) {
    if (one.position > launch_.last_block) return false;
    try {
      bool is_finished = run_round(one.block) == block_progress::finished;
      count_steps(one.block);
      return !is_finished;
    } catch (const kernel_fault& fault) {
      keep(fault.record, one.position);
      count(one.block);
      return false;
    }
  }

  void refresh_ranges() {
    std::uint64_t generation = launch_.space.generation();
    if (generation == generation_) return;
    generation_ = generation;
    std::fill(ranges_.begin(), ranges_.end(), range_cache{});
  }

  std::uint64_t count(block_state& block) {
    std::uint64_t steps = 0;
    for (warp_state& w : block.warps) steps += std::exchange(w.view.executed, 0);
    return launch_.executed.fetch_add(steps, std::memory_order_relaxed) + steps;
  }

  void count_steps(block_state& block) {
    if (count(block) <= launch_.options.step_limit) return;
    for (warp_state& w : block.warps) {
      for (const fragment& f : w.fragments) {
        if (f.state != fragment_state::ready) continue;
        activate(w.view, *f.in);
        const instruction& in = f.in->function->code[f.next];
        report::fault fault = describe_place(w.view, in, __builtin_ctz(f.lanes));
        fault.kind = report::fault_kind::step_limit;
        fault.detail = "more than " + std::to_string(launch_.options.step_limit) +
                       " instructions were executed by all threads";
        fault.hint = "look for a loop that does not end, or raise step_limit";
        throw kernel_fault{fault};
      }
    }
  }

  void keep(const report::fault& fault, std::uint64_t position) {
    std::lock_guard lock{launch_.mutex};
    if (position >= launch_.faulting_block) return;
    launch_.fault = fault;
    launch_.faulting_block = position;
    launch_.last_block = position;
  }

  launch_state& launch_;
  std::uint64_t limit_;
  std::vector<range_cache> ranges_;
  std::uint64_t generation_ = 0;
  std::vector<std::unique_ptr<resident_block>> resident_, unused_;
  bool all_yielded_ = false;
};

std::uint32_t stack_bytes(const kernel_code& code, const run_options& options) {
  std::uint32_t bytes = code.local_bytes;
  if (code.is_recursive && options.stack_bytes > bytes) bytes = options.stack_bytes;
  return (bytes + 15) / 16 * 16;
}

}  // namespace

std::optional<report::fault> refusal(const kernel& entry) {
  return entry.owner().code_of(entry.function()).refusal;
}

outcome run(memory::address_space& space, const launch_request& request,
            const run_options& options) {
  const kernel_code& code = request.entry->owner().code_of(request.entry->function());
  outcome result;
  if (code.refusal) {
    result.fault = code.refusal;
    return result;
  }
  launch_state launch{space, request, options, code};
  launch.shared_bytes = code.static_shared_bytes + request.dynamic_shared_bytes;
  launch.stack_bytes = stack_bytes(code, options);
  launch.warps_per_block =
      static_cast<std::uint32_t>((request.block.count() + warp_size - 1) / warp_size);

  std::uint64_t blocks = request.grid.count();
  std::uint64_t threads =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(options.threads, blocks));
  std::uint64_t resident = request.is_cooperative ? blocks : request.resident_blocks;
  std::uint64_t limit = std::max<std::uint64_t>(1, (resident + threads - 1) / threads);
  std::vector<std::thread> others;
  auto work = [&] { worker{launch, limit}.run(); };
  for (std::uint64_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();

  result.fault = launch.fault;
  result.instructions = launch.executed;
  result.was_cancelled = launch.was_cancelled;
  return result;
}

}  // namespace halfwarp::emulator::exec
