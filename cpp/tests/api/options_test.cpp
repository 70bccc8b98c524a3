// SPDX-License-Identifier: Apache-2.0
// Options: accepted and rejected values, defaults and canonical spellings.
#include "emulator/settings/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace halfwarp::emulator {
namespace {

struct example {
  const char* name;
  const char* value;
  const char* shown;
};

class good_value : public testing::TestWithParam<example> {};

TEST_P(good_value, is_read_and_shown_in_its_canonical_spelling) {
  const auto& [name, value, shown] = GetParam();
  options target;
  ASSERT_EQ(set_option(target, name, value), "");
  EXPECT_EQ(show_option(target, name), shown);
  options reparsed;
  ASSERT_EQ(set_option(reparsed, name, shown), "");
  EXPECT_EQ(show_option(reparsed, name), shown);
}

INSTANTIATE_TEST_SUITE_P(
    all, good_value,
    testing::Values(example{"devices", "16", "16"}, example{"cc", "12.0", "12.0"},
                    example{"memory", "64MiB", "67108864"}, example{"memory", "1 G", "1073741824"},
                    example{"memory", "16777216", "16777216"}, example{"mode", "eager", "eager"},
                    example{"seed", "18446744073709551615", "18446744073709551615"},
                    example{"check", "all", "memory,sync,leak,race,init,hazard,barrier,neighbor"},
                    example{"check", "leak,memory", "memory,leak"},
                    example{"check", "none", "none"}, example{"trace", "off", "off"},
                    example{"trace", "site,api", "api,site"}, example{"step_limit", "2^10", "1024"},
                    example{"schedule", "12", "12"}, example{"schedule", "all", "all"},
                    example{"schedule", "3-3,7-9", "3-3,7-9"}, example{"schedule", "0", "0"},
                    example{"schedule", "1-5", "5"}, example{"nccl_limit", "5", "5"},
                    example{"report", "a/b.jsonl", "a/b.jsonl"},
                    example{"profile", "a/p.jsonl", "a/p.jsonl"}));

class bad_value : public testing::TestWithParam<example> {};

TEST_P(bad_value, is_refused_and_changes_nothing) {
  const auto& [name, value, accepted] = GetParam();
  options target;
  const auto before = show_option(target, name);
  const auto problem = set_option(target, name, value);
  EXPECT_NE(problem.find(value), std::string::npos) << problem;
  EXPECT_NE(problem.find(accepted), std::string::npos) << problem;
  EXPECT_EQ(show_option(target, name), before);
}

INSTANTIATE_TEST_SUITE_P(
    all, bad_value,
    testing::Values(
        example{"devices", "0", "1 to 16"}, example{"devices", "1x", "1 to 16"},
        example{"cc", "9", "9.0"}, example{"memory", "1MiB", "16 MiB"},
        example{"memory", "99999999999999999999", "GiB"}, example{"memory", "1T", "GiB"},
        example{"seed", "-1", "0 or more"}, example{"check", "memory;sync", "barrier and neighbor"},
        example{"check", "memory,neighbors", "barrier and neighbor"},
        example{"suppress", "/nonexistent/rules", "the path of a file of rules"},
        example{"schedule", "-1", "0 or more; ranges"},
        example{"schedule", "4-6,6-8", "as 3-3,7-9"}, example{"schedule", "4,6-8", "as 3-3,7-9"},
        example{"schedule", "1-2,", "as 3-3,7-9"}, example{"schedule", "", "as 3-3,7-9"},
        example{"check", "memory,", "barrier and neighbor"},
        example{"nccl_limit", "0", "1 to 86400"}, example{"step_limit", "0", "2^N"},
        example{"step_limit", "2^63", "2^N"}));

TEST(options, an_unknown_name_lists_the_known_ones) {
  options target;
  EXPECT_NE(set_option(target, "sped", "1").find("devices, cc, memory"), std::string::npos);
}

TEST(options, every_option_accepts_its_default) {
  for (const auto name : option_names()) {
    options target;
    const auto shown = show_option(target, name);
    if (name == "fail") continue;  // empty: no rules
    EXPECT_EQ(set_option(target, name, shown), "") << name;
  }
}

TEST(options, the_environment_is_read_and_its_variable_named) {
  ::setenv("HALFWARP_EMULATOR_SEED", "5", 1);
  ::setenv("HALFWARP_EMULATOR_MODE", "", 1);  // an empty value counts as unset
  options target;
  EXPECT_EQ(read_environment(target), "");
  EXPECT_EQ(target.seed, 5u);
  EXPECT_EQ(target.mode, run_mode::async);
  ::setenv("HALFWARP_EMULATOR_SEED", "five", 1);
  EXPECT_NE(read_environment(target).find("HALFWARP_EMULATOR_SEED"), std::string::npos);
  ::unsetenv("HALFWARP_EMULATOR_SEED");
  ::unsetenv("HALFWARP_EMULATOR_MODE");
}

}  // namespace
}  // namespace halfwarp::emulator
