// SPDX-License-Identifier: Apache-2.0
// Decides when to compare states and when to observe, and draws the conclusion.
//
// States are compared by Brent's algorithm: with a snapshot whose interval doubles each time. It
// finds every period at the cost of one comparison per round.
#include "emulator/exec/watch/lock_watch.hpp"

#include <algorithm>

#include "emulator/exec/watch/fingerprint.hpp"
#include "emulator/exec/watch/rehearsal.hpp"
#include "emulator/exec/watch/wait_graph.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint64_t first_round = 256;  // rounds in which no block ends
// Limits of observed instructions, which are about twenty times slower: a minimum, and a fraction
// 1/observed_part of all executed instructions.
constexpr std::uint64_t observed_at_least = 1 << 20, observed_part = 32;

using block_list = std::span<block_state* const>;

std::uint64_t positions_of(block_list blocks) {
  digest result;
  for (const block_state* block : blocks) add_positions(result, *block);
  return result.value();
}

std::uint64_t contents_of(block_list blocks) {
  digest result;
  for (const block_state* block : blocks) add_contents(result, *block);
  return result.value();
}

std::uint64_t bytes_of(block_list blocks) {
  std::uint64_t bytes = 0;
  for (const block_state* block : blocks) bytes += content_bytes(*block);
  return bytes;
}

// Checks that each thread of the cycle would continue by acquiring and releasing locks. Returns the
// index of a thread that would not.
std::optional<std::uint32_t> find_non_lock(const wait_graph& graph,
                                           const std::vector<wait_link>& cycle) {
  const awaited_lock* held = cycle.back().lock;
  for (const wait_link& link : cycle) {
    const waiting_thread& t = graph.thread(link.waiter);
    rehearsal_request request{t.id.lane, link.lock ? link.lock->taken : nullptr,
                              held ? held->taken : nullptr};
    if (!rehearsal{*t.warp, *t.split, request}.succeeds()) return link.waiter;
    held = link.lock;
  }
  return std::nullopt;
}

}  // namespace

void lock_watch::restart() {
  rounds_ = 0;
  snapshot_ = {};
  stop_observing();
}

void lock_watch::stop_observing() {
  observer_.reset();
  launch_.observed_by = nullptr;
}

bool lock_watch::is_due() { return ++rounds_ >= first_round; }

std::optional<report::fault> lock_watch::after_round(block_list blocks) {
  if (rounds_ >= 2 * snapshot_.round) {
    stop_observing();
    take_snapshot(blocks);
  } else if (observer_ && is_observed_enough()) {
    stop_observing();
    is_concluded_ = true;
  } else if (!is_concluded_ && has_recurred(blocks)) {
    if (observer_) return conclude(blocks);
    observe();
  }
  return std::nullopt;
}

void lock_watch::take_snapshot(block_list blocks) {
  is_concluded_ = !launch_.changes;  // without changes, no word is a lock
  snapshot_ = {rounds_, 0, 0};
  if (is_concluded_) return;
  snapshot_ = {rounds_, positions_of(blocks), contents_of(blocks)};
  compared_at_ = launch_.executed.load(std::memory_order_relaxed);
}

// Contents are slow to compare, so they are compared only after enough executed instructions.
bool lock_watch::has_recurred(block_list blocks) {
  if (positions_of(blocks) != snapshot_.positions) return false;
  auto has_observed_all = [&](const block_state* block) {
    return observer_->has_observed_all(*block);
  };
  if (observer_ && !std::all_of(blocks.begin(), blocks.end(), has_observed_all)) return false;
  std::uint64_t executed = launch_.executed.load(std::memory_order_relaxed);
  if (executed - compared_at_ < bytes_of(blocks) / 4) return false;
  compared_at_ = executed;
  return contents_of(blocks) == snapshot_.contents;
}

bool lock_watch::is_observed_enough() const {
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
  std::optional<report::fault> fault;
  if (observer_->is_unchanged()) fault = cycle_in(blocks);
  is_concluded_ = true;
  stop_observing();
  return fault;
}

std::optional<report::fault> lock_watch::cycle_in(block_list blocks) const {
  wait_graph graph{blocks, *observer_, changes_before_};
  for (;;) {
    std::vector<wait_link> cycle = graph.find_cycle();
    if (cycle.empty()) return std::nullopt;
    auto non_lock = find_non_lock(graph, cycle);
    if (!non_lock) return describe_cycle(graph, cycle);
    graph.release(*non_lock);
  }
}

}  // namespace halfwarp::emulator::exec
