// SPDX-License-Identifier: Apache-2.0
// The interpreter's loop, and the choice of the split that runs next.
//
// The split with the deepest call and the lowest instruction runs first, until it reaches the
// position of another split of its frame. Diverged lanes therefore reconverge at the code that
// follows the branch. A split could wait for one behind it without end, so after 256 backward
// branches the split that has waited longest runs.
#include "emulator/exec/schedule/warp/interpret.hpp"

#include <optional>
#include <type_traits>
#include <utility>

#include "emulator/exec/check/launch_checks.hpp"
#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/profile/launch_counts.hpp"
#include "emulator/exec/schedule/barrier.hpp"
#include "emulator/exec/schedule/transcript.hpp"
#include "emulator/exec/schedule/warp/collective.hpp"
#include "emulator/exec/schedule/warp/frame.hpp"
#include "emulator/exec/schedule/warp/passage.hpp"
#include "emulator/exec/watch/observer.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t no_stop = ~0u;
constexpr std::uint32_t fair_backward_branches = 256;

enum class leave_reason : std::uint8_t {
  reselect,  // the split was returned to the list, was divided, or ended
  rotate,    // another split must run
  yield,     // the warp must pause
  wait,      // the only split of the warp waits at a barrier
};

// Observed and counted runs are compiled separately, so that normal runs have no overhead.
enum class run_kind : std::uint8_t {
  normal,
  counted,   // for a profile
  observed,  // for checks, and for a profile if there is one
};

// Runs one split. It stays in the warp's list while it runs, and new splits are only appended.
template <run_kind Kind>
class split_run {
 public:
  split_run(warp_state& w, std::size_t self, std::uint32_t stop, bool has_others,
            std::uint64_t budget)
      : w_{w},
        f_{w.splits[self]},
        self_{self},
        has_others_{has_others},
        budget_{budget},
        counter_{w.view.block->counts, *f_.top_frame->function} {
    f_.state = split_state::running;
    activate(w.view, *f_.top_frame);
    const function_code& function = *f_.top_frame->function;
    code_ = Kind == run_kind::normal ? function.tuned.data() : function.code.data();
    followed_ = code_;
    if constexpr (Kind == run_kind::observed) {
      const bool is_checked = launch_->checks && !launch_->observed_by;
      is_checked_ = is_checked && !w.view.block->counts;
      if (is_checked) followed_ = launch_->checks->followed_code(function);
    }
    start_at_next();
    stop_at_ = stop == no_stop ? code_ + function.code.size() : code_ + stop;
  }

  leave_reason run() {
    if constexpr (Kind == run_kind::normal) {
      return run_instructions();
    } else {
      try {
        return run_instructions();
      } catch (const kernel_fault&) {
        account(position_ + 1);  // a profile includes the instruction that faults
        throw;
      }
    }
  }

  std::uint64_t used() const { return used_; }

 private:
  using result = std::optional<leave_reason>;

  leave_reason run_instructions() {
    warp& view = w_.view;
    for (;;) {
      if constexpr (Kind == run_kind::normal) run_plain();
      const instruction& instr = *position_;
      lane_mask active = f_.lanes;
      if (instr.guard >= 0) {
        active &= view.predicates[instr.guard] ^ instr.guard_flip;
        counter_.on_guard(instr, active);
        record_guard(instr, active);
      }
      if (!instr.needs_attention) [[likely]] {
        if (active) {
          view.active = active;
          if (run_seen(instr)) continue;
          execute(instr, active);
        }
        position_ += followed(instr).width;
        continue;
      }
      if (position_ >= stop_at_) return return_split();
      if constexpr (Kind == run_kind::normal) {
        if (instr.kind == flow::barrier && active == view.live && w_.splits.size() == 1 &&
            is_common_barrier(instr)) {
          if (auto reason = wait_at_barrier(instr)) return *reason;
          continue;
        }
      }
      if (auto reason = dispatch(instr, active)) return *reason;
    }
  }

  // Runs tuned instructions without a guard, up to one that needs attention.
  [[gnu::always_inline]] void run_plain() {
    warp& view = w_.view;
    view.active = f_.lanes;
    const instruction* at = position_;
    for (; at->is_plain; at += at->width) at->run(view, *at);
    position_ = at;
  }

