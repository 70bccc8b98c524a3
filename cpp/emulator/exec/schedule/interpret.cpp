// SPDX-License-Identifier: Apache-2.0
// The interpreter's loop, and which fragment of a warp runs next.
//
// The deepest call, and in it the lowest instruction, comes first; it runs until it reaches the
// position of another fragment of its frame. Lanes that diverged so meet again where the compiler
// put the code that follows. Since a fragment could wait for ever on one behind it, after 256
// backward branches the one that has waited longest runs.
#include "emulator/exec/schedule/interpret.hpp"

#include <optional>
#include <utility>

#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/collective.hpp"
#include "emulator/exec/schedule/frame.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t no_stop = ~0u;
constexpr std::uint32_t fair_backward_branches = 256;

enum class leave_reason : std::uint8_t {
  reselect,  // the fragment was given back, or split, or it ended
  rotate,    // another fragment shall run
  yield,     // the warp shall pause
};

// Runs one fragment, which is not in the warp's list meanwhile.
class fragment_run {
 public:
  fragment_run(warp_state& w, fragment f, std::uint32_t stop, bool has_others, std::uint64_t budget)
      : w_{w}, f_{f}, stop_{stop}, has_others_{has_others}, budget_{budget} {
    activate(w.view, *f.in);
    code_ = f.in->function->code.data();
    position_ = segment_ = code_ + f.next;
  }

  leave_reason run() {
    warp& view = w_.view;
    for (;;) {
      const instruction& in = *position_;
      lane_mask active = f_.lanes;
      if (in.guard >= 0) active &= view.predicates[in.guard] ^ in.guard_flip;
      if (!in.needs_attention) [[likely]] {
        if (active) {
          view.active = active;
          in.run(view, in);
        }
        ++position_;
        continue;
      }
      if (index() >= stop_) return give_back();
      if (auto reason = attend(in, active)) return *reason;
    }
  }

  std::uint64_t used() const { return used_; }

 private:
  using result = std::optional<leave_reason>;

  result attend(const instruction& in, lane_mask active) {
    warp& view = w_.view;
    view.active = active;
    switch (in.kind) {
      case flow::next:
        if (active) in.run(view, in);
        ++position_;
        return {};
      case flow::branch: return branch(in, active);
      case flow::call: return active ? call(in, active) : advance();
      case flow::builtin:
        if (active) in.run(view, in);
        return advance();
      case flow::ret: return active ? leave(active, f_.in->depth == 0) : advance();
      case flow::exit: return active ? leave(active, true) : advance();
      case flow::barrier: return active ? barrier(in, active) : advance();
      case flow::collective: return active ? collective(in, active) : advance();
      case flow::yield:
        if (active) in.run(view, in);
        ++position_;
        give_back();
        return leave_reason::yield;
    }
    return {};
  }

  result advance() {
    ++position_;
    return {};
  }

  // Counts what was executed up to, not including, `end`.
  void account(const instruction* end) {
    std::uint64_t steps = static_cast<std::uint64_t>(end - segment_);
    used_ += steps;
    w_.view.executed += steps * lanes_in(f_.lanes);
    segment_ = end;
  }
  std::uint32_t index() const { return static_cast<std::uint32_t>(position_ - code_); }

  leave_reason give_back() {
    f_.next = index();
    account(position_);
    add_ready(w_, f_);
    return leave_reason::reselect;
  }

  // Some lanes go on at `index`, the others behind the instruction.
  void split(lane_mask taken, std::uint32_t index) {
    account(position_ + 1);
    fragment other = f_;
    other.lanes = taken;
    other.next = index;
    ++f_.in->users;
    f_.lanes &= ~taken;
    add_ready(w_, other);
    ++position_;
    give_back();
  }

  result branch(const instruction& in, lane_mask taken) {
    if (!taken) return advance();
    bool is_backward = code_ + in.target <= position_;
    if (taken != f_.lanes) {
      split(taken, in.target);
      return is_backward && is_unfair() ? leave_reason::rotate : leave_reason::reselect;
    }
    account(position_ + 1);
    position_ = segment_ = code_ + in.target;
    if (!is_backward) return {};
    bool gives_way = has_others_ && is_unfair();
    if (!gives_way && used_ < budget_) return {};
    f_.next = in.target;
    add_ready(w_, f_);
    return gives_way ? leave_reason::rotate : leave_reason::yield;
  }

