// SPDX-License-Identifier: Apache-2.0
// Each row of the table of instructions: its first version and target, its operands and types.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../sample.hpp"
#include "emulator/ptx/instruction_table.hpp"
#include "first_forms.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::first_forms;
using halfwarp::tests::form;
using halfwarp::tests::problem_of;
using halfwarp::tests::statement_of;

std::string text_of(const form& f) { return statement_of(f.name, f.operands); }

std::size_t row_of(const form& f) {
  return static_cast<std::size_t>(find_row(make_mnemonic(f.name)) - instruction_rows().data());
}

// Returns the forms of each row for which `count` is least, or most.
template <class Count>
std::vector<form> extremes(Count count, bool is_most) {
  std::map<std::size_t, form> of_row;
  for (const form& each : first_forms()) {
    const auto [place, is_new] = of_row.try_emplace(row_of(each), each);
    const auto old = count(place->second), added = count(each);
    if (!is_new && (is_most ? added > old : added < old)) place->second = each;
  }
  std::vector<form> list;
  for (const auto& [row, each] : of_row) list.push_back(each);
  return list;
}

// Returns where the last type of a mnemonic is, with its dot, and its length; 0: it has none.
std::pair<std::size_t, std::size_t> last_type(const std::string& name) {
  for (std::size_t end = name.size(); end != 0;) {
    const std::size_t dot = name.rfind('.', end - 1);
    if (dot == std::string::npos) break;
    const std::string alone = "x" + name.substr(dot, end - dot);
    if (make_mnemonic(alone).type_count) return {dot, end - dot};
    end = dot;
  }
  return {0, 0};
}

TEST(FirstForms, CoverEachRow) {
  std::vector<bool> is_covered(instruction_rows().size());
  for (const form& each : first_forms()) is_covered.at(row_of(each)) = true;
  for (std::size_t row = 0; row < is_covered.size(); ++row)
    EXPECT_TRUE(is_covered[row]) << "row " << row;
}

// No row allows more than its forms have.
TEST(FirstForms, HaveTheCountsOfTheirRow) {
  const auto operands = [](const form& f) { return f.operands.size(); };
  const auto types = [](const form& f) -> std::size_t { return make_mnemonic(f.name).type_count; };
  for (const bool is_most : {false, true}) {
    const auto limit = [&](const count_range& range) { return is_most ? range.max : range.min; };
    for (const form& each : extremes(operands, is_most)) {
      EXPECT_EQ(operands(each), limit(instruction_rows()[row_of(each)].operands)) << text_of(each);
    }
    for (const form& each : extremes(types, is_most)) {
      EXPECT_EQ(types(each), limit(instruction_rows()[row_of(each)].types)) << text_of(each);
    }
  }
}

TEST(FirstForms, LoadFromTheirVersionAndTargetOn) {
  for (const form& each : first_forms()) {
    const std::string text = text_of(each);
    EXPECT_EQ(each.problem(text), "") << text;
    const std::string target = "sm_" + std::to_string(each.target) + each.suffix;
    if (each.version > 10) EXPECT_NE(problem_of(each.version - 1, target, text), "") << text;
    if (each.target > 10) {
      const std::string older = "sm_" + std::to_string(each.target - 1) + each.suffix;
      EXPECT_NE(problem_of(each.version, older, text), "") << text;
    }
  }
}

TEST(FirstForms, HaveNoOperandLessOrMore) {
  const auto count = [](const form& f) { return f.operands.size(); };
  for (const form& each : extremes(count, false)) {
    if (each.operands.empty()) continue;
    auto list = each.operands;
    list.pop_back();
    EXPECT_NE(each.problem(statement_of(each.name, list)), "") << text_of(each);
  }
  for (const form& each : extremes(count, true)) {
    auto list = each.operands;
    list.push_back(list.empty() ? "%r1" : list.back());
    EXPECT_NE(each.problem(statement_of(each.name, list)), "") << text_of(each);
  }
}

TEST(FirstForms, HaveNoTypeLessOrMore) {
  const auto count = [](const form& f) { return make_mnemonic(f.name).type_count; };
  for (const form& each : extremes(count, false)) {
    const auto [start, size] = last_type(each.name);
    if (size == 0) continue;
    std::string without = each.name;
    without.erase(start, size);
    EXPECT_NE(each.problem(statement_of(without, each.operands)), "") << text_of(each);
  }
  for (const form& each : extremes(count, true)) {
    const auto [start, size] = last_type(each.name);
    const std::string with = each.name + (size ? each.name.substr(start, size) : ".u32");
    EXPECT_NE(each.problem(statement_of(with, each.operands)), "") << text_of(each);
  }
}

}  // namespace
