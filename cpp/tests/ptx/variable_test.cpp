// SPDX-License-Identifier: Apache-2.0
// Variables: size, alignment, initializers and addresses; module directives.
#include <gtest/gtest.h>

#include "sample.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::error_of;
using halfwarp::tests::parsed;

const variable& only(const module& m) {
  EXPECT_EQ(m.variables.size(), 1u);
  return m.variables.at(0);
}

std::vector<std::uint8_t> bytes_of(const std::string& declaration) {
  return only(*parsed(declaration)).initializer.bytes;
}

TEST(Variable, HasSizeAlignmentAndDimensions) {
  const auto m = parsed(".visible .global .align 16 .v2 .f32 x[3][4];");
  const variable& v = only(*m);
  EXPECT_EQ(v.name, "x");
  EXPECT_EQ(v.linkage, linkage::visible);
  EXPECT_EQ(v.space, state_space::global);
  EXPECT_EQ(v.alignment, 16u);
  EXPECT_EQ(v.element_bytes, 8u);
  EXPECT_EQ(v.size, 96u);
  EXPECT_EQ(v.dimensions, (std::vector<std::uint64_t>{3, 4}));
}

TEST(Variable, IsAlignedLikeItsTypeWithoutAlign) {
  EXPECT_EQ(only(*parsed(".const .f64 x;")).alignment, 8u);
  EXPECT_EQ(only(*parsed(".global .v4 .u32 x;")).alignment, 16u);
  EXPECT_EQ(only(*parsed(".global .b8 x[7];")).alignment, 1u);
}

TEST(Variable, MayBeUnsizedOrSizedByItsInitializer) {
  const auto open = parsed(".extern .shared .align 8 .b8 x[];");
  EXPECT_TRUE(only(*open).is_unsized);
  EXPECT_EQ(only(*open).size, 0u);
  const auto counted = parsed(".global .u16 x[] = {1, 2, 3};");
  EXPECT_FALSE(only(*counted).is_unsized);
  EXPECT_EQ(only(*counted).size, 6u);
  const auto rows = parsed(".global .b8 x[][4] = {{1}, {2}, {3}};");
  EXPECT_EQ(only(*rows).size, 12u);
  EXPECT_EQ(only(*rows).dimensions, (std::vector<std::uint64_t>{3, 4}));
  const auto started = parsed(".global .v2 .u16 x[][2] = {1, 2, 3, 4, 5};");
  EXPECT_EQ(only(*started).size, 16u);
  EXPECT_EQ(only(*started).dimensions, (std::vector<std::uint64_t>{2, 2}));
  const auto vectors = parsed(".global .v2 .u16 x[] = {1, 2, 3};");
  EXPECT_EQ(only(*vectors).size, 8u);
  EXPECT_EQ(only(*vectors).dimensions, (std::vector<std::uint64_t>{2}));
}

TEST(Variable, MayBeAsLargeAsTheMemoryOfAnyDevice) {
  EXPECT_EQ(error_of(".global .b8 x[1 << 48][0];"), "");
  EXPECT_EQ(error_of(".global .b8 x[(1 << 48) + 1][0];"), "4:32 variable 'x' is too large");
}

TEST(Variable, ReadsAttributes) {
  EXPECT_TRUE(only(*parsed(".global .attribute(.managed) .u32 x;")).is_managed);
  EXPECT_FALSE(only(*parsed(".global .u32 x;")).is_managed);
}

TEST(Initializer, BecomesLittleEndianBytes) {
  EXPECT_EQ(bytes_of(".global .u32 x = 0x01020304;"), (std::vector<std::uint8_t>{4, 3, 2, 1}));
  EXPECT_EQ(bytes_of(".global .s16 x[2] = {-1, 2};"), (std::vector<std::uint8_t>{255, 255, 2, 0}));
  EXPECT_EQ(bytes_of(".global .f32 x = 1.0;"), (std::vector<std::uint8_t>{0, 0, 128, 63}));
  EXPECT_EQ(bytes_of(".global .f32 x = 0f3F800000;"), (std::vector<std::uint8_t>{0, 0, 128, 63}));
}

TEST(Initializer, PlacesSubListsAtTheStartOfTheirRow) {
  EXPECT_EQ(bytes_of(".global .u8 x[2][3] = {{1}, {2, 3}};"),
            (std::vector<std::uint8_t>{1, 0, 0, 2, 3}));
  EXPECT_EQ(bytes_of(".global .v2 .u8 x[2] = {{1}, {2, 3}};"),
            (std::vector<std::uint8_t>{1, 0, 2, 3}));
  EXPECT_EQ(bytes_of(".global .u8 x[2][3] = {1, 2, 3, 4};"),
            (std::vector<std::uint8_t>{1, 2, 3, 4}));
}

TEST(Initializer, StoresAddressesAsRelocations) {
  const auto m = parsed(
      ".global .u32 a[4];\n"
      ".global .u64 x[4] = {a, generic(a)+12, a + 8 - 4, 5};\n"
      ".global .b8 y[2] = {0xff(a), 0xff00(generic(a)+4)};\n");
  const auto& r = m->variables[1].initializer.relocations;
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(r[0].offset, 0u);
  EXPECT_FALSE(r[0].is_generic);
  EXPECT_EQ(r[0].kind, symbol_kind::module_variable);
  EXPECT_EQ(r[0].index, 0u);
  EXPECT_TRUE(r[1].is_generic);
  EXPECT_EQ(r[1].addend, 12);
  EXPECT_EQ(r[2].offset, 16u);
  EXPECT_EQ(r[2].addend, 4);
  EXPECT_EQ(m->variables[1].initializer.bytes.size(), 32u);
  const auto& masked = m->variables[2].initializer.relocations;
  ASSERT_EQ(masked.size(), 2u);
  EXPECT_EQ(masked[1].mask, 0xff00u);
  EXPECT_EQ(masked[1].size, 1);
  EXPECT_TRUE(masked[1].is_generic);
}

