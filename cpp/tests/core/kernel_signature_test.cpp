// SPDX-License-Identifier: Apache-2.0
// Parameter descriptions from PTX text and from mangled symbols.
#include "core/module/kernel_signature.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace halfwarp::core {
namespace {

parameter_descriptions of_entry(const std::string& text, const std::string& name) {
  const kernel_signatures signatures = signatures_of_ptx(text);
  const auto entry = signatures.find(name);
  return entry == signatures.end() ? parameter_descriptions{} : entry->second;
}

TEST(ptx_signature, reads_kinds_sizes_and_names) {
  const auto signatures = of_entry(
      ".visible .entry saxpy(.param .f32 a, .param .u64 .ptr .global .align 4 x,\n"
      "  .param .u64 n, .param .align 8 .b8 block[24], .param .s32 i, .param .b16 h)\n{ ret; }",
      "saxpy");
  ASSERT_EQ(signatures.size(), 6u);
  EXPECT_EQ(signatures[0].kind, parameter_kind::float32);
  EXPECT_EQ(signatures[0].name, "a");
  EXPECT_EQ(signatures[1].kind, parameter_kind::pointer);
  EXPECT_EQ(signatures[1].size, 8u);
  EXPECT_EQ(signatures[2].kind, parameter_kind::integer_or_pointer);
  EXPECT_EQ(signatures[3].kind, parameter_kind::aggregate);
  EXPECT_EQ(signatures[3].size, 24u);
  EXPECT_EQ(signatures[3].name, "block");
  EXPECT_EQ(signatures[4].kind, parameter_kind::signed_integer);
  EXPECT_EQ(signatures[5].kind, parameter_kind::unknown);
  EXPECT_EQ(signatures[5].size, 2u);
}

// The types of PTX parameters. A compiler writes numbers of unknown sign as .u, or as .b.
TEST(ptx_signature, knows_every_type) {
  using enum parameter_kind;
  const std::vector<parameter_kind> of_unsigned = {integer, integer, integer, integer_or_pointer};
  const std::vector<std::pair<std::string, std::vector<parameter_kind>>> families = {
      {".u", of_unsigned},
      {".s", std::vector(4, signed_integer)},
      {".b", std::vector(4, unknown)},
  };
  for (const auto& [prefix, kinds] : families) {
    for (unsigned i = 0; i < kinds.size(); ++i) {
      const std::string type = prefix + std::to_string(8u << i);
      const auto parameters = of_entry(".entry f(.param " + type + " x) {}", "f");
      ASSERT_EQ(parameters.size(), 1u) << type;
      EXPECT_EQ(parameters[0].kind, kinds[i]) << type;
      EXPECT_EQ(parameters[0].size, 1u << i) << type;
    }
  }
  const auto floats =
      of_entry(".entry f(.param .f16 a, .param .bf16 b, .param .f32 c, .param .f64 d) {}", "f");
  const std::vector<parameter_kind> kinds = {half, bfloat16, float32, float64};
  ASSERT_EQ(floats.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(floats[i].kind, kinds[i]);
  EXPECT_EQ(floats[0].size, 2u);
  EXPECT_EQ(floats[1].size, 2u);
  EXPECT_EQ(floats[2].size, 4u);
  EXPECT_EQ(floats[3].size, 8u);
}

TEST(ptx_signature, multiplies_the_size_of_an_element_by_the_extent) {
  const auto parameters =
      of_entry(".entry f(.param .align 8 .b32 words[3], .param .u8 b[1], .param .u32 $n%) {}", "f");
  ASSERT_EQ(parameters.size(), 3u);
  EXPECT_EQ(parameters[0].size, 12u);
  EXPECT_EQ(parameters[1].size, 1u);
  EXPECT_EQ(parameters[1].kind, parameter_kind::aggregate);
  EXPECT_EQ(parameters[2].name, "$n%");
}

TEST(ptx_signature, needs_the_whole_word) {
  const auto parameters = signatures_of_ptx(
      ".entry_point f(.param .u32 a)\n.entry1 g()\n.b32 x; // no .entry h()\n.entry i() {}");
  EXPECT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters.count("i"), 1u);
  EXPECT_TRUE(signatures_of_ptx(".entry").contains(""));
}

TEST(ptx_signature, keeps_the_last_of_two_entries) {
  const auto parameters = signatures_of_ptx(".entry f(.param .u32 a) {}\n.entry f() {}");
  EXPECT_TRUE(parameters.at("f").empty());
}

TEST(ptx_signature, drops_generated_names) {
  const auto signatures = of_entry(
      ".entry _Z1fi(\n\t.param .u32 _Z1fi_param_0,\n\t.param .u32 _Z1fi_params\n)\n{}", "_Z1fi");
  ASSERT_EQ(signatures.size(), 2u);
  EXPECT_EQ(signatures[0].name, "");
  EXPECT_EQ(signatures[1].name, "_Z1fi_params");
}

TEST(ptx_signature, finds_every_entry_and_no_function) {
  const auto signatures = signatures_of_ptx(
      ".func (.param .b32 r) helper(.param .b32 a) { ret; }\n"
      ".visible .entry first() { ret; }\n"
      ".weak .entry second(.param .f64 x)\n.maxntid 128, 1, 1\n{ ret; }\n"
      ".entry third { ret; }\n");
  EXPECT_EQ(signatures.size(), 3u);
  EXPECT_EQ(signatures.at("first").size(), 0u);
  EXPECT_EQ(signatures.at("second").size(), 1u);
  EXPECT_EQ(signatures.at("third").size(), 0u);
}

TEST(ptx_signature, skips_comments) {
  const auto signatures = signatures_of_ptx(
      "// .entry not_this(.param .u32 a)\n"
      ".visible .entry /* the name: */ real ( // first\n .param /* kind */ .u32 n /* , */ ) {}\n");
  ASSERT_EQ(signatures.size(), 1u);
  ASSERT_EQ(signatures.at("real").size(), 1u);
  EXPECT_EQ(signatures.at("real")[0].name, "n");
}

TEST(ptx_signature, reads_nothing_behind_the_end) {
  const std::string_view text = ".entry abc(.param .u32 def) .entry";
  EXPECT_TRUE(signatures_of_ptx(text.substr(0, 9)).contains("ab"));
  const kernel_signatures cut = signatures_of_ptx(text.substr(0, 25));
  ASSERT_EQ(cut.at("abc").size(), 1u);
  EXPECT_EQ(cut.at("abc")[0].name, "de");
  EXPECT_EQ(entry_declarations(text.substr(0, 9)), ".entry ab\n");
  EXPECT_EQ(signatures_of_ptx(text.substr(0, text.size() - 1)).size(), 1u);
}

TEST(ptx_signature, survives_text_that_ends_anywhere) {
  const std::string text =
      ".visible .entry f(.param .align 16 .b8 block[24], .param .u64 .ptr .align 4 p /* end */) {";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    EXPECT_LE(signatures_of_ptx(text.substr(0, length)).size(), 1u);
  }
}

