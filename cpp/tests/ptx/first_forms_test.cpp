// SPDX-License-Identifier: Apache-2.0
// Each row of the table of instructions: its first version and target, its operands and types.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "emulator/ptx/instruction_table.hpp"
#include "sample.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::problem_of;

struct form {
  int version, target;
  std::string suffix, name;  // of the target; the mnemonic
  std::vector<std::string> operands;

  std::string text(const std::string& word, const std::vector<std::string>& list) const {
    std::string joined;
    for (const std::string& each : list) joined += (joined.empty() ? " " : ", ") + each;
    return word + joined + ";";
  }
  std::string problem(const std::string& statement) const {
    return problem_of(version, "sm_" + std::to_string(target) + suffix, statement);
  }
  std::string text() const { return text(name, operands); }
};

std::vector<std::string> split_operands(const std::string& text) {
  std::vector<std::string> list;
  int depth = 0;
  for (const char each : text) {
    depth += each == '{' || each == '[' || each == '(';
    depth -= each == '}' || each == ']' || each == ')';
    if (list.empty()) list.emplace_back();
    if (each == ',' && depth == 0) {
      list.emplace_back();
    } else if (each != ' ' || !list.back().empty()) {
      list.back() += each;
    }
  }
  return list;
}

// Each line has the first version and target by the manual, and a statement.
const std::vector<form>& forms() {
  static const std::vector<form> all = [] {
    std::vector<form> read;
    std::ifstream file{HALFWARP_FIRST_FORMS};
    for (std::string line; std::getline(file, line);) {
      std::istringstream words{line};
      std::string version, target, name, rest;
      words >> version >> target >> name;
      std::getline(words, rest, ';');
      if (!name.empty() && name.back() == ';') name.pop_back();
      const std::size_t dot = version.find('.');
      form added;
      added.version = 10 * std::stoi(version) + std::stoi(version.substr(dot + 1));
      std::size_t digits = 0;
      added.target = std::stoi(target.substr(3), &digits);
      added.suffix = target.substr(3 + digits);
      added.name = name;
      added.operands = split_operands(rest);
      read.push_back(added);
    }
    return read;
  }();
  return all;
}

std::size_t row_of(const form& f) {
  return static_cast<std::size_t>(find_row(make_mnemonic(f.name)) - instruction_rows().data());
}

// Returns the forms of each row for which `count` is least, or most.
template <class Count>
std::vector<form> extremes(Count count, bool is_most) {
  std::map<std::size_t, form> of_row;
  for (const form& each : forms()) {
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
  for (const form& each : forms()) is_covered.at(row_of(each)) = true;
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
      EXPECT_EQ(operands(each), limit(instruction_rows()[row_of(each)].operands)) << each.text();
    }
    for (const form& each : extremes(types, is_most)) {
      EXPECT_EQ(types(each), limit(instruction_rows()[row_of(each)].types)) << each.text();
    }
  }
}

TEST(FirstForms, LoadFromTheirVersionAndTargetOn) {
  for (const form& each : forms()) {
    const std::string text = each.text();
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
    EXPECT_NE(each.problem(each.text(each.name, list)), "") << each.text();
  }
  for (const form& each : extremes(count, true)) {
    auto list = each.operands;
    list.push_back(list.empty() ? "%r1" : list.back());
    EXPECT_NE(each.problem(each.text(each.name, list)), "") << each.text();
  }
}

TEST(FirstForms, HaveNoTypeLessOrMore) {
  const auto count = [](const form& f) { return make_mnemonic(f.name).type_count; };
  for (const form& each : extremes(count, false)) {
    const auto [start, size] = last_type(each.name);
    if (size == 0) continue;
    std::string without = each.name;
    without.erase(start, size);
    EXPECT_NE(each.problem(each.text(without, each.operands)), "") << each.text();
  }
  for (const form& each : extremes(count, true)) {
    const auto [start, size] = last_type(each.name);
    const std::string with = each.name + (size ? each.name.substr(start, size) : ".u32");
    EXPECT_NE(each.problem(each.text(with, each.operands)), "") << each.text();
  }
}

}  // namespace