  // Counts a backward branch that others of the warp have to wait for.
  bool is_unfair() {
    if (++w_.backward_branches <= fair_backward_branches) return false;
    w_.backward_branches = 0;
    return true;
  }

  result call(const instruction& in, lane_mask active) {
    if (active != f_.lanes) separate(active);
    f_.next = index();
    account(position_ + 1);
    enter_function(w_, f_, in);
    add_ready(w_, f_);
    return leave_reason::reselect;
  }

  // Lanes that do not execute the instruction become a fragment behind it.
  void separate(lane_mask active) {
    fragment rest = f_;
    rest.lanes &= ~active;
    rest.next = index() + 1;
    ++f_.in->users;
    add_ready(w_, rest);
    f_.lanes = active;
  }

  result leave(lane_mask active, bool is_exit) {
    if (active != f_.lanes) separate(active);
    account(position_ + 1);
    if (is_exit) {
      exit_lanes(w_, f_, active);
    } else {
      leave_function(w_, f_);
      add_ready(w_, f_);
    }
    return leave_reason::reselect;
  }

  result barrier(const instruction& in, lane_mask active) {
    if (active != f_.lanes) separate(active);
    f_.next = index();
    account(position_ + 1);
    arrive(w_, f_, in);
    return leave_reason::reselect;
  }

  result collective(const instruction& in, lane_mask active) {
    if (run_together(w_, in, active)) return advance();
    if (active != f_.lanes) separate(active);
    f_.next = index();
    account(position_ + 1);
    join_collective(w_, f_, in);
    return leave_reason::reselect;
  }

  warp_state& w_;
  fragment f_;
  const instruction* code_;
  const instruction* position_;
  const instruction* segment_;  // since when executed instructions were not counted yet
  std::uint32_t stop_;
  bool has_others_;
  std::uint64_t budget_, used_ = 0;
};

bool is_before(const fragment& a, const fragment& b) {
  if (a.in->depth != b.in->depth) return a.in->depth > b.in->depth;
  return a.next < b.next;
}

// Fragments are appended when they have run, so the first ready one has waited longest.
std::size_t choose(warp_state& w) {
  bool is_rotating = std::exchange(w.is_rotating, false);
  std::size_t best = w.fragments.size();
  for (std::size_t i = 0; i < w.fragments.size(); ++i) {
    if (w.fragments[i].state != fragment_state::ready) continue;
    if (is_rotating) return i;
    if (best == w.fragments.size() || is_before(w.fragments[i], w.fragments[best])) best = i;
  }
  return best;
}

}  // namespace

void add_ready(warp_state& w, const fragment& f) {
  for (fragment& other : w.fragments) {
    bool is_same = other.state == fragment_state::ready && other.next == f.next && other.in == f.in;
    if (!is_same) continue;
    other.lanes |= f.lanes;
    drop_frame(w, f.in);
    return;
  }
  w.fragments.add(f).state = fragment_state::ready;
}

void exit_lanes(warp_state& w, fragment& f, lane_mask lanes) {
  w.view.live &= ~lanes;
  f.lanes &= ~lanes;
  w.view.block->live_threads -= lanes_in(lanes);
  if (!f.lanes) drop_frame(w, f.in);
  threads_exited(w);
}

warp_progress run_warp(warp_state& w, std::uint64_t budget) {
  for (;;) {
    std::size_t chosen = choose(w);
    if (chosen == w.fragments.size()) {
      return w.view.live ? warp_progress::waiting : warp_progress::finished;
    }
    fragment f = w.fragments.take(chosen);
    std::uint32_t stop = no_stop;
    bool has_others = false;
    for (const fragment& other : w.fragments) {
      if (other.state != fragment_state::ready) continue;
      has_others = true;
      if (other.in == f.in && other.next > f.next && other.next < stop) stop = other.next;
    }
    fragment_run run{w, f, stop, has_others, budget};
    leave_reason reason = run.run();
    if (reason == leave_reason::yield) return warp_progress::yielded;
    if (reason == leave_reason::rotate) w.is_rotating = true;
    if (run.used() >= budget) return warp_progress::yielded;
    budget -= run.used();
  }
}

}  // namespace halfwarp::emulator::exec
