// SPDX-License-Identifier: Apache-2.0
// Describes an instruction for the check of uninitialized memory.
#pragma once

#include <cstdint>

#include "emulator/exec/code.hpp"
#include "emulator/exec/instruction.hpp"

namespace halfwarp::emulator::exec {

// Selects how undefined bits of the operands reach the results.
enum class value_rule : std::uint8_t {
  none,  // has no result
  load,
  store,
  atomic,
  exchange_memory,  // an atomic operation that only replaces the value
  copy_async,
  compute,         // a result is undefined as a whole if it depends on an undefined bit
  per_bit,         // each bit of a result for itself
  compare,         // a predicate: undefined if a bit of an operand is
  compare_equal,   // ... unless defined bits differ
  between_lanes,   // as compute; operand 4 is the mask of the lanes
  shuffle,         // as between_lanes; a value of a lane that takes no part is undefined
  define,          // a result is always defined
  forget,          // unknown results, which count as defined
  store_matrix,    // writes shared memory
  store_anywhere,  // writes memory in an unknown way
};

enum class value_space : std::uint8_t { global, shared, local };

struct init_site {
  value_rule rule = value_rule::none;
  value_space space = value_space::global;
  bool is_narrow = false;          // the address has 32 bits
  bool is_signed = false;          // a load extends the sign
  bool has_predicate = false;      // operand 0 is a predicate and the only result
  bool has_second_result = false;  // the target is a predicate, or 0
  bool has_carry = false;          // predicate 0 is another result
  std::uint8_t bytes = 0;          // of one element in memory, or of an operand of a comparison
  std::uint8_t result_bytes = 0;   // of one element in a register, also the source of a store
  std::uint8_t first_result = 0, results = 0;  // operands
  std::uint32_t number = 0;                    // of the instruction in the launch
  const function_code* function = nullptr;
  const instruction* at = nullptr;
};

init_site make_init_site(const function_code& function, const instruction& instr);

}  // namespace halfwarp::emulator::exec