TEST(Initializer, MayNameAFunctionThatIsDefinedLater) {
  const auto m = parsed(
      ".func f;\n.global .u64 x = f;\n.func f { ret; }\n.alias g, f;\n.global .u64 y = g;\n");
  const auto& r = m->variables[0].initializer.relocations[0];
  EXPECT_EQ(r.kind, symbol_kind::function);
  EXPECT_TRUE(m->functions[r.index].is_definition);
  EXPECT_EQ(m->variables[1].initializer.relocations[0].index, r.index);
}

TEST(Variable, RefusesMalformedDeclarations) {
  EXPECT_EQ(error_of(".global x;"), "4:9 expected a type such as .b32, found 'x'");
  EXPECT_EQ(error_of(".global .align 3 .u32 x;"), "4:16 alignment is not a power of two");
  EXPECT_EQ(error_of(".global .u32 x[2] = {1, 2, 3};"),
            "4:28 more values than the variable has elements");
  EXPECT_EQ(error_of(".global .u32 x[2] = {{1}};"),
            "4:22 more braces than the variable has dimensions");
  EXPECT_EQ(error_of(".global .u32 x[-1];"), "4:16 an array size must be a non-negative integer");
  EXPECT_EQ(error_of(".global .u32 x[1 << 40][1 << 40];"), "4:33 variable 'x' is too large");
  EXPECT_EQ(error_of(".global .u32 x[0][1 << 40][1 << 40];"), "4:36 variable 'x' is too large");
  EXPECT_EQ(error_of(".global .f16 x = 1.0;"),
            "4:21 a real number cannot initialize a variable of type f16");
  EXPECT_EQ(error_of(".global .u32 y;\n.shared .u64 x = y;"),
            "5:18 only a variable in .global or .const can have an initializer");
  EXPECT_EQ(error_of(".global .u32 y;\n.global .b128 x = y;"),
            "5:19 an address cannot initialize a variable of type b128");
  EXPECT_EQ(error_of(".global .shared .u32 x;"), "4:9 a declaration can have only one state space");
  EXPECT_EQ(error_of(".global .u32 x"),
            "4:15 expected ';' after a declaration, found the end of the text");
}

TEST(Variable, RefusesInitializersThatWouldExhaustHostMemory) {
  EXPECT_NE(error_of(".global .u8 x[8][1 << 40] = {{1}, {2}};"), "");
}

TEST(Module, HasVersionTargetAndFiles) {
  const auto result = parse(
      ".version 8.10\n.target sm_90a, debug\n.address_size 64\n"
      ".file 3 \"/a b/c.cu\", 17, 42\n.pragma \"x\";\n");
  ASSERT_TRUE(result) << result.log;
  EXPECT_EQ(result.value->version_major, 8u);
  EXPECT_EQ(result.value->version_minor, 10u);
  EXPECT_EQ(result.value->target, "sm_90a");
  EXPECT_EQ(result.value->target_architecture(), 90u);
  ASSERT_EQ(result.value->target_flags.size(), 1u);
  EXPECT_EQ(result.value->file_path(3), "/a b/c.cu");
  EXPECT_EQ(result.value->file_path(4), "");
}

TEST(Module, IgnoresPaddingAroundTheText) {
  EXPECT_TRUE(
      parse(std::string_view{"\xef\xbb\xbf \n// x\n.version 8.0\n.target sm_90\n\0\0", 40}));
}

TEST(Module, NeedsVersionAndTarget) {
  EXPECT_EQ(parse("").error.to_text(),
            "ptx input, line 1; error: expected .version at the start of the PTX text, found the "
            "end of the text");
  EXPECT_EQ(parse(".version 8.0\n").error.message, "the PTX text has no .target directive");
  EXPECT_EQ(parse(".version 8\n.target sm_90\n").error.message,
            "expected a version such as 8.5, found '8'");
  EXPECT_EQ(error_of(".address_size 32"), "4:1 the PTX text has two sizes of addresses");
  EXPECT_EQ(error_of("hello"), "4:1 expected a directive, found 'hello'");
}

TEST(Module, SkipsDebugSections) {
  const auto m = parsed(
      ".section .debug_info {\n.b32 $L__a-$L__b\n$L__c:\n.b8 1,2\n}\n"
      ".section\t.debug_loc\n{ }\n@@DWARF .section x\n.global .u32 x;");
  EXPECT_EQ(only(*m).name, "x");
  EXPECT_TRUE(m->unknown_directives.empty());
}

TEST(Module, StoresUnknownDirectivesAsText) {
  const auto m =
      parsed(".novelty \"a\" 1;\n.block { .b8 1; { } }\n.visible .thing x\n.global .u32 y;");
  ASSERT_EQ(m->unknown_directives.size(), 3u);
  EXPECT_EQ(m->unknown_directives[0].text, ".novelty \"a\" 1");
  EXPECT_EQ(m->unknown_directives[1].text, ".block { .b8 1; { } }");
  EXPECT_EQ(m->unknown_directives[2].text, ".visible .thing x");
  EXPECT_EQ(m->unknown_directives[2].line, 6u);
  EXPECT_EQ(only(*m).name, "y");
}

}  // namespace
