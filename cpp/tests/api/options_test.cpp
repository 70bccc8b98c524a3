// SPDX-License-Identifier: Apache-2.0
// Options: accepted and rejected values, defaults and canonical spellings.
#include "emulator/settings/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
    testing::Values(
        example{"devices", "16", "16"}, example{"cc", "12.0", "12.0"},
        example{"memory", "64MiB", "67108864"}, example{"memory", "1 G", "1073741824"},
        example{"memory", "16777216", "16777216"}, example{"mode", "eager", "eager"},
        example{"seed", "18446744073709551615", "18446744073709551615"},
        example{"check", "all", "memory,sync,leak,race,init,hazard,barrier,neighbor"},
        example{"check", "leak,memory", "memory,leak"}, example{"check", "none", "none"},
        example{"trace", "off", "off"}, example{"trace", "site,api", "api,site"},
        example{"step_limit", "2^10", "1024"}, example{"schedule", "12", "12"},
        example{"schedule", "all", "all"}, example{"schedule", "3-3,7-9", "3-3,7-9"},
        example{"schedule", "0", "0"}, example{"schedule", "1-5", "5"},
        example{"nccl_limit", "5", "5"}, example{"report", "a/b.jsonl", "a/b.jsonl"},
        example{"profile", "a/p.jsonl", "a/p.jsonl"}, example{"schedule", "3-3", "3-3"},
        example{"schedule", "2-5", "2-5"}, example{"schedule", "1-1", "1"},
        example{"schedule", "1-1,3-3", "1-1,3-3"}, example{"schedule", "4-4,5-5", "4-4,5-5"},
        example{"check", "none,sync", "sync"}, example{"check", "off", "none"},
        example{"trace", "none", "off"}, example{"trace", "all", "api,site"},
        example{"check", "", "none"}, example{"step_limit", "1", "1"},
        example{"step_limit", "2^0", "1"}, example{"step_limit", "2^62", "4611686018427387904"},
        example{"fail", "cuInit:1=1,any:2=2", "cuInit:1=1,any:2=2"}, example{"suppress", "", ""},
        example{"profile", "", ""}));

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
        example{"schedule", "1-2,", "as 3-3,7-9"}, example{"schedule", "5-4", "as 3-3,7-9"},
        example{"schedule", "0-3", "as 3-3,7-9"}, example{"schedule", "1-2-3", "as 3-3,7-9"},
        example{"schedule", "2-", "as 3-3,7-9"}, example{"schedule", "-2-3", "as 3-3,7-9"},
        example{"schedule", "4-4,4-4", "as 3-3,7-9"}, example{"check", ",sync", "barrier and"},
        example{"step_limit", "2^", "2^N"}, example{"step_limit", "2^-1", "2^N"},
        example{"schedule", "", "as 3-3,7-9"}, example{"check", "memory,", "barrier and neighbor"},
        example{"nccl_limit", "0", "1 to 86400"}, example{"step_limit", "0", "2^N"},
        example{"step_limit", "2^63", "2^N"}));

TEST(options, an_unknown_name_lists_the_known_ones) {
  options target;
  EXPECT_NE(set_option(target, "sped", "1").find("devices, cc, memory"), std::string::npos);
}

TEST(options, refusals_are_whole_sentences) {
  options target;
  EXPECT_EQ(set_option(target, "threads", "many"),
            "emulator option 'threads': 'many' is not accepted; it takes 1 to 256");
  EXPECT_EQ(set_option(target, "suppress", "/nonexistent/rules"),
            "emulator option 'suppress': '/nonexistent/rules' is not accepted; it takes the path "
            "of a file of rules 'kind kernel-glob file-glob[:line] reason' (/nonexistent/rules: No "
            "such file or directory)");
  EXPECT_EQ(set_option(target, "", "1"),
            "the emulator has no option ''; its options are devices, cc, memory, multiprocessors, "
            "mode, seed, schedule, threads, check, fail, trace, step_limit, nccl_limit, report, "
            "suppress, strict, destroyed, fidelity, profile, fork_in_init");
}

TEST(options, every_option_accepts_its_default) {
  for (const auto name : option_names()) {
    options target;
    const auto shown = show_option(target, name);
    if (name == "fail") continue;  // empty: no rules
    EXPECT_EQ(set_option(target, name, shown), "") << name;
  }
}

TEST(options, have_the_defaults_of_the_documentation) {
  constexpr std::pair<std::string_view, std::string_view> defaults[] = {
      {"devices", "1"},         {"cc", "9.0"},
      {"memory", "2147483648"}, {"multiprocessors", "4"},
      {"mode", "async"},        {"seed", "0"},
      {"schedule", "all"},      {"threads", "1"},
      {"check", "memory,sync"}, {"fail", ""},
      {"trace", "off"},         {"step_limit", "68719476736"},
      {"nccl_limit", "60"},     {"report", "stderr"},
      {"suppress", ""},         {"strict", "0"},
      {"destroyed", "report"},  {"fidelity", "0"},
      {"profile", ""},          {"fork_in_init", "0"}};
  std::vector<std::string_view> names;
  for (const auto& [name, value] : defaults) {
    EXPECT_EQ(show_option({}, name), value) << name;
    names.push_back(name);
  }
  EXPECT_TRUE(std::ranges::equal(option_names(), names));
  EXPECT_EQ(show_option({}, "sped"), "");
}

