// SPDX-License-Identifier: Apache-2.0
// Links of PTX texts: what does not fit together, and which names the result has.
#include <gtest/gtest.h>

#include "emulator/link/ptx_linker.hpp"
#include "emulator/ptx/parser.hpp"

namespace halfwarp::tests {
namespace {

namespace link = emulator::link;
namespace ptx = emulator::ptx;

std::string whole(const std::string& text) {
  return ".version 8.0\n.target sm_75\n.address_size 64\n" + text;
}

link::ptx_link joined(const std::vector<std::string>& texts, link::link_rules rules = {}) {
  std::vector<link::ptx_input> inputs;
  for (const std::string& each : texts) {
    inputs.push_back({std::string(1, static_cast<char>('a' + inputs.size())), whole(each)});
  }
  return link::link_ptx(inputs, [](std::string_view name) { return name == "vprintf"; }, rules);
}

std::string log_of(const std::vector<std::string>& texts, link::link_rules rules = {}) {
  const link::ptx_link result = joined(texts, rules);
  EXPECT_EQ(result.log.empty(), static_cast<bool>(result));
  EXPECT_EQ(result.log.empty(), !result.text.empty());
  return result.log;
}

const std::string error = "error   : ";
const std::string caller =
    ".visible .entry k() { .reg .b32 x; { .param .b32 r; .param .b32 v; .param .b64 w;\n"
    "mov.u32 x, 0; st.param.b32 [v], x; call (r), f, (v); } ret; }\n";
const std::string declared = ".extern .func (.param .b32 r) f (.param .b32 v);\n";
const std::string user = declared + caller;

std::string defined(const std::string& results, const std::string& parameters) {
  return ".visible .func " + results + " f " + parameters + " { ret; }";
}

TEST(link, a_definition_has_the_prototype_of_its_declarations) {
  const std::string problem = error + "Prototype doesn't match for 'f' in 'a', defined in 'b'\n";
  EXPECT_EQ(log_of({user, defined("(.param .b32 r)", "(.param .b32 v)")}), "");
  EXPECT_EQ(log_of({user, defined("(.param .b64 r)", "(.param .b32 v)")}), problem);
  EXPECT_EQ(log_of({user, defined("", "(.param .b32 v)")}), problem);
  EXPECT_EQ(log_of({user, defined("(.param .b32 r)", "(.param .b64 v)")}), problem);
  EXPECT_EQ(log_of({user, defined("(.param .b32 r)", "(.param .b16 v, .param .b16 w)")}), problem);
  EXPECT_EQ(log_of({user, defined("(.param .b32 r)", "()")}), problem);
}

TEST(link, a_name_is_a_function_or_a_variable_everywhere) {
  const std::string problem = error + "Kind doesn't match for 'f' in 'a', defined in 'b'\n";
  EXPECT_EQ(log_of({user, ".visible .global .u32 f;"}), problem);
  const std::string variable = ".extern .global .u32 f;\n";
  EXPECT_EQ(log_of({variable, defined("(.param .b32 r)", "(.param .b32 v)")}), problem);
}

TEST(link, a_variable_has_one_space_and_one_size) {
  const std::string variable = ".extern .global .u32 v[4];\n";
  EXPECT_EQ(log_of({variable, ".visible .global .u32 v[4];"}), "");
  EXPECT_EQ(log_of({".extern .global .u32 v[];\n", ".visible .global .u32 v[4];"}), "");
  EXPECT_EQ(log_of({variable, ".visible .global .u32 v[5];"}),
            error + "Size doesn't match for 'v' in 'a', defined in 'b'\n");
  EXPECT_EQ(log_of({variable, ".visible .const .u32 v[4];"}),
            error + "Memory space doesn't match for 'v' in 'a', defined in 'b'\n");
}

TEST(link, what_the_code_uses_is_defined) {
  const std::string problem = error + "Undefined reference to 'f' in 'a'\n";
  EXPECT_EQ(log_of({user}), problem);
  EXPECT_EQ(log_of({user, ""}), problem);
  EXPECT_EQ(log_of({user}, {.allows_undefined = true}), "");
  EXPECT_EQ(log_of({declared}), "") << "nobody calls it";
  EXPECT_EQ(log_of({declared + defined("(.param .b32 r)", "(.param .b32 v)") + caller}), "");
  EXPECT_EQ(log_of({".extern .global .u32 v;\n.visible .global .u64 p = v;\n"}),
            error + "Undefined reference to 'v' in 'a'\n");
  EXPECT_EQ(log_of({".extern .global .u32 v;\n"}), "");
  EXPECT_EQ(log_of({".extern .func vprintf();\n.visible .entry k() { call vprintf; ret; }"}), "");
}

TEST(link, texts_that_no_parser_reads_are_named) {
  EXPECT_EQ(log_of({}), "nothing to link\n");
  const std::string log = log_of({user, ".visible v;", ".entry"});
  EXPECT_TRUE(log.starts_with("b: ")) << log;
  EXPECT_NE(log.find("\nc: "), std::string::npos) << log;
}

std::vector<std::string> names_in(const std::string& text) {
  const auto parsed = ptx::parse(text);
  EXPECT_TRUE(parsed) << parsed.log << text;
  std::vector<std::string> names;
  if (!parsed) return names;
  for (const auto& v : parsed.value->variables) names.emplace_back(v.name);
  for (const auto& f : parsed.value->functions) names.emplace_back(f.name);
  return names;
}

// A function and a variable that another source has too are renamed wherever they are used.
TEST(link, equal_internal_names_of_two_sources_stay_apart) {
  const auto source = [](const std::string& kernel) {
    return ".global .u32 v = 1;\n.global .u64 p = v;\n.func f() { ret; }\n"
           ".visible .entry " +
           kernel +
           "() { .reg .b64 a; mov.u64 a, v; call f;\n"
           "List: .calltargets f; mov.u64 a, f; Form: .callprototype _ ();\n"
           "call a, (), List; ret; }";
  };
  const link::ptx_link result = joined({source("k"), source("l")});
  ASSERT_TRUE(result) << result.log;
  EXPECT_EQ(names_in(result.text),
            (std::vector<std::string>{"v$link0", "p$link0", "v$link1", "p$link1", "f$link0", "k",
                                      "f$link1", "l"}));
  const auto count = [&](const std::string& word) {
    std::size_t n = 0;
    for (auto at = result.text.find(word); at != std::string::npos; ++n) {
      at = result.text.find(word, at + 1);
    }
    return n;
  };
  EXPECT_EQ(count("v$link1"), 3u) << "declared, in an initializer, in the code\n" << result.text;
  EXPECT_EQ(count("f$link1"), 4u) << "declared, called, in a list, as a value\n" << result.text;
  EXPECT_TRUE(joined({source("k")}).text.find("$link") == std::string::npos);
}

// Declarations of what is defined, or declared before, are left out.
TEST(link, a_function_appears_once) {
  const auto caller = [](const std::string& kernel) {
    return ".visible .entry " + kernel + "() { call f; ret; }\n";
  };
  const std::string declaration = ".func f();\n", external = ".extern .func f();\n";
  using names = std::vector<std::string>;
  const std::string internal = declaration + caller("k") + ".func f() { ret; }\n";
  EXPECT_EQ(names_in(joined({internal}).text), (names{"k", "f"}));
  const std::string visible = ".visible .func f() { ret; }\n";
  EXPECT_EQ(names_in(joined({external + caller("k"), external + visible}).text), (names{"k", "f"}));
  EXPECT_EQ(names_in(joined({visible, external + caller("k")}).text), (names{"f", "k"}));
  const std::vector<std::string> both = {external + caller("k"), external + caller("l")};
  EXPECT_EQ(names_in(joined(both, {.allows_undefined = true}).text), (names{"f", "k", "l"}));
}

TEST(link, sources_define_the_same_symbol) {
  const std::vector<link::ptx_input> inputs = {{"a", "no PTX"},
                                               {"b", whole(".visible .global .u32 v;")}};
  EXPECT_TRUE(link::defines_same_symbol(whole(".visible .global .u32 v;"), inputs));
  EXPECT_FALSE(link::defines_same_symbol(whole(".visible .global .u32 w;"), inputs));
  EXPECT_FALSE(link::defines_same_symbol(whole(".global .u32 v;"), inputs));
  EXPECT_FALSE(link::defines_same_symbol(".visible .global .u32 v;", inputs));
}

}  // namespace
}  // namespace halfwarp::tests
