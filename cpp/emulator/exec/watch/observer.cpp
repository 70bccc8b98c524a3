// SPDX-License-Identifier: Apache-2.0
// Notes of what is executed. Only launches that seem to stand still are observed, so this need not
// be fast.
#include "emulator/exec/watch/observer.hpp"

#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

void observer::note(warp& w, const instruction& in, lane_mask lanes) {
  seen_warp& by = warps_[{w.block->number, w.index}];
  by.lanes |= lanes;
  if (in.kind == flow::next) {
    access_shape shape = shape_of(in);
    if (shape.use != memory_use::none) note_access(w, in, shape, by, lanes);
    return;
  }
  // Built-in functions tell a kernel nothing of others.
  if (in.kind != flow::collective && in.kind != flow::barrier) return;
  for (lane_mask rest = lanes; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    if (in.kind == flow::barrier) {
      by.thread[lane].has_passed_barrier = true;
    } else {
      by.thread[lane].partners |= w.at<lane_mask>(in.operand[4])[lane] & w.live & ~(1u << lane);
    }
  }
}

void observer::note_access(warp& w, const instruction& in, const access_shape& shape, seen_warp& by,
                           lane_mask lanes) {
  if (shape.use == memory_use::unknown) is_void_ = true;  // a surface may be written
  for (lane_mask rest = lanes; rest && !is_void_; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    seen_thread& thread = by.thread[lane];
    if (shape.use == memory_use::clock || shape.use == memory_use::chance) {
      thread.may_end_by_itself = true;
      continue;
    }
    for (std::uint32_t n = 0; n < elements_of(in, shape); ++n) {
      if (auto word = word_of(w, in, shape, lane, n)) note_word(w, in, shape, thread, *word);
    }
  }
}

void observer::note_word(warp& w, const instruction& in, const access_shape& shape, seen_thread& by,
                         const shared_word& word) {
  std::uint64_t value = read_word(word.cell, shape.bytes);
  if (shape.use != memory_use::load) {
    auto [first, is_new] = written_.try_emplace({word.cell, shape.bytes}, value);
    words_ += is_new;
    is_void_ |= first->second != value;  // a write that changes something back sees the change
  }
  if (shape.use != memory_use::store) {
    auto [place, is_new] = by.words.try_emplace(word.cell);
    words_ += is_new;
    place->second = {word.address, value, shape.bytes, word.is_shared, shape.use, w.function, &in};
  }
  is_void_ |= words_ > most_words;
}

const seen_thread* observer::find(const thread_id& thread) const {
  auto found = warps_.find({thread.block, thread.warp});
  bool is_seen = found != warps_.end() && (found->second.lanes >> thread.lane & 1) != 0;
  return is_seen ? &found->second.thread[thread.lane] : nullptr;
}

bool observer::has_seen_all(const block_state& block) const {
  for (const warp_state& w : block.warps) {
    lane_mask expected = 0;
    for (const warp_split& f : w.splits) {
      if (f.state == split_state::ready) expected |= f.lanes;
    }
    auto found = warps_.find({block.number, w.view.index});
    if (expected & ~(found == warps_.end() ? 0 : found->second.lanes)) return false;
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
