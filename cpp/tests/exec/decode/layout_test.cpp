// SPDX-License-Identifier: Apache-2.0
// The functions of a kernel, and the places of its variables.
#include <gtest/gtest.h>

#include "../machine.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/decode/kernel_layout.hpp"

namespace halfwarp::tests {
namespace {

class layout : public testing::Test {
 protected:
  const exec::kernel& load(const std::string& text) {
    return *m_.load(".version 8.0\n.target sm_90\n.address_size 64\n" + text).find_kernel("k");
  }
  const exec::kernel_code& decode(const std::string& text) {
    const exec::kernel& entry = load(text);
    return exec::code_of(entry.owner(), entry.function());
  }
  exec::kernel_layout of(const std::string& text) {
    const exec::kernel& entry = load(text);
    return exec::compute_layout(*entry.owner().source, entry.function());
  }
  // Returns the offsets of shared variables by name.
  std::map<std::string, std::uint32_t> offsets(const std::string& text) {
    std::map<std::string, std::uint32_t> all;
    for (const auto& [v, offset] : of(text).shared_offsets) all.emplace(v->name, offset);
    return all;
  }

  machine m_;
};

using names = std::map<std::string, std::uint32_t>;

TEST_F(layout, shared_variables_follow_each_other_by_their_alignment) {
  const std::string text =
      ".shared .align 4 .b8 unused[999]; .shared .align 1 .b8 one[3];"
      ".shared .align 8 .b8 two[8]; .extern .shared .align 4 .b8 rest[];\n"
      ".func f() { .reg .b32 r; .shared .align 2 .b8 own[2]; mov.u32 r, own; mov.u32 r, two; ret; }"
      ".visible .entry k() { .reg .b32 r; .reg .b64 d; .shared .align 4 .b8 three[4];\n"
      "mov.u32 r, one; mov.u32 r, rest; st.shared.u32 [three], r; mov.u32 r, one; call f; ret; }";
  // The code names them in this order. Those without a size follow at a multiple of 16.
  EXPECT_EQ(offsets(text),
            (names{{"one", 0}, {"three", 4}, {"own", 8}, {"two", 16}, {"rest", 32}}));
  EXPECT_EQ(of(text).static_shared_bytes, 32u);
}

TEST_F(layout, shared_memory_without_a_size_has_its_alignment) {
  const std::string text =
      ".extern .shared .align 64 .b8 a[]; .extern .shared .align 32 .b8 b[]; .shared .b8 c[5];\n"
      ".visible .entry k() { .reg .b32 r; mov.u32 r, a; mov.u32 r, b; mov.u32 r, c; ret; }";
  EXPECT_EQ(offsets(text), (names{{"a", 64}, {"b", 64}, {"c", 0}}));
  EXPECT_EQ(of(text).static_shared_bytes, 64u);
  const std::string only =
      ".shared .b8 c[5]; .visible .entry k() { .reg .b32 r; mov.u32 r, c; ret; }";
  EXPECT_EQ(of(only).static_shared_bytes, 5u);
}

TEST_F(layout, shared_memory_beyond_every_device_has_a_largest_size) {
  const auto bytes = [&](const std::string& sizes) {
    return of(".shared .b8 a[" + sizes +
              "]; .shared .b8 b[8]; .visible .entry k() { .reg .b32 r; mov.u32 r, a;"
              "mov.u32 r, b; ret; }")
        .static_shared_bytes;
  };
  EXPECT_EQ(bytes("1073741815"), (1u << 30) - 1);
  EXPECT_EQ(bytes("1073741816"), 1u << 30);
  EXPECT_EQ(bytes("1073741817"), 1u << 30);
  EXPECT_EQ(bytes("1073741825"), 1u << 30);
  EXPECT_EQ(bytes("4294967295"), 1u << 30);
}

TEST_F(layout, a_kernel_has_the_functions_that_it_can_reach) {
  const std::string functions =
      ".func declared(); .func a() { ret; } .func b() { call a; ret; } .func c() { ret; }\n"
      ".visible .entry other() { ret; }\n.global .align 8 .u64 table[3] = {c, other, declared};\n";
  const auto direct = of(functions + ".visible .entry k() { call b; call a; ret; }");
  EXPECT_EQ(direct.functions, (std::vector{5u, 1u, 2u}));
  EXPECT_FALSE(direct.has_indirect_call);
  EXPECT_EQ(direct.index_of(5), 0u);
  EXPECT_EQ(direct.index_of(2), 2u);
  const auto indirect =
      of(functions +
         ".visible .entry k() { .reg .b64 d; p: .callprototype _ (); mov.u64 d, b;"
         "call d, p; ret; }");
  EXPECT_EQ(indirect.functions, (std::vector{5u, 2u, 3u, 1u}));
  EXPECT_TRUE(indirect.has_indirect_call);
  const auto launches =
      of(functions + ".visible .entry k() { .reg .b64 d; mov.u64 d, other; ret; }");
  EXPECT_EQ(launches.functions, (std::vector{5u}));
}

// ---- frames

TEST_F(layout, variables_and_parameters_follow_each_other_in_a_frame) {
  const auto& code = decode(
      ".func (.param .b32 r) f(.param .b8 a, .param .align 8 .b8 b[12], .reg .b32 c) {\n"
      ".local .align 4 .b8 x[6]; .local .align 16 .b8 y[1]; .param .b16 z; .local .b8 w[2];\n"
      "st.param.b32 [r], c; ret; }\n"
      ".visible .entry k(.param .b64 p, .param .b32 q) { .reg .b64 d; .local .align 4 .b8 x[9];\n"
      "mov.u64 d, q; .param .b8 a; .param .align 8 .b8 b[12]; .param .b32 r; .param .b8 e; .reg "
      ".b32 c;\n"
      "call (r), f, (a, b, c); ret; }");
  const auto &entry = code.functions.at(0), &callee = code.functions.at(1);
  EXPECT_EQ(callee.local_bytes, 19u);           // x at 0, y at 16, w at 17
  EXPECT_EQ(callee.parameter_offsets[0], 22u);  // behind z at 20
  EXPECT_EQ(callee.parameter_offsets[1], 24u);
  EXPECT_EQ(callee.result_offsets, (std::vector{36u}));
  EXPECT_EQ(callee.frame_bytes, 48u);
  EXPECT_EQ(entry.local_bytes, 9u);
  EXPECT_EQ(entry.parameter_block, 48u);  // behind a at 9, b at 16, r at 28 and e at 32
  EXPECT_EQ(entry.parameter_block_bytes, 12u);
  EXPECT_EQ(entry.parameter_offsets, (std::vector{48u, 56u}));
  EXPECT_EQ(entry.frame_bytes, 64u);
  EXPECT_EQ(code.local_bytes, 64u + 16u + 48u);
  EXPECT_FALSE(code.is_recursive);
}

TEST_F(layout, the_deepest_chain_of_calls_has_all_frames) {
  const auto frame = [](int bytes) {
    return "{ .reg .b64 d; .local .b8 x[" + std::to_string(bytes) + "]; mov.u64 d, x; ";
  };
  const std::string functions = ".func a() " + frame(32) + "ret; }\n.func b() " + frame(48) +
                                "call a; ret; }\n.func c() " + frame(64) + "ret; }\n";
  EXPECT_EQ(
      decode(functions + ".visible .entry k() " + frame(16) + "call b; call c; ret; }").local_bytes,
      16u + 16 + 48 + 16 + 32);
  EXPECT_EQ(
      decode(functions + ".visible .entry k() " + frame(16) + "call c; call a; ret; }").local_bytes,
      16u + 16 + 64);
  // An indirect call may reach every function of the kernel.
  EXPECT_EQ(decode(functions + ".visible .entry k() " + frame(16) +
                   "p: .callprototype _ (); mov.u64 d, c; mov.u64 d, a; call d, p; ret; }")
                .local_bytes,
            16u + 16 + 64);
  const auto& recursive = decode(".func a() " + frame(32) + "call a; ret; }\n.visible .entry k() " +
                                 frame(16) + "call a; ret; }");
  EXPECT_TRUE(recursive.is_recursive);
  EXPECT_EQ(recursive.local_bytes, 16u + 16 + 32 + 16);
}

TEST_F(layout, a_thread_has_512_kilobytes_of_local_memory) {
  const auto refusal = [&](int outer, int inner) -> std::string {
    const auto& code =
        decode(".func a() { .reg .b64 d; .local .b8 x[" + std::to_string(inner) +
               "]; mov.u64 d, x; ret; }\n.visible .entry k() { .reg .b64 d; .local .b8 x[" +
               std::to_string(outer) + "]; mov.u64 d, x; call a; ret; }");
    return code.refusal ? code.refusal->detail : std::to_string(code.local_bytes);
  };
  constexpr int limit = 512 << 10;
  EXPECT_EQ(refusal(limit - 32, 16), std::to_string(limit));
  EXPECT_EQ(refusal(limit - 32, 17),
            "the deepest call chain needs 524304 bytes of local memory, the limit is 524288");
  EXPECT_EQ(refusal(16, limit + 1),
            "the variables of 'a' need more than 524288 bytes of local memory");
  EXPECT_EQ(refusal(limit + 1, 16),
            "the variables of 'k' need more than 524288 bytes of local memory");
}

// ---- attributes

TEST_F(layout, registers_and_threads_come_from_the_directives) {
  std::string body = "{ .reg .b32 r<200>;";
  for (int n = 0; n < 200; ++n) {
    body += "mov.u32 r" + std::to_string(n) + ", %clock; mov.u32 r0, %clock;";
  }
  for (int n = 1; n < 200; ++n) body += "add.u32 r0, r0, r" + std::to_string(n) + ";";
  body += "st.global.u32 [64], r0; ret; }";
  const auto of = [&](const std::string& directives) {
    const auto& a = load(".visible .entry k() " + directives + body).attributes();
    return std::pair{a.max_threads, a.registers};
  };
  using pair = std::pair<std::uint32_t, std::uint32_t>;
  EXPECT_EQ(of(""), (pair{1024, 64}));
  EXPECT_EQ(of(".maxntid 512"), (pair{512, 128}));
  EXPECT_EQ(of(".maxntid 385"), (pair{385, 128}));
  EXPECT_EQ(of(".maxntid 384"), (pair{384, 170}));
  EXPECT_EQ(of(".maxntid 8, 4, 2"), (pair{64, of(".maxntid 1").second}));
  EXPECT_GE(of(".maxntid 64").second, 200u);
  EXPECT_EQ(of(".maxntid 1024, 4"), (pair{1024, 64}));
  EXPECT_EQ(of(".reqntid 16, 32"), (pair{512, 128}));
  EXPECT_EQ(of(".maxntid 64 .maxnreg 40"), (pair{64, 40}));
  EXPECT_EQ(of(".maxnreg 99"), (pair{1024, 64}));
}

TEST_F(layout, functions_have_small_addresses) {
  const exec::kernel& entry = load(".func a() { ret; }\n.visible .entry k() { ret; }");
  EXPECT_EQ(entry.owner().function_address(0), 8u);
  EXPECT_EQ(entry.owner().function_address(1), 16u);
  EXPECT_EQ(entry.owner().kernel_at(16), &entry);
  EXPECT_EQ(entry.owner().kernel_at(8), nullptr);
  EXPECT_EQ(entry.owner().kernel_at(24), nullptr);
}

}  // namespace
}  // namespace halfwarp::tests