TEST(options, each_of_the_named_values_is_read_as_it_is_shown) {
  const std::pair<std::string_view, std::vector<std::string_view>> all[] = {
      {"cc", {"7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"}},
      {"cc", {"9.0,7.5", "12.1,12.1,8.0"}},
      {"mode", {"eager", "async", "adversarial", "null"}},
      {"destroyed", {"report", "abort", "answer"}},
      {"check", {"memory", "sync", "leak", "race", "init", "hazard", "barrier", "neighbor"}},
      {"strict", {"0", "1"}},
      {"fidelity", {"0", "1"}},
      {"fork_in_init", {"0", "1"}},
      {"devices", {"1", "16"}},
      {"multiprocessors", {"2", "1024"}},
      {"threads", {"1", "256"}},
      {"memory", {"16777216", "64424509440"}},
      {"nccl_limit", {"1", "86400"}},
      {"schedule", {"2-5", "3-3", "1-1,3-4", "0", "1"}}};
  for (const auto& [name, values] : all) {
    for (const auto value : values) {
      options target;
      EXPECT_EQ(set_option(target, name, value), "");
      EXPECT_EQ(show_option(target, name), value);
    }
  }
}

TEST(options, numbers_beyond_the_limits_are_refused) {
  constexpr std::pair<std::string_view, std::string_view> beyond[] = {
      {"devices", "17"},
      {"multiprocessors", "1"},
      {"multiprocessors", "1025"},
      {"threads", "0"},
      {"threads", "257"},
      {"memory", "16777215"},
      {"memory", "64424509441"},
      {"nccl_limit", "86401"},
      {"seed", "18446744073709551616"},
      {"seed", "0x1"},
      {"cc", "9.0,"},
      {"memory", "17179869184G"},
      {"memory", "17179869185G"},  // 1 GiB in 64 bits
      {"memory", "67108864T"},
      {"fail", "cuInit:1"},
      {"memory", "1 0"},
      {"strict", "2"},
      {"cc", ""},
      {"report", ""}};
  for (const auto& [name, value] : beyond) {
    options target;
    EXPECT_NE(set_option(target, name, value), "") << name << " " << value;
  }
}

TEST(options, sizes_have_units) {
  constexpr std::pair<std::string_view, std::uint64_t> sizes[] = {
      {"20000000", 20'000'000},
      {"20000000B", 20'000'000},
      {"17000K", 17000 << 10},
      {"17000 KiB", 17000 << 10},
      {"17M", 17 << 20},
      {"17MiB", 17 << 20},
      {"3G", std::uint64_t{3} << 30},
      {"3 GiB", std::uint64_t{3} << 30}};
  for (const auto& [text, bytes] : sizes) {
    options target;
    EXPECT_EQ(set_option(target, "memory", text), "") << text;
    EXPECT_EQ(target.memory, bytes) << text;
  }
}

TEST(options, truth_has_several_spellings) {
  for (const auto& [text, expected] : {std::pair{"true", true},
                                       {"yes", true},
                                       {"True", true},
                                       {"false", false},
                                       {"no", false},
                                       {"False", false}}) {
    options target;
    target.is_strict = !expected;
    EXPECT_EQ(set_option(target, "strict", text), "");
    EXPECT_EQ(target.is_strict, expected) << text;
  }
}

TEST(options, the_last_capability_applies_to_all_further_devices) {
  options target;
  ASSERT_EQ(set_option(target, "cc", "7.5,12.1"), "");
  EXPECT_EQ(target.capability_of(0), (std::pair{7, 5}));
  EXPECT_EQ(target.capability_of(1), (std::pair{12, 1}));
  EXPECT_EQ(target.capability_of(9), (std::pair{12, 1}));
}

TEST(options, the_environment_is_read_and_its_variable_named) {
  ::setenv("HALFWARP_EMULATOR_SEED", "5", 1);
  ::setenv("HALFWARP_EMULATOR_MODE", "", 1);  // an empty value counts as unset
  options target;
  EXPECT_EQ(read_environment(target), "");
  EXPECT_EQ(target.seed, 5u);
  EXPECT_EQ(target.mode, run_mode::async);
  ::setenv("HALFWARP_EMULATOR_SEED", "five", 1);
  EXPECT_EQ(read_environment(target),
            "emulator option 'seed': 'five' is not accepted; it takes a number of 0 or more (from "
            "the environment variable HALFWARP_EMULATOR_SEED)");
  EXPECT_EQ(target.seed, 5u);
  ::unsetenv("HALFWARP_EMULATOR_SEED");
  ::unsetenv("HALFWARP_EMULATOR_MODE");
}

}  // namespace
}  // namespace halfwarp::emulator
