// SPDX-License-Identifier: Apache-2.0
// An interpreter for one thread that changes nothing.
#include "emulator/exec/watch/rehearsal.hpp"

#include <utility>

#include "emulator/exec/schedule/frame.hpp"

namespace halfwarp::emulator::exec {

// Lanes of local memory lie at a stride; with none, the copy of one lane serves whichever it is.
rehearsal::rehearsal(const warp_state& w, const warp_split& from, const rehearsal_request& wanted)
    : wanted_{wanted}, has_taken_{!wanted.awaited}, has_given_{!wanted.held} {
  w_.view = w.view;
  w_.view.step = exchange_step::give_and_take;
  const std::byte* local = w.view.local + std::size_t{wanted.lane} * w.view.local_stride;
  local_.assign(local, local + w.view.local_stride);
  w_.view.local = local_.data();
  w_.view.local_stride = 0;
  warp_split split = from;
  split.lanes = 1u << wanted.lane;
  split.state = split_state::ready;
  split.in = copy_frame(from.in);
  w_.splits.add(split);
}

frame* rehearsal::copy_frame(const frame* from) {
  if (!from) return nullptr;
  frame* parent = copy_frame(from->parent);
  w_.frames.push_back(std::make_unique<frame>(*from));
  frame* made = w_.frames.back().get();
  made->parent = parent;
  made->users = 1;
  return made;
}

bool rehearsal::succeeds() {
  try {
    for (int i = 0; i < most_steps && !is_done() && !is_other_; ++i) {
      if (!step()) break;
    }
  } catch (const kernel_fault&) {
    return false;
  }
  return is_done() && !is_other_;
}

bool rehearsal::step() {
  warp_split& f = w_.splits[0];
  activate(w_.view, *f.in);
  const instruction& in = f.in->function->code[f.next];
  lane_mask active = f.lanes;
  if (in.guard >= 0) active &= w_.view.predicates[in.guard] ^ in.guard_flip;
  w_.view.active = active;
  if (!active) {
    ++f.next;
    return true;
  }
  switch (in.kind) {
    case flow::branch:
      f.next = in.target;
      return true;
    case flow::call:
      enter(in);
      return true;
    case flow::ret:
      return leave(f.in->depth == 0);
    case flow::exit:
      return leave(true);
    default:
      execute(in);
      ++f.next;
      return true;
  }
}

void rehearsal::enter(const instruction& in) {
  warp_split& f = w_.splits[0];
  lane_mask lanes = f.lanes;
  const function_code& callee = callee_of(w_, f, in, lanes);
  enter_function(w_, f, in, callee);
}

bool rehearsal::leave(bool is_exit) {
  if (!is_exit) leave_function(w_, w_.splits[0]);
  return !is_exit;
}

void rehearsal::execute(const instruction& in) {
  if (in.kind == flow::next) return execute_next(in);
  if (in.kind != flow::collective) return;  // barriers are open, built-in functions tell nothing
  w_.view.participants = w_.view.active;
  in.run(w_.view, in);
}

void rehearsal::execute_next(const instruction& in) {
  access_shape shape = shape_of(in);
  switch (shape.use) {
    case memory_use::none:
    case memory_use::clock:
    case memory_use::chance:
      return in.run(w_.view, in);
    case memory_use::load:
      return load(in, shape);
    case memory_use::store:
      return store(in, shape);
    case memory_use::unknown:
      is_other_ = true;
      return;
    default:
      return update(in, shape);
  }
}

void rehearsal::load(const instruction& in, const access_shape& shape) {
  int lane = static_cast<int>(wanted_.lane);
  std::array<std::optional<shared_word>, 4> words;  // a result may be where the address is
  std::uint32_t count = elements_of(in, shape);
  for (std::uint32_t n = 0; n < count; ++n) words[n] = word_of(w_.view, in, shape, lane, n);
  in.run(w_.view, in);
  for (std::uint32_t n = 0; n < count; ++n) {
    if (!words[n]) continue;
    std::uint64_t value = value_of(*words[n], shape.bytes);
    bool is_as_read = value == read_word(words[n]->cell, shape.bytes);
    if (!is_as_read) write_register(w_.view, in.operand[n], lane, shape.register_bytes, value);
  }
}

void rehearsal::store(const instruction& in, const access_shape& shape) {
  int lane = static_cast<int>(wanted_.lane);
  for (std::uint32_t n = 0; n < elements_of(in, shape); ++n) {
    auto word = word_of(w_.view, in, shape, lane, n);
    std::uint64_t value = read_register(w_.view, in.operand[n], lane, shape.register_bytes);
    if (shape.bytes < 8) value &= (std::uint64_t{1} << 8 * shape.bytes) - 1;
    if (word) {
      write(word->cell, value, shape.use);
    } else {
      in.run(w_.view, in);  // to local memory, of which there is a copy; else a fault
    }
  }
}

void rehearsal::update(const instruction& in, const access_shape& shape) {
  int lane = static_cast<int>(wanted_.lane);
  auto word = word_of(w_.view, in, shape, lane);
  if (!word) {
    is_other_ = true;
    return;
  }
  std::uint64_t old = value_of(*word, shape.bytes);
  std::uint64_t b = read_register(w_.view, in.operand[1], lane, shape.bytes);
  std::uint64_t c = read_register(w_.view, in.operand[2], lane, shape.bytes);
  if (shape.use == memory_use::exch) {
    write(word->cell, b, shape.use);
  } else if (shape.use == memory_use::cas) {
    if (old == b) write(word->cell, c, shape.use);
  } else {
    write(word->cell, ~old, shape.use);  // which value does not matter
  }
  write_register(w_.view, in.operand[0], lane, shape.register_bytes, old);
}

// Words that other threads have taken read as they were before that.
std::uint64_t rehearsal::value_of(const shared_word& word, std::uint32_t bytes) const {
  std::uint64_t value = read_word(word.cell, bytes);
  if (auto found = written_.find(word.cell); found != written_.end()) return found->second;
  const block_state& block = *w_.view.block;
  const change* last = last_change(block, word.cell);
  if (!last || last->word.bytes != bytes || last->word.after != value) return value;
  if (word.is_shared && last->block != block.number) return value;
  bool is_own =
      last->block == block.number && last->warp == w_.view.index && last->lane == wanted_.lane;
  return is_own && last != wanted_.awaited ? value : last->word.before;
}

// The lock that it waits for must first be taken, by an instruction that takes locks; then the one
// that it holds must change.
void rehearsal::write(std::uint64_t cell, std::uint64_t value, memory_use use) {
  written_[cell] = value;
  if (!has_taken_ && cell == wanted_.awaited->word.cell) {
    bool takes =
        use == memory_use::cas || (use == memory_use::exch && value == wanted_.awaited->word.after);
    takes &= value != wanted_.awaited->word.before;
    has_taken_ = takes;
    is_other_ |= !takes;
    return;
  }
  if (has_taken_ && !has_given_ && cell == wanted_.held->word.cell) {
    has_given_ = value != wanted_.held->word.after;
  }
}

}  // namespace halfwarp::emulator::exec