  [[gnu::always_inline]] void execute(const instruction& instr, lane_mask active) {
    observe(instr, active);
    counter_.on_access(w_.view, instr, active);
    run_tuned(instr, followed(instr));
  }
  // Other handlers may keep the address of their instruction, which names a site of a check.
  [[gnu::always_inline]] void run_tuned(const instruction& instr, const instruction& tuned) {
    const instruction& run = tuned.run == instr.run ? instr : tuned;
    run.run(w_.view, run);
  }
  // Returns the instruction that runs in place of one that a check has seen.
  [[gnu::always_inline]] const instruction& followed(const instruction& instr) const {
    if constexpr (Kind == run_kind::observed) return followed_[&instr - code_];
    return instr;
  }
  // Runs tuned instructions whose accesses the checks have seen.
  [[gnu::always_inline]] bool run_seen(const instruction& instr) {
    if (Kind != run_kind::observed || !is_checked_) return false;
    const std::uint32_t end = instr.guard < 0 ? launch_->checks->seen_until(w_.view, instr) : 0;
    if (end == 0) return false;
    const instruction* const tuned = f_.top_frame->function->tuned.data();
    std::uint32_t at = index();
    for (; at < end; at += tuned[at].width) run_tuned(code_[at], tuned[at]);
    position_ = code_ + at;
    return true;
  }
  [[gnu::always_inline]] void record_guard(const instruction& instr, lane_mask active) {
    if constexpr (Kind == run_kind::observed) {
      if (transcript* const recorder = w_.view.block->recorder) {
        recorder->record_guard(w_.view, instr, f_.lanes, active);
      }
    }
  }
  [[gnu::always_inline]] void observe(const instruction& instr, lane_mask active) {
    if constexpr (Kind == run_kind::observed) {
      const launch_state& launch = *launch_;
      if (transcript* const recorder = w_.view.block->recorder) {
        recorder->record(w_.view, instr, active);
      }
      if (launch.observed_by) launch.observed_by->record(w_.view, instr, active);
      if (launch_checks* const checks = launch.checks) {
        const bool is_concern = checks->concern(w_.view, instr);
        if (is_concern || w_.view.current->undefined) checks->record(w_.view, instr, active);
      }
    }
  }

  result dispatch(const instruction& instr, lane_mask active) {
    warp& view = w_.view;
    view.active = active;
    if constexpr (Kind == run_kind::observed) {
      auto* definedness = launch_->definedness;
      if (definedness && instr.kind != flow::next) definedness->record_flow(view, instr, f_.lanes);
      if (launch_->checks && active) launch_->checks->concern(view, instr);
    }
    switch (instr.kind) {
      case flow::next:
        if (active) execute(instr, active);
        position_ += followed(instr).width;
        return {};
      case flow::branch:
        return branch(instr, active);
      case flow::call:
        return active ? call(instr, active) : advance();
      case flow::builtin:
        if (active) instr.run(view, instr);
        return advance();
      case flow::ret:
        return active ? leave(active, f_.top_frame->depth == 0) : advance();
      case flow::exit:
        return active ? leave(active, true) : advance();
      case flow::barrier:
        return active ? barrier(instr, active) : advance();
      case flow::collective:
        return active ? collective(instr, active) : advance();
      case flow::yield:
        if (active) execute(instr, active);
        ++position_;
        return_split();
        return leave_reason::yield;
    }
    return {};
  }

  result advance() {
    ++position_;
    return {};
  }

  void start_at_next() {
    position_ = segment_ = code_ + f_.next;
    if constexpr (Kind == run_kind::counted) return;
    const instruction& first = followed(*position_);
    if (first.shape == fixed_shape && first.is_plain) position_ += first.width;
  }

  // Counts the instructions executed before `end`.
  void account(const instruction* end) {
    std::uint64_t steps = static_cast<std::uint64_t>(end - segment_);
    used_ += steps;
    w_.view.executed += steps * lanes_in(f_.lanes);
    counter_.on_segment(segment_, end, lanes_in(f_.lanes));
    segment_ = end;
  }
  std::uint32_t index() const { return static_cast<std::uint32_t>(position_ - code_); }

  leave_reason return_split() {
    f_.next = index();
    account(position_);
    make_ready(w_, self_);
    return leave_reason::reselect;
  }

  // Moves lanes to a new split.
  void split_off(lane_mask lanes, std::uint32_t next) {
    warp_split other;
    other.lanes = lanes;
    other.top_frame = f_.top_frame;
    other.next = next;
    ++f_.top_frame->users;
    f_.lanes &= ~lanes;
    add_ready(w_, other);
  }

