// SPDX-License-Identifier: Apache-2.0
// Records executed accesses. Only launches without progress are observed, so this need not be fast.
#include "emulator/exec/watch/observer.hpp"

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

void observer::record(warp& w, const instruction& instr, lane_mask lanes) {
  seen_warp& by = warps_[{w.block->number, w.index}];
  by.lanes |= lanes;
  if (instr.kind == flow::next) {
    access_shape shape = shape_of(instr);
    const bool accesses = shape.use != memory_use::none && shape.use != memory_use::fence;
    if (accesses) record_access(w, instr, shape, by, lanes);
    return;
  }
  // Built-in functions return no information about other threads.
  if (instr.kind != flow::collective && instr.kind != flow::barrier) return;
  for (lane_mask remaining = lanes; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    if (instr.kind == flow::barrier) {
      by.thread[lane].has_passed_barrier = true;
    } else {
      by.thread[lane].partners |= w.at<lane_mask>(instr.operand[4])[lane] & w.live & ~(1u << lane);
    }
  }
}

void observer::record_access(warp& w, const instruction& instr, const access_shape& shape,
                             seen_warp& by, lane_mask lanes) {
  if (shape.use == memory_use::unknown) is_void_ = true;  // a surface may be written
  for (lane_mask remaining = lanes; remaining && !is_void_; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    seen_thread& thread = by.thread[lane];
    if (shape.use == memory_use::clock || shape.use == memory_use::chance) {
      thread.may_end_by_itself = true;
      continue;
    }
    for (std::uint32_t n = 0; n < elements_of(instr, shape); ++n) {
      if (auto word = word_of(w, instr, shape, lane, n))
        record_word(w, instr, shape, thread, *word);
    }
  }
}

void observer::record_word(warp& w, const instruction& instr, const access_shape& shape,
                           seen_thread& by, const shared_word& word) {
  std::uint64_t value = read_word(word.cell, shape.bytes);
  if (shape.use != memory_use::load) {
    auto [first, is_new] = written_.try_emplace({word.cell, shape.bytes}, value);
    words_ += is_new;
    is_void_ |= first->second != value;  // a write that restores a value reads the changed one
  }
  if (shape.use != memory_use::store) {
    auto [place, is_new] = by.words.try_emplace(word.cell);
    words_ += is_new;
    place->second = {word.address, value,      shape.bytes, word.is_shared,
                     shape.use,    w.function, &instr};
  }
  is_void_ |= words_ > max_words;
}

const seen_thread* observer::find(const thread_id& thread) const {
  auto match = warps_.find({thread.block, thread.warp});
  bool is_seen = match != warps_.end() && (match->second.lanes >> thread.lane & 1) != 0;
  return is_seen ? &match->second.thread[thread.lane] : nullptr;
}

bool observer::has_observed_all(const block_state& block) const {
  for (const warp_state& w : block.warps) {
    lane_mask expected = 0;
    for (const warp_split& f : w.splits) {
      if (f.state == split_state::ready) expected |= f.lanes;
    }
    auto match = warps_.find({block.number, w.view.index});
    if (expected & ~(match == warps_.end() ? 0 : match->second.lanes)) return false;
  }
  return true;
}

bool observer::is_unchanged() const {
  if (is_void_) return false;
  for (const auto& [word, value] : written_) {
    if (read_word(word.first, word.second) != value) return false;
  }
  return true;
}

}  // namespace halfwarp::emulator::exec
