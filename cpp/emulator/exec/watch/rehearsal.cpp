// SPDX-License-Identifier: Apache-2.0
// Interprets one thread without changing shared state.
#include "emulator/exec/watch/rehearsal.hpp"

#include <utility>

#include "emulator/exec/schedule/warp/frame.hpp"

namespace halfwarp::emulator::exec {

// Stride 0 makes the local memory copy of one lane serve any lane index.
rehearsal::rehearsal(const warp_state& w, const warp_split& from, const rehearsal_request& request)
    : request_{request}, has_acquired_{!request.awaited}, has_released_{!request.held} {
  w_.view = w.view;
  w_.view.step = exchange_step::write_and_read;
  const std::byte* local = w.view.local + std::size_t{request.lane} * w.view.local_stride;
  local_.assign(local, local + w.view.local_stride);
  w_.view.local = local_.data();
  w_.view.local_stride = 0;
  warp_split split = from;
  split.lanes = 1u << request.lane;
  split.state = split_state::ready;
  split.top_frame = copy_frame(from.top_frame);
  w_.splits.add(split);
}

frame* rehearsal::copy_frame(const frame* from) {
  if (!from) return nullptr;
  frame* parent = copy_frame(from->parent);
  w_.frames.push_back(std::make_unique<frame>(*from));
  frame* copy = w_.frames.back().get();
  copy->parent = parent;
  copy->users = 1;
  return copy;
}

bool rehearsal::succeeds() {
  try {
    for (int i = 0; i < max_steps && !is_done() && !is_not_lock_code_; ++i) {
      if (!step()) break;
    }
  } catch (const kernel_fault&) {
    return false;
  }
  return is_done() && !is_not_lock_code_;
}

bool rehearsal::step() {
  warp_split& f = w_.splits[0];
  activate(w_.view, *f.top_frame);
  const instruction& instr = f.top_frame->function->code[f.next];
  lane_mask active = f.lanes;
  if (instr.guard >= 0) active &= w_.view.predicates[instr.guard] ^ instr.guard_flip;
  w_.view.active = active;
  if (!active) {
    ++f.next;
    return true;
  }
  switch (instr.kind) {
    case flow::branch:
      f.next = instr.target;
      return true;
    case flow::call:
      enter(instr);
      return true;
    case flow::ret:
      return leave(f.top_frame->depth == 0);
    case flow::exit:
      return leave(true);
    default:
      execute(instr);
      ++f.next;
      return true;
  }
}

void rehearsal::enter(const instruction& instr) {
  warp_split& f = w_.splits[0];
  lane_mask lanes = f.lanes;
  const function_code& callee = callee_of(w_, f, instr, lanes);
  enter_function(w_, f, instr, callee);
}

bool rehearsal::leave(bool is_exit) {
  if (!is_exit) leave_function(w_, w_.splits[0]);
  return !is_exit;
}

void rehearsal::execute(const instruction& instr) {
  if (instr.kind == flow::next) return execute_next(instr);
  if (instr.kind != flow::collective)
    return;  // barriers are open, and built-in functions have no effect
  w_.view.participants = w_.view.active;
  instr.run(w_.view, instr);
}

void rehearsal::execute_next(const instruction& instr) {
  access_shape shape = shape_of(instr);
  switch (shape.use) {
    case memory_use::none:
    case memory_use::clock:
    case memory_use::chance:
    case memory_use::fence:
      return instr.run(w_.view, instr);
    case memory_use::load:
      return load(instr, shape);
    case memory_use::store:
      return store(instr, shape);
    case memory_use::unknown:
      is_not_lock_code_ = true;
      return;
    default:
      return update(instr, shape);
  }
}

void rehearsal::load(const instruction& instr, const access_shape& shape) {
  int lane = static_cast<int>(request_.lane);
  std::array<std::optional<shared_word>, 4> words;  // a result may overwrite the address register
  std::uint32_t count = elements_of(instr, shape);
  for (std::uint32_t n = 0; n < count; ++n) words[n] = word_of(w_.view, instr, shape, lane, n);
  instr.run(w_.view, instr);
  for (std::uint32_t n = 0; n < count; ++n) {
    if (!words[n]) continue;
    std::uint64_t value = value_of(*words[n], shape.bytes);
    bool is_as_read = value == read_word(words[n]->cell, shape.bytes);
    if (!is_as_read) write_register(w_.view, instr.operand[n], lane, shape.register_bytes, value);
  }
}

void rehearsal::store(const instruction& instr, const access_shape& shape) {
  int lane = static_cast<int>(request_.lane);
  for (std::uint32_t n = 0; n < elements_of(instr, shape); ++n) {
    auto word = word_of(w_.view, instr, shape, lane, n);
    std::uint64_t value = read_register(w_.view, instr.operand[n], lane, shape.register_bytes);
    if (shape.bytes < 8) value &= (std::uint64_t{1} << 8 * shape.bytes) - 1;
    if (word) {
      write(word->cell, value, shape.use);
    } else {
      instr.run(w_.view, instr);  // writes to the copy of local memory, or raises a fault
    }
  }
}

void rehearsal::update(const instruction& instr, const access_shape& shape) {
  int lane = static_cast<int>(request_.lane);
  auto word = word_of(w_.view, instr, shape, lane);
  if (!word) {
    is_not_lock_code_ = true;
    return;
  }
  std::uint64_t old = value_of(*word, shape.bytes);
  std::uint64_t b = read_register(w_.view, instr.operand[1], lane, shape.bytes);
  std::uint64_t c = read_register(w_.view, instr.operand[2], lane, shape.bytes);
  if (shape.use == memory_use::exch) {
    write(word->cell, b, shape.use);
  } else if (shape.use == memory_use::cas) {
    if (old == b) write(word->cell, c, shape.use);
  } else {
    write(word->cell, ~old, shape.use);  // any different value
  }
  write_register(w_.view, instr.operand[0], lane, shape.register_bytes, old);
}

// Returns the value of a word. Locks held by other threads read as released.
std::uint64_t rehearsal::value_of(const shared_word& word, std::uint32_t bytes) const {
  std::uint64_t value = read_word(word.cell, bytes);
  if (auto match = written_.find(word.cell); match != written_.end()) return match->second;
  const block_state& block = *w_.view.block;
  const change* last = last_change(block, word.cell);
  if (!last || last->word.bytes != bytes || last->word.after != value) return value;
  if (word.is_shared && last->block != block.number) return value;
  bool is_own =
      last->block == block.number && last->warp == w_.view.index && last->lane == request_.lane;
  return is_own && last != request_.awaited ? value : last->word.before;
}

// The thread must first acquire the awaited lock, by an instruction that acquires locks. Then the
// held lock must change.
void rehearsal::write(std::uint64_t cell, std::uint64_t value, memory_use use) {
  written_[cell] = value;
  if (!has_acquired_ && cell == request_.awaited->word.cell) {
    bool acquires = use == memory_use::cas ||
                    (use == memory_use::exch && value == request_.awaited->word.after);
    acquires &= value != request_.awaited->word.before;
    has_acquired_ = acquires;
    is_not_lock_code_ |= !acquires;
    return;
  }
  if (has_acquired_ && !has_released_ && cell == request_.held->word.cell) {
    has_released_ = value != request_.held->word.after;
  }
}

}  // namespace halfwarp::emulator::exec
