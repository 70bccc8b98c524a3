// SPDX-License-Identifier: Apache-2.0
// mbarrier: a barrier in shared memory that counts arrivals and bytes, phase after phase.
//
// The 8 bytes of the barrier are its state, so that a program that overwrites them breaks it. One
// host thread runs a block, so the state needs no atomic access.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/async.hpp"
#include "emulator/exec/schedule/cluster.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t barrier_bytes = 8;
constexpr std::int64_t max_count = (1 << 20) - 1;  // of arrivals, and of bytes in both directions
constexpr std::int64_t max_early = 1 << 14;        // arrivals of copies in flight
constexpr std::uint64_t mark = 2;                  // of a valid state, in two bits

struct state {
  bool phase = false;  // parity
  std::int64_t expected = 0, pending = 0, bytes = 0;
  bool is_valid = true;

  static state from(std::uint64_t word) {
    state s;
    s.is_valid = word >> 62 == mark;
    s.phase = word >> 61 & 1;
    s.expected = static_cast<std::int64_t>(word & 0xf'ffff);
    s.pending = static_cast<std::int64_t>(word >> 20 & 0xf'ffff);
    s.bytes = static_cast<std::int64_t>(word >> 40 & 0x1f'ffff) - max_count;
    return s;
  }
  std::uint64_t word() const {
    return mark << 62 | std::uint64_t{phase} << 61 |
           static_cast<std::uint64_t>(bytes + max_count) << 40 |
           static_cast<std::uint64_t>(pending) << 20 | static_cast<std::uint64_t>(expected);
  }
  // A token has the phase and the pending count.
  std::uint64_t token() const {
    return std::uint64_t{phase} << 61 | static_cast<std::uint64_t>(pending) << 20;
  }
  // Arrivals of asynchronous copies raise the pending count before they lower it.
  bool is_whole() const { return is_valid && pending <= expected + max_early; }
  void complete_if_due() {
    if (pending != 0 || bytes != 0) return;
    phase = !phase;
    pending = expected;
  }
};

class lane_barrier {
 public:
  lane_barrier(warp& w, const instruction& instr, int lane)
      : w_{w}, instr_{instr}, lane_{lane}, operation_{phase_operation{instr.immediate}} {}

  void run() {
    if (operation_ == phase_operation::pending_count) {
      set_result(static_cast<std::uint32_t>(state::from(operand64(1)).pending));
      return;
    }
    std::byte* const cell =
        shared_bytes_at(w_, w_.at<std::uint64_t>(instr_.operand[4])[lane_], barrier_bytes);
    if (is_test()) complete_late_copies(cell);
    std::uint64_t word;
    std::memcpy(&word, cell, sizeof word);
    if (operation_ == phase_operation::init) {
      s_.expected = s_.pending = operand32(1);
      if (s_.pending < 1 || s_.pending > max_count) raise("the count of arrivals is", s_.pending);
    } else {
      s_ = state::from(word);
      if (!s_.is_whole()) raise_invalid();
      update();
    }
    word = operation_ == phase_operation::invalidate ? 0 : s_.word();
    std::memcpy(cell, &word, sizeof word);
  }

 private:
  bool is_test() const {
    return operation_ == phase_operation::test || operation_ == phase_operation::test_parity;
  }

  // A test is where a thread waits for copies, so they end here at the latest.
  void complete_late_copies(const std::byte* cell) {
    bulk_queue& copies = w_.block->cluster->copies;
    if (!copies.is_empty()) copies.complete_for(cell);
    cluster_state& cluster = *w_.block->cluster;
    if (!cluster.tensor_cores.is_empty()) cluster.tensor_cores.complete_for(cell, cluster);
  }

  void update() {
    switch (operation_) {
      case phase_operation::arrive:
      case phase_operation::arrive_drop:
      case phase_operation::arrive_after_copies:
        return arrive();
      case phase_operation::expect:
        return add_bytes(operand32(1));
      case phase_operation::complete:
        return add_bytes(-std::int64_t{operand32(1)});
      case phase_operation::test:
        return set_predicate((operand64(1) >> 61 & 1) != s_.phase);
      case phase_operation::test_parity:
        return set_predicate((operand32(1) & 1) != s_.phase);
      default:
        return;
    }
  }

  void arrive() {
    if (instr_.flags & phase_flag::adds_pending) s_.pending = checked(s_.pending + 1);
    std::int64_t count = 1;
    if (instr_.flags & phase_flag::expects) {
      s_.bytes = checked(s_.bytes + operand32(1));
    } else if (operation_ != phase_operation::arrive_after_copies) {
      count = operand32(1);
    }
    if (instr_.operand[0] != no_result) w_.at<std::uint64_t>(instr_.operand[0])[lane_] = s_.token();
    if (count < 1 || count > s_.pending) {
      raise("the pending count is " + std::to_string(s_.pending) + ", and the arrivals are", count);
    }
    if (operation_ == phase_operation::arrive_drop) s_.expected -= count;
    s_.pending -= count;
    const bool is_complete = s_.pending == 0 && s_.bytes == 0;
    if (is_complete && (instr_.flags & phase_flag::must_not_complete)) {
      raise("an arrival with .noComplete completes the phase, with the count", count);
    }
    s_.complete_if_due();
  }

  void add_bytes(std::int64_t bytes) {
    s_.bytes = checked(s_.bytes + bytes);
    s_.complete_if_due();
  }

  std::int64_t checked(std::int64_t count) const {
    if (count > max_count || count < -max_count) raise("a count of the barrier would be", count);
    return count;
  }

  std::uint32_t operand32(int n) const { return w_.at<std::uint32_t>(instr_.operand[n])[lane_]; }
  std::uint64_t operand64(int n) const { return w_.at<std::uint64_t>(instr_.operand[n])[lane_]; }
  void set_result(std::uint32_t value) { w_.at<std::uint32_t>(instr_.operand[0])[lane_] = value; }
  void set_predicate(bool value) {
    lane_mask& p = w_.predicates[instr_.operand[0]];
    p = (p & ~(1u << lane_)) | static_cast<lane_mask>(value) << lane_;
  }

  [[noreturn]] void raise(std::string detail, std::int64_t count) const {
    report::fault f = describe_fault(w_, instr_, lane_);
    f.kind = report::fault_kind::divergent_barrier;
    f.detail = std::move(detail) + " " + std::to_string(count);
    f.hint = "counts of an mbarrier are 1 to 1048575, and no thread may arrive too often";
    throw kernel_fault{f};
  }
  [[noreturn]] void raise_invalid() const {
    report::fault f = describe_fault(w_, instr_, lane_);
    f.kind = report::fault_kind::divergent_barrier;
    f.detail = "there is no mbarrier at offset " +
               std::to_string(w_.at<std::uint64_t>(instr_.operand[4])[lane_]) + " of shared memory";
    f.hint =
        "initialize it with mbarrier.init before other threads use it, and write nothing to it";
    throw kernel_fault{f};
  }

  warp& w_;
  const instruction& instr_;
  int lane_;
  phase_operation operation_;
  state s_;
};

std::uint64_t offset_of(warp& w, const instruction& instr, int lane) {
  return w.at<std::uint64_t>(instr.operand[4])[lane];
}

void require_aligned(warp& w, const instruction& instr) {
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    const std::uint64_t at = offset_of(w, instr, std::countr_zero(remaining));
    if (at % barrier_bytes == 0 && shared_bytes_at(w, at, barrier_bytes)) continue;
    raise_shared_fault(w, instr, {report::access_kind::atomic, barrier_bytes}, &offset_of);
  }
}

// Changes the barrier at a host address. A program may have overwritten it in the meantime.
template <class Change>
void update_state(std::byte* barrier, Change&& apply) {
  std::uint64_t word;
  std::memcpy(&word, barrier, sizeof word);
  state s = state::from(word);
  if (!s.is_whole()) return;
  apply(s);
  s.complete_if_due();
  word = s.word();
  std::memcpy(barrier, &word, sizeof word);
}

}  // namespace

void complete_bytes(std::byte* barrier, std::uint32_t bytes) {
  update_state(barrier, [&](state& s) { s.bytes = std::max(s.bytes - bytes, -max_count); });
}

void complete_arrival(std::byte* barrier) {
  update_state(barrier, [](state& s) { s.pending = std::max<std::int64_t>(s.pending - 1, 0); });
}

void raise_pending(std::byte* barrier) {
  update_state(barrier, [](state& s) { s.pending = std::min(s.pending + 1, max_count); });
}

void run_phase_barrier(warp& w, const instruction& instr) {
  if (phase_operation{instr.immediate} != phase_operation::pending_count) require_aligned(w, instr);
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    lane_barrier{w, instr, std::countr_zero(remaining)}.run();
  }
}

}  // namespace halfwarp::emulator::exec
