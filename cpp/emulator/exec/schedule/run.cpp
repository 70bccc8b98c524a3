// SPDX-License-Identifier: Apache-2.0
// Runs a grid: each host thread runs several resident blocks, and a fault ends the launch.
#include "emulator/exec/schedule/run.hpp"

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/exec/access.hpp"
#include "emulator/exec/check/launch_checks.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/profile/launch_counts.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/block.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/schedule/order.hpp"
#include "emulator/exec/schedule/warp/frame.hpp"
#include "emulator/exec/watch/lock_watch.hpp"
#include "emulator/memory/written_bytes.hpp"

namespace halfwarp::emulator::exec {
namespace {

// Sets the default floating-point environment, since another library may have changed it.
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

// Returns a fault of the launch as a whole.
report::fault launch_fault(const launch_request& request, report::fault_kind kind) {
  report::fault f;
  f.kind = kind;
  f.kernel = request.entry->name();
  f.device = request.entry->owner().device;
  f.stream = request.stream;
  f.grid = {request.grid.x, request.grid.y, request.grid.z};
  f.block = {request.block.x, request.block.y, request.block.z};
  return f;
}

report::fault out_of_memory(const launch_request& request, const std::string& purpose) {
  report::fault f = launch_fault(request, report::fault_kind::stack_overflow);
  f.detail = "out of memory for " + purpose;
  return f;
}

void describe_step_limit(report::fault& fault, std::uint64_t limit) {
  fault.kind = report::fault_kind::step_limit;
  fault.detail =
      "more than " + std::to_string(limit) + " instructions were executed by all threads";
  fault.hint = "look for a loop that does not end, or raise step_limit";
}

constexpr std::uint64_t long_rounds = 256;  // rounds in which no block ends

// Returns the number of a block in the grid, in ascending order of z, y, x.
std::uint64_t block_number(const launch_request& request, std::uint64_t cluster,
                           std::uint32_t rank) {
  const extent& size = request.cluster;
  const auto first = first_block(request, cluster);
  const std::uint64_t x = first[0] + rank % size.x, y = first[1] + rank / size.x % size.y;
  const std::uint64_t z = first[2] + rank / size.x / size.y;
  return x + request.grid.x * (y + request.grid.y * z);
}

struct resident_block {
  block_state block;
  std::uint64_t position = 0;  // in the start order of blocks
  std::shared_ptr<cluster_state> cluster;
};

// Runs blocks of a launch on one host thread.
class worker {
 public:
  worker(launch_state& launch, std::uint64_t resident_limit)
      : launch_{launch},
        limit_{resident_limit},
        ranges_(launch.code.range_caches + 1),
        watch_{launch} {
    if (launch.counts) counts_ = std::make_unique<launch_counts>(launch);
  }

  void run() {
    try {
      run_blocks();
    } catch (const std::bad_alloc&) {
      record_fault(out_of_memory(launch_.request, "the blocks, each thread with " +
                                                      std::to_string(launch_.stack_bytes) +
                                                      " bytes of local memory"),
                   0);
    }
    if (counts_) add_counts();
  }

 private:
  void add_counts() {
    std::lock_guard lock{launch_.mutex};
    launch_.counts->add(*counts_);
  }

  void run_blocks() {
    floating_point_defaults defaults;
    while (may_continue()) {
      bool can_add_block = resident_.size() < limit_ &&
                           (resident_.empty() || all_yielded_ || launch_.request.is_cooperative);
      if (can_add_block && start_cluster()) {
        if (launch_.request.is_cooperative) continue;
      } else if (resident_.empty()) {
        return;
      }
      run_round_of_all();
      if (launch_.is_watched) check_lock_cycles();
    }
  }

  bool may_continue() {
    const auto* canceled = launch_.options.canceled;
    if (canceled && canceled->load(std::memory_order_relaxed)) launch_.was_canceled = true;
    return !launch_.was_canceled.load(std::memory_order_relaxed);
  }

  // Starts the blocks of a cluster, which run on one host thread.
  bool start_cluster() {
    const auto start = next_cluster(launch_);
    if (!start) return false;
    const std::uint64_t size = launch_.request.cluster.count();
    const auto cluster = take_cluster();
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      start_block(cluster, start->number, rank).position = start->position * size + rank;
    }
    watch_.restart();
    return true;
  }

