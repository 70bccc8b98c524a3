// SPDX-License-Identifier: Apache-2.0
// Every instruction of the tables, on every instruction set of the host.
#include <gtest/gtest.h>

#include <set>

#include "emulator/exec/code.hpp"
#include "emulator/exec/handler_table.hpp"
#include "instruction_case.hpp"

namespace halfwarp::tests {
namespace {

namespace exec = emulator::exec;

struct family {
  const char* name;
  case_list (*cases)();
};
const family families[] = {
    {"integer", &integer_cases},       {"carry", &carry_cases}, {"bit", &bit_cases},
    {"float", &float_cases},           {"half", &half_cases},   {"conversion", &conversion_cases},
    {"comparison", &comparison_cases}, {"move", &move_cases}};

const char* name_of(exec::instruction_set set) {
  switch (set) {
    case exec::instruction_set::baseline:
      return "baseline";
    case exec::instruction_set::x86_64_v3:
      return "v3";
    case exec::instruction_set::x86_64_v4:
      return "v4";
  }
  return "";
}

using parameters = std::tuple<family, exec::instruction_set>;
class instructions : public testing::TestWithParam<parameters> {
 protected:
  void SetUp() override {
    exec::instruction_set set = std::get<1>(GetParam());
    if (!exec::is_available(set)) GTEST_SKIP() << "this processor lacks " << name_of(set);
    exec::use_instruction_set(set);
  }
  void TearDown() override { exec::use_instruction_set(exec::detected_instruction_set()); }
};

TEST_P(instructions, match_the_reference_and_do_not_change_other_lanes) {
  for (const instruction_case& c : std::get<0>(GetParam()).cases()) {
    EXPECT_EQ(failure_of(c), "") << c.text;
  }
}

INSTANTIATE_TEST_SUITE_P(all, instructions,
                         testing::Combine(testing::ValuesIn(families),
                                          testing::Values(exec::instruction_set::baseline,
                                                          exec::instruction_set::x86_64_v3,
                                                          exec::instruction_set::x86_64_v4)),
                         [](const testing::TestParamInfo<parameters>& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  name_of(std::get<1>(info.param));
                         });

// Instructions of memory, of the whole warp and of special registers have their own tests.
// tests/emulator/modern compares dot products and matrix products with references in Python,
// tests/emulator/coverage compares the counts of marks with counts by hand, and
// tests/emulator/exec/test_tuned_code.py compares fused instructions with their parts.
bool is_tested_elsewhere(std::string_view name) {
  for (std::string_view prefix :
       {"activemask", "atom.",    "check.",  "dp2a.",  "dp4a.",         "elect.",
        "fence",      "fused.",   "known.",  "ld.",    "local_address", "mark.",
        "match.",     "mma.",     "nothing", "redux.", "shfl.",         "special.",
        "st.",        "tcgen05.", "touch.",  "vote.",  "wgmma."}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

TEST(handlers, every_handler_has_a_case) {
  std::set<exec::handler> reached;
  for (const family& f : families) {
    for (const instruction_case& c : f.cases()) collect_handlers(c, reached);
  }
  for (exec::handler_family entries : exec::handler_families()) {
    for (const exec::handler_entry& entry : entries) {
      EXPECT_TRUE(reached.contains(entry.run) || is_tested_elsewhere(entry.name)) << entry.name;
    }
  }
}

}  // namespace
}  // namespace halfwarp::tests