  result branch(const instruction& instr, lane_mask taken) {
    counter_.on_branch(instr, taken, f_.lanes);
    if (!taken) return advance();
    bool is_backward = code_ + instr.target <= position_;
    account(position_ + 1);
    if (taken != f_.lanes) {
      split_off(taken, instr.target);
      ++position_;
      return_split();
      return is_backward && is_unfair() ? leave_reason::rotate : leave_reason::reselect;
    }
    position_ = segment_ = code_ + instr.target;
    if (!is_backward) return {};
    bool must_rotate = has_others_ && is_unfair();
    if (!must_rotate && used_ < budget_) return {};
    return_split();
    return must_rotate ? leave_reason::rotate : leave_reason::yield;
  }

  // Counts a backward branch for which other splits wait. Returns true if one of them must run.
  bool is_unfair() {
    if (++w_.backward_branches <= fair_backward_branches) return false;
    w_.backward_branches = 0;
    return true;
  }

  // Ends the run at this instruction for the active lanes. Other lanes become a new split.
  void end_run_at(lane_mask active) {
    account(position_ + 1);
    f_.next = index();
    if (active != f_.lanes) split_off(f_.lanes & ~active, f_.next + 1);
  }

  result call(const instruction& instr, lane_mask active) {
    lane_mask together = active;
    const function_code& callee = callee_of(w_, f_, instr, together);
    end_run_at(active);
    if (together != active) split_off(active & ~together, f_.next);
    enter_function(w_, f_, instr, callee);
    make_ready(w_, self_);
    return leave_reason::reselect;
  }

  result leave(lane_mask active, bool is_exit) {
    end_run_at(active);
    if (is_exit) {
      exit_threads();
    } else {
      leave_function(w_, f_);
      make_ready(w_, self_);
    }
    return leave_reason::reselect;
  }

  void exit_threads() {
    warp_split ended = w_.splits.extract(self_);
    w_.view.live &= ~ended.lanes;
    w_.view.block->live_threads -= lanes_in(ended.lanes);
    release_frame(w_, ended.top_frame);
    update_after_exit(w_, ended.lanes);
  }

  result barrier(const instruction& instr, lane_mask active) {
    observe(instr, active);
    end_run_at(active);
    arrive(w_, self_, instr);
    return leave_reason::reselect;
  }

  // All threads of the warp wait for the block. The last warp that arrives continues.
  result wait_at_barrier(const instruction& instr) {
    account(position_ + 1);
    f_.next = index();
    if (!arrive_together(w_, instr)) return leave_reason::wait;
    if (used_ >= budget_ || instr.cache) return leave_reason::reselect;
    f_.state = split_state::running;
    start_at_next();
    return {};
  }

  result collective(const instruction& instr, lane_mask active) {
    observe(instr, active);
    counter_.on_access(w_.view, instr, active);
    if (run_together(w_, instr, active)) return advance();
    end_run_at(active);
    join_collective(w_, self_, instr);
    return leave_reason::reselect;
  }

  warp_state& w_;
  const launch_state* const launch_ = w_.view.block->launch;
  warp_split& f_;
  std::size_t self_;  // index in the list
  const instruction* code_;
  const instruction* followed_;  // runs in place of `code_`, at the same index
  const instruction* position_;
  const instruction* segment_;  // first instruction that is not counted yet
  const instruction* stop_at_;  // another split waits there
  bool has_others_;
  bool is_checked_ = false;  // and not counted
  std::uint64_t budget_, used_ = 0;
  [[no_unique_address]] std::conditional_t<Kind == run_kind::normal, no_counter, segment_counter>
      counter_;
};

bool is_before(const warp_split& a, const warp_split& b) {
  if (a.top_frame->depth != b.top_frame->depth) return a.top_frame->depth > b.top_frame->depth;
  return a.next < b.next;
}

// A split that yields moves to the end, so the first ready split has waited longest.
std::size_t find_next(const warp_state& w, bool is_rotating) {
  std::size_t best = w.splits.size();
  for (std::size_t i = 0; i < w.splits.size(); ++i) {
    if (w.splits[i].state != split_state::ready) continue;
    if (is_rotating) return i;
    if (best == w.splits.size() || is_before(w.splits[i], w.splits[best])) best = i;
  }
  return best;
}