TEST(symbol_signature, reads_types_of_parameters) {
  const auto signatures = signature_of_symbol("_Z5saxpyfPKfPfm6__half13__nv_bfloat16b");
  ASSERT_EQ(signatures.size(), 7u);
  EXPECT_EQ(signatures[0].type, "float");
  EXPECT_EQ(signatures[0].kind, parameter_kind::float32);
  EXPECT_EQ(signatures[1].type, "float const*");
  EXPECT_EQ(signatures[1].kind, parameter_kind::pointer);
  EXPECT_EQ(signatures[3].kind, parameter_kind::unsigned_integer);
  EXPECT_EQ(signatures[3].size, 8u);
  EXPECT_EQ(signatures[4].kind, parameter_kind::half);
  EXPECT_EQ(signatures[5].kind, parameter_kind::bfloat16);
  EXPECT_EQ(signatures[6].size, 1u);
}

TEST(symbol_signature, knows_the_size_of_every_number) {
  const auto signatures = signature_of_symbol(
      "_Z1fbcahDustDsijwDilmxyfd6__half13__nv_bfloat16noDn13__nv_fp8_e4m313__nv_fp8_e5m2"
      "13__nv_fp8_e8m013__nv_fp6_e2m313__nv_fp6_e3m213__nv_fp4_e2m1");
  const std::vector<std::uint32_t> sizes = {1, 1, 1, 1, 1, 2,  2,  2, 4, 4, 4, 4, 8, 8, 8,
                                            8, 4, 8, 2, 2, 16, 16, 8, 1, 1, 1, 1, 1, 1};
  ASSERT_EQ(signatures.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    EXPECT_EQ(signatures[i].size, sizes[i]) << signatures[i].type;
}

TEST(symbol_signature, knows_the_kind_of_every_number) {
  using enum parameter_kind;
  const auto parameters = signature_of_symbol(
      "_Z1fbcahDustDsijwDilmxynoDnfd6__half8_Float1613__nv_bfloat166__bf16St10bfloat16_t"
      "13__nv_fp8_e4m313__nv_fp8_e5m213__nv_fp8_e8m013__nv_fp6_e2m313__nv_fp6_e3m213__nv_fp4_e2m1");
  const std::vector<parameter_kind> kinds = {boolean,
                                             signed_integer,
                                             signed_integer,
                                             unsigned_integer,
                                             unsigned_integer,
                                             signed_integer,
                                             unsigned_integer,
                                             unsigned_integer,
                                             signed_integer,
                                             unsigned_integer,
                                             signed_integer,
                                             unsigned_integer,
                                             signed_integer,
                                             unsigned_integer,
                                             signed_integer,
                                             unsigned_integer,
                                             signed_integer,
                                             unsigned_integer,
                                             pointer,
                                             float32,
                                             float64,
                                             half,
                                             half,
                                             bfloat16,
                                             bfloat16,
                                             bfloat16,
                                             float8_e4m3,
                                             float8_e5m2,
                                             float8_e8m0,
                                             float6_e2m3,
                                             float6_e3m2,
                                             float4_e2m1};
  ASSERT_EQ(parameters.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(parameters[i].kind, kinds[i]) << parameters[i].type;
  for (std::size_t i = 21; i < 26; ++i) EXPECT_EQ(parameters[i].size, 2u) << parameters[i].type;
}

// Returns the only parameter of `void f(name)`.
parameter_description of_name(const std::string& name) {
  const auto parameters = signature_of_symbol("_Z1f" + std::to_string(name.size()) + name);
  return parameters.size() == 1 ? parameters[0] : parameter_description{};
}

TEST(symbol_signature, knows_the_vectors_of_the_headers) {
  for (const std::string element : {"char", "uchar", "short", "ushort", "int", "uint", "long",
                                    "ulong", "longlong", "ulonglong", "float", "double"}) {
    for (const std::string count : {"1", "2", "3", "4"}) {
      EXPECT_EQ(of_name(element + count).kind, parameter_kind::aggregate) << element << count;
    }
    EXPECT_EQ(of_name(element + "0").kind, parameter_kind::class_or_enum) << element;
    EXPECT_EQ(of_name(element + "5").kind, parameter_kind::class_or_enum) << element;
  }
  for (const std::string name : {"dim3", "__half2", "__nv_bfloat162", "__nv_fp8x2_e4m3"}) {
    EXPECT_EQ(of_name(name).kind, parameter_kind::aggregate) << name;
    EXPECT_EQ(of_name(name).size, 0u) << name;
  }
  EXPECT_EQ(of_name("bool1").kind, parameter_kind::class_or_enum);
}

TEST(symbol_signature, recognizes_forms_of_other_types) {
  // f(int&, int (&) [3], (anonymous namespace)::E, traits<int>::type, S<int>, f()::{lambda()#1})
  const auto parameters =
      signature_of_symbol("_Z1fRiRA3_iN12_GLOBAL__N_11EEN6traitsIiE4typeE1SIiEZ1gvEUlvE_");
  const std::vector<parameter_kind> kinds = {
      parameter_kind::pointer, parameter_kind::unknown,   parameter_kind::class_or_enum,
      parameter_kind::unknown, parameter_kind::aggregate, parameter_kind::aggregate};
  ASSERT_EQ(parameters.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(parameters[i].kind, kinds[i]) << parameters[i].type;
  EXPECT_EQ(parameters[0].size, 8u);
  EXPECT_EQ(parameters[1].size, 0u);
}

TEST(symbol_signature, splits_at_the_commas_of_the_list_only) {
  // void f<pair<int, float> >(pair<int, float>, int (*)(int, char), int)
  const auto signatures = signature_of_symbol("_Z1fI4pairIifEEvT_PFiicEi");
  ASSERT_EQ(signatures.size(), 3u);
  EXPECT_EQ(signatures[0].type, "pair<int, float>");
  EXPECT_EQ(signatures[0].kind, parameter_kind::aggregate);
  EXPECT_EQ(signatures[2].type, "int");
}

TEST(symbol_signature, distinguishes_structures_from_names_that_may_be_enumerations) {
  const auto signatures = signature_of_symbol("_Z1f4Mode6float27__half24dim3PFviE13__nv_fp8_e4m3");
  const std::vector<parameter_kind> kinds = {
      parameter_kind::class_or_enum, parameter_kind::aggregate, parameter_kind::aggregate,
      parameter_kind::aggregate,     parameter_kind::pointer,   parameter_kind::float8_e4m3};
  ASSERT_EQ(signatures.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(signatures[i].kind, kinds[i]) << signatures[i].type;
}

TEST(symbol_signature, is_empty_without_parameters_and_for_c_names) {
  EXPECT_TRUE(signature_of_symbol("_Z1fv").empty());
  EXPECT_TRUE(signature_of_symbol("saxpy").empty());
  EXPECT_TRUE(signature_of_symbol("").empty());
  EXPECT_TRUE(signature_of_symbol("_Zgarbage").empty());
}

TEST(readable_names, leave_out_parameters_and_return_type) {
  EXPECT_EQ(readable_name("_Z5saxpyfPKfPfm"), "saxpy");
  EXPECT_EQ(readable_name("_ZN2ns5scaleIfEEvPT_"), "ns::scale<float>");
  EXPECT_EQ(readable_name("_Z1fv"), "f");
  EXPECT_EQ(readable_name("plain"), "plain");
  EXPECT_EQ(readable_name("_Zgarbage"), "_Zgarbage");
  EXPECT_EQ(readable_name(""), "");
}

TEST(entry_declarations, are_all_that_signatures_need) {
  const std::string_view text =
      "// .entry not_this(.param .u32 a)\n"
      ".visible .entry f(\n.param .f32 f_param_0, // one )\n.param .u64 .ptr .align 1 p\n)\n"
      ".maxntid 32\n{ ret; }\n.entry g { ret; }\n.entry h() { .local .u32 x; ret; }\n";
  const std::string declarations = entry_declarations(text);
  EXPECT_LT(declarations.size(), text.size());
  EXPECT_EQ(declarations.find("ret"), std::string::npos);
  const kernel_signatures whole = signatures_of_ptx(text), again = signatures_of_ptx(declarations);
  ASSERT_EQ(again.size(), whole.size());
  ASSERT_EQ(again.at("f").size(), 2u);
  EXPECT_EQ(again.at("f")[0].kind, parameter_kind::float32);
  EXPECT_EQ(again.at("f")[1].kind, parameter_kind::pointer);
  EXPECT_EQ(again.at("f")[1].name, "p");
  EXPECT_TRUE(again.at("g").empty());
  EXPECT_TRUE(entry_declarations("").empty());
  EXPECT_EQ(entry_declarations(".entry cut(.param .u32"), ".entry cut(.param .u32\n");
}

}  // namespace
}  // namespace halfwarp::core
