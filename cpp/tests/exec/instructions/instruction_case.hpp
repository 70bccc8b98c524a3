// SPDX-License-Identifier: Apache-2.0
// An instruction with its expected results for many values.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "emulator/exec/instruction.hpp"

namespace halfwarp::tests {

enum class kind : std::uint8_t { pred, i16, i32, i64, f16, bf16, f32, f64, f16x2, bf16x2 };

int width_of(kind k);  // bits in a register; 1 for a predicate

// The bits of the sources a, b, c in the order of the case.
using sources = const std::uint64_t*;
using reference = std::function<std::uint64_t(sources)>;

struct instruction_case {
  std::string text;  // uses registers d, a, b, c; several statements end with semicolons
  kind result;
  std::vector<kind> operands;
  reference expected;
};

// Runs the case for special and random values, with all lanes and then with some lanes of each
// warp, on the current instruction set. Returns "" if every result is right, else the first
// difference.
std::string failure_of(const instruction_case& c);

// Adds the handlers that the case was decoded into.
void collect_handlers(const instruction_case& c, std::set<emulator::exec::handler>& handlers);

using case_list = std::vector<instruction_case>;
case_list integer_cases();
case_list carry_cases();
case_list bit_cases();
case_list float_cases();
case_list half_cases();
case_list conversion_cases();
case_list comparison_cases();
case_list move_cases();

std::uint64_t low_bits(std::uint64_t value, int bits);
std::int64_t signed_value(std::uint64_t value, int bits);

}  // namespace halfwarp::tests