// Returns the instruction at which another split of the same frame waits.
std::uint32_t stop_of(const warp_state& w, const warp_split& f, bool& has_others) {
  std::uint32_t stop = no_stop;
  for (const warp_split& other : w.splits) {
    if (&other == &f || other.state != split_state::ready) continue;
    has_others = true;
    if (other.top_frame == f.top_frame && other.next > f.next && other.next < stop)
      stop = other.next;
  }
  return stop;
}

// Finds another ready split at the same position and frame; else returns the size of the list.
std::size_t find_convergent(const warp_state& w, std::size_t self) {
  const warp_split& f = w.splits[self];
  for (std::size_t i = 0; i < w.splits.size(); ++i) {
    const warp_split& other = w.splits[i];
    bool is_convergent = i != self && other.state == split_state::ready && other.next == f.next &&
                         other.top_frame == f.top_frame;
    if (is_convergent) return i;
  }
  return w.splits.size();
}

void move_to_end(warp_state& w, std::size_t index) {
  if (index + 1 < w.splits.size()) w.splits.add(w.splits.extract(index));
}

struct split_choice {
  std::size_t index = 0;  // the size of the list if no split is ready
  std::uint32_t stop = no_stop;
  bool has_others = false;
};

split_choice choose_of_several(warp_state& w, bool is_rotating) {
  split_choice chosen{find_next(w, is_rotating)};
  if (chosen.index == w.splits.size()) return chosen;
  if (is_rotating) {
    move_to_end(w, chosen.index);
    chosen.index = w.splits.size() - 1;
  }
  chosen.stop = stop_of(w, w.splits[chosen.index], chosen.has_others);
  return chosen;
}

// Chooses the split that runs next.
[[gnu::always_inline]] inline split_choice choose(warp_state& w) {
  const bool is_rotating = std::exchange(w.is_rotating, false);
  if (w.splits.size() != 1) return choose_of_several(w, is_rotating);
  return {w.splits[0].state == split_state::ready ? 0u : 1u};
}

}  // namespace

bool make_ready(warp_state& w, std::size_t index) {
  warp_split& f = w.splits[index];
  f.state = split_state::ready;
  if (w.splits.size() == 1) return false;
  std::size_t other = find_convergent(w, index);
  if (other == w.splits.size()) return false;
  w.splits[other].lanes |= f.lanes;
  frame* released = f.top_frame;
  w.splits.remove(index);
  release_frame(w, released);
  return true;
}

void add_ready(warp_state& w, const warp_split& f) {
  w.splits.add(f);
  make_ready(w, w.splits.size() - 1);
}

namespace {

// Takes the only split of a warp past barriers between which it has nothing to do. Returns true if
// it waits then.
[[gnu::always_inline]] inline bool waits(warp_state& w, std::uint64_t& budget) {
  return w.splits.size() == 1 && w.splits[0].next != 0 && w.splits[0].state == split_state::ready &&
         waits_after_passages(w, budget);
}

template <run_kind Kind>
warp_progress run_splits(warp_state& w, std::uint64_t budget) {
  for (;;) {
    if (Kind == run_kind::normal && waits(w, budget)) return warp_progress::waiting;
    const split_choice chosen = choose(w);
    if (chosen.index == w.splits.size()) {
      return w.view.live ? warp_progress::waiting : warp_progress::finished;
    }
    split_run<Kind> run{w, chosen.index, chosen.stop, chosen.has_others, budget};
    leave_reason reason = run.run();
    if (reason == leave_reason::wait) return warp_progress::waiting;
    if (reason == leave_reason::yield) return warp_progress::yielded;
    if (reason == leave_reason::rotate) w.is_rotating = true;
    if (run.used() >= budget) return warp_progress::yielded;
    budget -= run.used();
  }
}

// A separate function, so that the compiler lays out the loop of run_warp for one case only.
[[gnu::noinline, gnu::cold]] warp_progress run_followed(warp_state& w, std::uint64_t budget) {
  const launch_state& launch = *w.view.block->launch;
  const bool is_observed = launch.observed_by || launch.checks || w.view.block->recorder;
  if (is_observed) return run_splits<run_kind::observed>(w, budget);
  return run_splits<run_kind::counted>(w, budget);
}

}  // namespace

warp_progress run_warp(warp_state& w, std::uint64_t budget) {
  const launch_state& launch = *w.view.block->launch;
  if (launch.observed_by || launch.is_followed || w.view.block->recorder) [[unlikely]]
    return run_followed(w, budget);
  return run_splits<run_kind::normal>(w, budget);
}

}  // namespace halfwarp::emulator::exec
