// SPDX-License-Identifier: Apache-2.0
// Forms that the decoder refuses, with the reason that the fault of the launch names.
#include <gtest/gtest.h>

#include <fstream>

#include "machine.hpp"

namespace halfwarp::tests {
namespace {

// Returns why a launch of a kernel with the statement is refused, or "".
std::string reason_of(const std::string& statement) {
  machine m;
  m.load(
      ".version 8.8\n.target sm_100a\n.address_size 64\n.global .texref x;\n.func f();\n"
      ".func (.reg .b32 z) g(.reg .b32 y) { mov.b32 z, y; ret; }\n"
      ".visible .entry k(.param .b32 o) { .reg .b32 t, u, v, w; .reg .b64 c, d; .reg .pred p; .reg "
      ".f32 r;\n"
      ".reg .b16 h; .reg .b128 q; .shared .align 128 .b8 s[256];\n"
      "LIST: .branchtargets END;\n" +
      statement + "\nEND: ret; }");
  const auto result = m.run("k", {1, 1, 1}, {32, 1, 1}, 0u);
  if (!result.fault || result.fault->kind != report::fault_kind::not_supported) return "";
  EXPECT_EQ(result.fault->ptx_line, 10u) << statement;
  return result.fault->detail;
}

TEST(refused, forms_have_a_reason) {
  std::ifstream file{HALFWARP_REFUSED_FORMS};
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const std::size_t bar = line.find(" | ");
    ASSERT_NE(bar, std::string::npos) << line;
    EXPECT_EQ(reason_of(line.substr(bar + 3)), line.substr(0, bar)) << line;
  }
  EXPECT_GT(count, 150u);
}

TEST(refused, forms_have_accepted_neighbors) {
  for (const char* const statement :
       {"cp.async.bulk.wait_group 0;", "cp.async.wait_group 0;", "st.bulk.shared::cta [s], 0, 0;",
        "alloca.u64 d, 16, 1;", "alloca.u64 d, 16, 4096;", "vadd.s32.s32.s32 t, u.b3, v;",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {t, t, t, t, t, t, t, t}, {t, t}, {t, t}, "
        "{t, t, t, t};",
        "wgmma.wait_group.sync.aligned 0;", "griddepcontrol.wait;",
        "tcgen05.mma.cta_group::1.kind::f16 [t], c, d, u, p, 0;",
        "tcgen05.mma.cta_group::1.kind::f16 [t], c, d, u, p, 15;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {r, r, r, r}, c, d, t, 1, p, 1, -1, "
        "0, "
        "1;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {r, r, r, r}, c, d, t, 0, p, -1, "
        "1, "
        "1, 0;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {r, r, r, r}, c, d, t, 1, p, 1, 1;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e5m2 {r, r, r, r}, c, d, t, 0, p, 1, 1;",
        "vadd4.s32.s32.s32 t.b3210, u, v, w;", "vadd2.s32.s32.s32 t.h1, u, v, w;"}) {
    EXPECT_EQ(reason_of(statement), "") << statement;
  }
}

}  // namespace
}  // namespace halfwarp::tests
