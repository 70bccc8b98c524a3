// SPDX-License-Identifier: Apache-2.0
// The shapes of mma and wmma, and the types that mma has in each shape.
#include "emulator/ptx/matrix_forms.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace halfwarp::emulator::ptx;

const char* const shapes[] = {"m8n8k4",   "m8n8k16",   "m8n8k32",  "m8n8k128",
                              "m16n8k4",  "m16n8k8",   "m16n8k16", "m16n8k32",
                              "m16n8k64", "m16n8k128", "m16n8k256"};

// Returns m, n and k of a name such as m16n8k32.
std::vector<int> extents_of(const std::string& name) {
  const std::size_t n = name.find('n'), k = name.find('k');
  return {std::stoi(name.substr(1)), std::stoi(name.substr(n + 1)), std::stoi(name.substr(k + 1))};
}

TEST(MatrixShapes, HaveTheRowsAndTheDepthOfTheirName) {
  for (const std::string name : shapes) {
    const std::string text = "mma.sync.aligned." + name;
    const matrix_shape* const shape = find_shape(make_mnemonic(text));
    ASSERT_NE(shape, nullptr) << name;
    EXPECT_EQ((std::vector<int>{shape->rows, 8, shape->depth}), extents_of(name));
  }
  EXPECT_EQ(find_shape(make_mnemonic("mma.sync.aligned.m16n16k16")), nullptr);
}

TEST(MatrixShapes, OfWmmaHaveTheExtentsOfTheirName) {
  for (const std::string name :
       {"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4", "m8n8k32", "m8n8k128"}) {
    const std::string text = "wmma.mma.sync.aligned." + name;
    const wmma_shape* const shape = find_wmma_shape(make_mnemonic(text));
    ASSERT_NE(shape, nullptr) << name;
    EXPECT_EQ((std::vector<int>{shape->m, shape->n, shape->k}), extents_of(name));
  }
  EXPECT_EQ(find_wmma_shape(make_mnemonic("wmma.mma.sync.aligned.m16n8k8")), nullptr);
}

bool has_family(const std::string& words, const std::string& shape, const std::string& types) {
  const std::string text = "mma" + words + "." + shape + types;
  return find_family(make_mnemonic(text)) != nullptr;
}

// Returns the shapes that have these types.
std::string shapes_with(const std::string& words, const std::string& types) {
  std::string matches;
  for (const std::string shape : shapes) {
    if (has_family(words, shape, types)) matches += (matches.empty() ? "" : " ") + shape;
  }
  return matches;
}

struct family_case {
  const char *words, *types, *dense, *sparse;
};
// By the table of shapes in the manual of PTX, section "Matrix Shape".
constexpr family_case cases[] = {
    {"", ".f16.f16.f16.f16", "m16n8k8 m16n8k16", "m16n8k16 m16n8k32"},
    {"", ".f32.f16.f16.f32", "m16n8k8 m16n8k16", "m16n8k16 m16n8k32"},
    {"", ".f32.bf16.bf16.f32", "m16n8k8 m16n8k16", "m16n8k16 m16n8k32"},
    {"", ".f16.bf16.bf16.f16", "", ""},
    {"", ".f32.tf32.tf32.f32", "m16n8k4 m16n8k8", "m16n8k8 m16n8k16"},
    {"", ".f32.tf32.bf16.f32", "", ""},
    {"", ".f32.e4m3.e5m2.f32", "m16n8k16 m16n8k32", "m16n8k64"},
    {"", ".f16.e5m2.e4m3.f16", "m16n8k16 m16n8k32", "m16n8k64"},
    {"", ".f32.e3m2.e2m1.f32", "", ""},
    {".kind::f8f6f4", ".f32.e3m2.e2m1.f32", "m16n8k32", "m16n8k64"},
    {".kind::f8f6f4", ".f16.e2m3.e4m3.f16", "m16n8k32", "m16n8k64"},
    {".kind::mxf8f6f4", ".f32.e5m2.e2m3.f32", "m16n8k32", "m16n8k64"},
    {".kind::mxf8f6f4", ".f16.e5m2.e2m3.f16", "", ""},
    {".kind::mxf4", ".f32.e2m1.e2m1.f32", "m16n8k64", "m16n8k128"},
    {".kind::mxf4", ".f32.e2m1.e2m3.f32", "", ""},
    {".kind::mxf4nvf4", ".f32.e2m1.e2m1.f32", "m16n8k64", "m16n8k128"},
    {".kind::mxf4nvf4", ".f32.e4m3.e2m1.f32", "", ""},
    {"", ".f64.f64.f64.f64", "m8n8k4 m16n8k4 m16n8k8 m16n8k16", ""},
    {"", ".s32.s8.u8.s32", "m8n8k16 m16n8k16 m16n8k32", "m16n8k32 m16n8k64"},
    {"", ".s32.u4.s4.s32", "m8n8k32 m16n8k32 m16n8k64", "m16n8k64 m16n8k128"},
    {"", ".s32.u4.s8.s32", "", ""},
    {"", ".s32.b1.b1.s32", "m8n8k128 m16n8k128 m16n8k256", ""},
    {"", ".f32.f16.f16.f16", "", ""},
    {"", ".s32.s32.s32.s32", "", ""},
};

TEST(MatrixFamilies, HaveTheShapesOfTheManual) {
  for (const family_case& each : cases) {
    const std::string words = each.words;
    EXPECT_EQ(shapes_with(words, each.types), each.dense) << words << each.types;
    EXPECT_EQ(shapes_with(".sp" + words, each.types), each.sparse) << ".sp" << words << each.types;
    EXPECT_EQ(shapes_with(".sp::ordered_metadata" + words, each.types), each.sparse) << each.types;
  }
}

}  // namespace
