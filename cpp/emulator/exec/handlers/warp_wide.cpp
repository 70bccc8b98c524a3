// SPDX-License-Identifier: Apache-2.0
// Instructions that exchange values between lanes: shfl, vote, match, redux, activemask, elect.
#include "emulator/exec/lanes/operations.hpp"

namespace halfwarp::emulator::exec::HALFWARP_ISA {
namespace {

// Lanes may arrive in several splits with separate registers. Each split first writes its values
// to warp::exchange and reads its result once all splits have written. Returns true if the caller
// should compute the result.
template <class T>
bool publish(warp& w, const T* source) {
  if (w.step == exchange_step::read) return true;
  if (w.active == all_lanes) {
    for (int l = 0; l < warp_size; ++l) w.exchange[l] = static_cast<bits_type<T>>(source[l]);
  } else {
    for_active(w, [&](int l) { w.exchange[l] = static_cast<bits_type<T>>(source[l]); });
  }
  return w.step != exchange_step::write;
}

// Writes a predicate as bit 0 of its lane.
bool publish_predicate(warp& w, operand_slot slot, bool is_negated) {
  if (w.step == exchange_step::read) return true;
  lane_mask value = w.predicates[slot];
  if (is_negated) value = ~value;
  for_active(w, [&](int l) { w.exchange[l] = value >> l & 1; });
  return w.step != exchange_step::write;
}
lane_mask published_predicates(const warp& w) {
  lane_mask result = 0;
  for (lane_mask remaining = w.participants; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    result |= static_cast<lane_mask>(w.exchange[lane] & 1) << lane;
  }
  return result;
}

enum class direction { up, down, bfly, idx };

// Operands: d, a, b, c, members. The target is the predicate of `d|p`, or 0.
template <direction Direction>
void shuffle(warp& w, const instruction& instr) {
  if (!publish(w, w.at<u32>(instr.operand[1]))) return;
  // The manual leaves the value of another lane undefined. It acts as 0 on an H100: llm.c's
  // matmul_backward_bias_kernel8 adds the values of lanes that have exited.
  for (lane_mask other = ~w.participants; other; other &= other - 1) {
    w.exchange[__builtin_ctz(other)] = 0;
  }
  u32* d = w.at<u32>(instr.operand[0]);
  const u32 *b = w.at<u32>(instr.operand[2]), *c = w.at<u32>(instr.operand[3]);
  u32 result[warp_size];
  lane_mask is_inside = 0;
  for (i32 l = 0; l < warp_size; ++l) {
    i32 amount = static_cast<i32>(b[l] & 31), clamp = static_cast<i32>(c[l] & 31);
    i32 segment = static_cast<i32>(c[l] >> 8 & 31);
    i32 highest = (l & segment) | (clamp & ~segment), lowest = l & segment, source = 0;
    bool inside = false;
    if constexpr (Direction == direction::up) {
      source = l - amount;
      inside = source >= highest;
    } else if constexpr (Direction == direction::down) {
      source = l + amount;
      inside = source <= highest;
    } else if constexpr (Direction == direction::bfly) {
      source = l ^ amount;
      inside = source <= highest;
    } else {
      source = lowest | (amount & ~segment);
      inside = source <= highest;
    }
    if (!inside) source = l;
    result[l] = static_cast<u32>(w.exchange[source & 31]);
    is_inside |= static_cast<lane_mask>(inside) << l;
  }
  assign(w, d, [&](int l) { return result[l]; });
  if (instr.target) set_predicate(w, static_cast<operand_slot>(instr.target), is_inside);
}

// Operands: d, source predicate, -, -, members. Immediate 1 inverts the source.
void vote_ballot(warp& w, const instruction& instr) {
  if (!publish_predicate(w, instr.operand[1], instr.immediate)) return;
  u32 ballot = published_predicates(w);
  assign(w, w.at<u32>(instr.operand[0]), [=](int) { return ballot; });
}
void vote_all(warp& w, const instruction& instr) {
  if (!publish_predicate(w, instr.operand[1], instr.immediate)) return;
  set_predicate(w, instr.operand[0], published_predicates(w) == w.participants ? all_lanes : 0);
}
void vote_any(warp& w, const instruction& instr) {
  if (!publish_predicate(w, instr.operand[1], instr.immediate)) return;
  set_predicate(w, instr.operand[0], published_predicates(w) ? all_lanes : 0);
}
void vote_uniform(warp& w, const instruction& instr) {
  if (!publish_predicate(w, instr.operand[1], instr.immediate)) return;
  lane_mask ballot = published_predicates(w);
  set_predicate(w, instr.operand[0], ballot == 0 || ballot == w.participants ? all_lanes : 0);
}

// Finds the lanes of each value once. The compiler turns the comparisons into vectors, of words
// because a mask of lanes is a word.
template <class T>
void match_any(warp& w, const instruction& instr) {
  constexpr bool is_wide = sizeof(T) == sizeof(u64);
  if (!publish(w, w.at<T>(instr.operand[1]))) return;
  u32 low[warp_size], high[warp_size];
  for (int l = 0; l < warp_size; ++l) {
    low[l] = static_cast<u32>(w.exchange[l]);
    if (is_wide) high[l] = static_cast<u32>(w.exchange[l] >> 32);
  }
  u32* d = w.at<u32>(instr.operand[0]);
  for (lane_mask remaining = w.participants; remaining;) {
    const int first = __builtin_ctz(remaining);
    const u32 first_low = low[first], first_high = is_wide ? high[first] : 0;
    lane_mask equal = 0;
    for (int l = 0; l < warp_size; ++l) {
      const u32 difference = (low[l] ^ first_low) | (is_wide ? high[l] ^ first_high : 0);
      equal |= difference == 0 ? 1u << l : 0;
    }
    equal &= w.participants;
    for (lane_mask to = equal & w.active; to; to &= to - 1) d[__builtin_ctz(to)] = equal;
    remaining &= ~equal;
  }
}
// The target is the predicate of `d|p`, or 0.
template <class T>
void match_all(warp& w, const instruction& instr) {
  if (!publish(w, w.at<T>(instr.operand[1]))) return;
  u64 first = w.exchange[__builtin_ctz(w.participants)];
  bool is_same = true;
  for (lane_mask remaining = w.participants; remaining; remaining &= remaining - 1) {
    is_same &= w.exchange[__builtin_ctz(remaining)] == first;
  }
  u32 result = is_same ? w.participants : 0;
  assign(w, w.at<u32>(instr.operand[0]), [=](int) { return result; });
  if (instr.target)
    set_predicate(w, static_cast<operand_slot>(instr.target), is_same ? all_lanes : 0);
}

struct sum {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<u32>(a) + static_cast<u32>(b));
  }
};
template <class Operation, class T>
void reduce(warp& w, const instruction& instr) {
  if (!publish(w, w.at<T>(instr.operand[1]))) return;
  lane_mask remaining = w.participants;
  T result = static_cast<T>(w.exchange[__builtin_ctz(remaining)]);
  for (remaining &= remaining - 1; remaining; remaining &= remaining - 1) {
    result = Operation::of(result, static_cast<T>(w.exchange[__builtin_ctz(remaining)]));
  }
  assign(w, w.at<T>(instr.operand[0]), [=](int) { return result; });
}