  std::shared_ptr<cluster_state> take_cluster() {
    if (unused_clusters_.empty()) return std::make_shared<cluster_state>();
    std::shared_ptr<cluster_state> taken = std::move(unused_clusters_.back());
    unused_clusters_.pop_back();
    return taken;
  }

  resident_block& start_block(const std::shared_ptr<cluster_state>& cluster,
                              std::uint64_t cluster_number, std::uint32_t rank) {
    std::unique_ptr<resident_block> started;
    if (unused_.empty()) {
      started = std::make_unique<resident_block>();
      prepare(started->block, launch_, ranges_.data());
      started->block.counts = counts_.get();
    } else {
      started = std::move(unused_.back());
      unused_.pop_back();
    }
    block_state& block = started->block;
    cluster->blocks.push_back(&block);
    started->cluster = cluster;
    block.cluster = cluster.get();
    block.rank = rank;
    begin(block, block_number(launch_.request, cluster_number, rank));
    return *resident_.emplace_back(std::move(started));
  }

  void run_round_of_all() {
    if (++rounds_ == long_rounds && launch_.options.on_long_run &&
        !launch_.has_run_long.exchange(true)) {
      launch_.options.on_long_run();
    }
    all_yielded_ = true;
    for (std::size_t i = 0; i < resident_.size();) {
      refresh_ranges();
      block_progress progress = run_one(*resident_[i]);
      if (progress != block_progress::yielded) all_yielded_ = false;
      if (progress != block_progress::finished) {
        ++i;
        continue;
      }
      rounds_ = 0;
      watch_.restart();
      end(*resident_[i]);
      unused_.push_back(std::move(resident_[i]));
      resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  // The block's copies end with it, since nothing may wait for them.
  void end(resident_block& resident) {
    resident.cluster->copies.complete_all();
    resident.cluster->tensor_cores.complete_all();
    resident.cluster->blocks[resident.block.rank] = nullptr;
    if (resident.cluster.use_count() > 1 || resident.cluster->has_fault) {
      return resident.cluster.reset();
    }
    resident.cluster->blocks.clear();  // the last block of its cluster
    resident.cluster->arrived = 0;
    unused_clusters_.push_back(std::move(resident.cluster));
  }

  // Ends all resident blocks with a fault if their threads wait for each other's locks.
  void check_lock_cycles() {
    if (!watch_.is_due()) return;
    blocks_.clear();
    for (const auto& resident : resident_) blocks_.push_back(&resident->block);
    auto fault = watch_.after_round(blocks_);
    if (!fault) return;
    record_fault(*fault, 0);
    resident_.clear();
  }

  block_progress run_one(resident_block& resident) {
    const bool is_unneeded = resident.position > launch_.last_block || resident.cluster->has_fault;
    if (is_unneeded) return block_progress::finished;
    try {
      block_progress progress = run_round(resident.block);
      check_limits(resident.block);
      return progress;
    } catch (const kernel_fault& fault) {
      record_fault(fault.record, resident.position);
      resident.cluster->has_fault = true;
      count(resident.block);
      return block_progress::finished;
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

  bool is_interrupted() const {
    const auto* interruptions = launch_.options.interruptions;
    return interruptions && interruptions->load(std::memory_order_relaxed) != launch_.interruptions;
  }

  // Throws a fault if the launch reached its step limit, or the user interrupted it.
  void check_limits(block_state& block) {
    const bool is_over_limit = count(block) > launch_.options.step_limit;
    if (!is_over_limit && !is_interrupted()) return;
    for (warp_state& w : block.warps) {
      for (const warp_split& f : w.splits) {
        activate(w.view, *f.top_frame);
        const instruction& instr = f.top_frame->function->code[f.next];
        report::fault fault = describe_fault(w.view, instr, __builtin_ctz(f.lanes));
        describe_limit(fault, is_over_limit);
        throw kernel_fault{fault};
      }
    }
  }

  void describe_limit(report::fault& fault, bool is_over_limit) const {
    if (is_over_limit) {
      describe_step_limit(fault, launch_.options.step_limit);
    } else {
      fault.kind = report::fault_kind::interrupted;
      fault.detail = "SIGINT (Ctrl-C) ended the kernel";
    }
  }

  void record_fault(const report::fault& fault, std::uint64_t position) {
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
  std::vector<std::shared_ptr<cluster_state>> unused_clusters_;
  bool all_yielded_ = false;
  std::uint64_t rounds_ = 0;  // since the last block ended
  lock_watch watch_;
  std::vector<block_state*> blocks_;  // resident blocks, for the watch
  std::unique_ptr<launch_counts> counts_;
};

// Allocates the two words in which blocks of a cooperative launch count arrivals.
class grid_workspace {
 public:
  grid_workspace(memory::address_space& space, const launch_request& request) : space_{space} {
    if (!request.is_cooperative) return;
    memory::allocation_request allocation;
    allocation.size = workspace_bytes;
    allocation.device = request.entry->owner().device;
    allocation.is_internal = true;
    allocation.name = "workspace of the cooperative launch";
    auto words = space_.allocate(allocation);
    if (!words) return;
    std::memset(space_.view(*words), 0, workspace_bytes);
    base_ = *words;
  }
  ~grid_workspace() {
    if (base_) space_.release(base_);
  }
  grid_workspace(const grid_workspace&) = delete;  // frees its memory once
  grid_workspace& operator=(const grid_workspace&) = delete;
  memory::address base() const { return base_; }

 private:
  static constexpr std::uint64_t workspace_bytes = 8;
  memory::address_space& space_;
  memory::address base_ = 0;
};

std::uint32_t stack_bytes(const kernel_code& code, const run_options& options) {
  std::uint32_t bytes = code.local_bytes;
  if (code.is_recursive && options.stack_bytes > bytes) bytes = options.stack_bytes;
  if (code.allocates_stack) bytes += options.stack_bytes;
  return (bytes + 15) / 16 * 16;
}

}  // namespace

std::optional<report::fault> refusal(const kernel& entry) {
  return code_of(entry.owner(), entry.function()).refusal;
}

namespace {

// Sets the results of a grid whose threads have ended.
void collect(const launch_state& launch, const launch_checks* checks, outcome& result) {
  result.fault = launch.fault;
  if (checks) result.findings = checks->findings();
  if (checks && checks->races) {
    result.writes.push_back(
        std::make_shared<report::launch_writes>(checks->races->writes(launch.definedness)));
  }
  if (checks && checks->accesses) result.accesses = checks->accesses->ranges();
  if (checks && checks->forms) result.forms = checks->forms->rows();
  if (launch.counts) {
    launch.counts->marks().add_to_totals();
    if (launch.counts->has_instructions()) result.profiles.push_back(launch.counts->profile());
  }
  result.instructions = launch.executed;
  result.was_canceled = launch.was_canceled;
}

// Runs one grid. Appends the work that its threads submit to `children`.
outcome run_grid(memory::address_space& space, const launch_request& request,
                 const run_options& options, std::vector<device_work>& children) {
  const kernel_code& code = code_of(request.entry->owner(), request.entry->function());
  outcome result;
  if (code.refusal) {
    result.fault = code.refusal;
    return result;
  }
  launch_state launch{space, request, options, code};
  grid_workspace workspace{space, request};
  if (request.is_cooperative && !workspace.base()) {
    result.fault = out_of_memory(request, "the workspace of a cooperative launch");
    return result;
  }
  launch.grid_workspace = workspace.base();
  launch.shared_bytes = launch.reserved_shared =
      code.static_shared_bytes + request.dynamic_shared_bytes;
  if (code.reads_reserved_shared) {
    launch.reserved_shared = (launch.shared_bytes + 15) / 16 * 16;
    launch.shared_bytes = launch.reserved_shared + reserved_shared_bytes;
  }
  launch.stack_bytes = stack_bytes(code, options);
  if (options.interruptions) launch.interruptions = options.interruptions->load();
  launch.warps_per_block =
      static_cast<std::uint32_t>((request.block.count() + warp_size - 1) / warp_size);

  const std::uint64_t blocks = request.grid.count(), clusters = blocks / request.cluster.count();
  const std::unique_ptr<launch_checks> checks = launch_checks::create(launch);
  const unsigned most_threads = checks ? 1 : options.threads;
  std::uint64_t threads =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(most_threads, clusters));
  if (checks) {
    launch.checks = checks.get();
    if (options.check_races) launch.races = checks->races.get();
    launch.definedness = checks->definedness.get();
    launch.barriers = checks->barriers.get();
  }
  std::uint64_t resident = request.is_cooperative ? blocks : request.resident_blocks;
  std::uint64_t limit = std::max<std::uint64_t>(1, (resident + threads - 1) / threads);
  launch.counts = launch_counts::create(launch);
  const bool has_instructions = launch.counts && launch.counts->has_instructions();
  launch.is_followed = checks || has_instructions;
  launch.is_watched = options.check_sync && threads == 1;
  std::vector<std::thread> helpers;
  auto work = [&] { worker{launch, limit}.run(); };
  for (std::uint64_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();

  collect(launch, checks.get(), result);
  if (launch.children) children = launch.children->finish();
  return result;
}

void run_copy(memory::address_space& space, const device_work& work) {
  if (work.bytes == 0) return;
  std::byte* const to = space.view(work.to);
  const memory::written_bytes* const states = space.states();
  if (work.from) {
    std::memmove(to, space.view(work.from), work.bytes);
    if (states) states->copy(work.to, work.from, work.bytes);
  } else {
    std::memset(to, work.fill, work.bytes);
    if (states) states->mark(work.to, work.bytes, memory::written);
  }
}

std::shared_ptr<const report::launch_writes> writes_of(const device_work& copy) {
  auto result = std::make_shared<report::launch_writes>();
  constexpr std::uint64_t most = 1 << 30;  // bytes of an entry
  for (std::uint64_t at = 0; at < copy.bytes; at += most) {
    const std::uint64_t bytes = std::min(most, copy.bytes - at);
    result->entries.push_back({copy.to + at, static_cast<std::uint32_t>(bytes)});
  }
  return result;
}

// Runs grids and the grids that they launch.
class grid_tree {
 public:
  grid_tree(memory::address_space& space, const launch_request& root, const run_options& options)
      : space_{space}, root_{root}, options_{options} {}

  outcome run() {
    run_one(root_, root_.nesting);
    while (!pending_.empty() && !result_.fault && !result_.was_canceled) {
      const device_work work = std::move(pending_.back());
      pending_.pop_back();
      if (work.entry) {
        run_one(request_for(work), work.nesting);
      } else {
        run_copy(space_, work);
        const bool is_recorded = options_.check_races || options_.check_init;
        if (is_recorded && work.bytes) result_.writes.push_back(writes_of(work));
      }
    }
    return std::move(result_);
  }

 private:
  launch_request request_for(const device_work& work) {
    constexpr std::uint64_t child_ids = std::uint64_t{1} << 32;
    launch_request request = root_;
    request.entry = work.entry;
    request.grid = work.grid;
    request.block = work.block;
    request.cluster = work.cluster;
    request.dynamic_shared_bytes = work.dynamic_shared_bytes;
    request.parameters = work.parameters;
    request.is_cooperative = false;
    request.grid_id = root_.grid_id + ++children_ * child_ids;
    request.nesting = work.nesting;
    return request;
  }

  // Puts the children on a stack: they end before the work that their parent was submitted with.
  void run_one(const launch_request& request, std::uint32_t nesting) {
    run_options options = options_;
    options.step_limit -= std::min(result_.instructions, options.step_limit);
    std::vector<device_work> children;
    outcome one = run_grid(space_, request, options, children);
    // Chains of short grids reach the limit between grids.
    if (!one.fault && one.instructions > options.step_limit) {
      one.fault = launch_fault(request, report::fault_kind::step_limit);
      describe_step_limit(*one.fault, options_.step_limit);
    }
    for (device_work& child : children) child.nesting = nesting + !child.is_tail;
    std::move(children.rbegin(), children.rend(), std::back_inserter(pending_));
    result_.fault = std::move(one.fault);
    result_.was_canceled = one.was_canceled;
    result_.instructions += one.instructions;
    std::ranges::move(one.findings, std::back_inserter(result_.findings));
    std::ranges::move(one.writes, std::back_inserter(result_.writes));
    std::ranges::move(one.profiles, std::back_inserter(result_.profiles));
    std::ranges::move(one.forms, std::back_inserter(result_.forms));
    std::ranges::move(one.accesses, std::back_inserter(result_.accesses));
  }

  memory::address_space& space_;
  const launch_request& root_;
  const run_options& options_;
  outcome result_;
  std::vector<device_work> pending_;
  std::uint64_t children_ = 0;
};

}  // namespace

outcome run(memory::address_space& space, const launch_request& request,
            const run_options& options) {
  return grid_tree{space, request, options}.run();
}

}  // namespace halfwarp::emulator::exec
