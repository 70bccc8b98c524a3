// SPDX-License-Identifier: Apache-2.0
// When to compare states, when to observe, and what follows.
//
// States are compared as in Brent's algorithm: with one that is kept, which is replaced after
// twice as many rounds each time. That finds every period at the cost of one comparison a round.
#include "emulator/exec/watch/lock_watch.hpp"

#include <algorithm>

#include "emulator/exec/watch/fingerprint.hpp"
#include "emulator/exec/watch/rehearsal.hpp"
#include "emulator/exec/watch/wait_graph.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t first_round = 256;  // without an end of a block
// Observed instructions take about twenty times as long: so many always, and a part of all.
constexpr std::uint64_t observed_at_least = 1 << 20, observed_part = 32;

using block_list = std::span<block_state* const>;

std::uint64_t positions_of(block_list blocks) {
  digest made;
  for (const block_state* block : blocks) add_positions(made, *block);
  return made.value();
}

std::uint64_t contents_of(block_list blocks) {
  digest made;
  for (const block_state* block : blocks) add_contents(made, *block);
  return made.value();
}

std::uint64_t bytes_of(block_list blocks) {
  std::uint64_t bytes = 0;
  for (const block_state* block : blocks) bytes += content_bytes(*block);
  return bytes;
}

// Whether each thread of the cycle would go on as one that takes and gives back locks; if not, the
// index of one that would not.
std::optional<std::uint32_t> stranger_in(const wait_graph& graph,
                                         const std::vector<wait_link>& cycle) {
  const awaited_lock* held = cycle.back().lock;
  for (const wait_link& link : cycle) {
    const waiting_thread& t = graph.thread(link.waiter);
    rehearsal_request wanted{t.id.lane, link.lock ? link.lock->taken : nullptr,
                             held ? held->taken : nullptr};
    if (!rehearsal{*t.warp, *t.split, wanted}.succeeds()) return link.waiter;
    held = link.lock;
  }
  return std::nullopt;
}

}  // namespace

void lock_watch::restart() {
  rounds_ = 0;
  kept_ = {};
  stop_observing();
}

void lock_watch::stop_observing() {
  observer_.reset();
  launch_.observed_by = nullptr;
}

bool lock_watch::is_due() { return ++rounds_ >= first_round; }

std::optional<report::fault> lock_watch::after_round(block_list blocks) {
  if (rounds_ >= 2 * kept_.round) {
    stop_observing();
    keep(blocks);
  } else if (observer_ && is_hopeless()) {
    stop_observing();
    is_concluded_ = true;
  } else if (!is_concluded_ && is_back(blocks)) {
    if (observer_) return conclude(blocks);
    observe();
  }
  return std::nullopt;
}

void lock_watch::keep(block_list blocks) {
  is_concluded_ = !launch_.changes;  // nothing can be a lock
  kept_ = {rounds_, 0, 0};
  if (is_concluded_) return;
  kept_ = {rounds_, positions_of(blocks), contents_of(blocks)};
  looked_at_ = launch_.executed.load(std::memory_order_relaxed);
}

// Contents take long to compare: only as often as so many instructions were executed that it does
// not matter.
bool lock_watch::is_back(block_list blocks) {
  if (positions_of(blocks) != kept_.positions) return false;
  auto has_seen_all = [&](const block_state* block) { return observer_->has_seen_all(*block); };
  if (observer_ && !std::all_of(blocks.begin(), blocks.end(), has_seen_all)) return false;
  std::uint64_t executed = launch_.executed.load(std::memory_order_relaxed);
  if (executed - looked_at_ < bytes_of(blocks) / 4) return false;
  looked_at_ = executed;
  return contents_of(blocks) == kept_.contents;
}

bool lock_watch::is_hopeless() const {
  std::uint64_t executed = launch_.executed.load(std::memory_order_relaxed);
  return observer_->is_void() ||
         executed - observed_since_ > observed_at_least + executed / observed_part;
}

void lock_watch::observe() {
  observer_ = std::make_unique<observer>();
  launch_.observed_by = observer_.get();
  observed_since_ = launch_.executed.load(std::memory_order_relaxed);
  changes_before_ = launch_.changes->count();
}

std::optional<report::fault> lock_watch::conclude(block_list blocks) {
  std::optional<report::fault> found;
  if (observer_->is_unchanged()) found = cycle_in(blocks);
  is_concluded_ = true;
  stop_observing();
  return found;
}

std::optional<report::fault> lock_watch::cycle_in(block_list blocks) const {
  wait_graph graph{blocks, *observer_, changes_before_};
  for (;;) {
    std::vector<wait_link> cycle = graph.find_cycle();
    if (cycle.empty()) return std::nullopt;
    auto stranger = stranger_in(graph, cycle);
    if (!stranger) return describe_cycle(graph, cycle);
    graph.release(*stranger);
  }
}

}  // namespace halfwarp::emulator::exec