void active_mask(warp& w, const instruction& instr) {
  u32 active = w.active;
  assign(w, w.at<u32>(instr.operand[0]), [=](int) { return active; });
}

// The target is the predicate that becomes true for the leader, the lowest lane.
void elect_leader(warp& w, const instruction& instr) {
  u32 leader = static_cast<u32>(__builtin_ctz(w.participants));
  assign(w, w.at<u32>(instr.operand[0]), [=](int) { return leader; });
  if (instr.target) set_predicate(w, static_cast<operand_slot>(instr.target), 1u << leader);
}

void nothing(warp&, const instruction&) {}

constexpr handler_entry entries[] = {
    {"activemask.b32", &active_mask},
    {"elect.sync", &elect_leader},
    {"match.all.b32", &match_all<u32>},
    {"match.all.b64", &match_all<u64>},
    {"match.any.b32", &match_any<u32>},
    {"match.any.b64", &match_any<u64>},
    {"nothing", &nothing},
    {"redux.add.s32", &reduce<sum, i32>},
    {"redux.add.u32", &reduce<sum, u32>},
    {"redux.and.b32", &reduce<conjunction, u32>},
    {"redux.max.s32", &reduce<maximum, i32>},
    {"redux.max.u32", &reduce<maximum, u32>},
    {"redux.min.s32", &reduce<minimum, i32>},
    {"redux.min.u32", &reduce<minimum, u32>},
    {"redux.or.b32", &reduce<disjunction, u32>},
    {"redux.xor.b32", &reduce<exclusive_or, u32>},
    {"shfl.bfly.b32", &shuffle<direction::bfly>},
    {"shfl.down.b32", &shuffle<direction::down>},
    {"shfl.idx.b32", &shuffle<direction::idx>},
    {"shfl.up.b32", &shuffle<direction::up>},
    {"vote.all.pred", &vote_all},
    {"vote.any.pred", &vote_any},
    {"vote.ballot.b32", &vote_ballot},
    {"vote.uni.pred", &vote_uniform},
};
static_assert(is_sorted_by_name(entries));

}  // namespace

extern const handler_family warp_wide_handlers;
const handler_family warp_wide_handlers{entries};

}  // namespace halfwarp::emulator::exec::HALFWARP_ISA
