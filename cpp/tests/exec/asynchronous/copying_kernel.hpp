// SPDX-License-Identifier: Apache-2.0
// A kernel with 256 bytes in `s` and in global memory [g], and an mbarrier `bar` in shared memory.
#pragma once

#include <gtest/gtest.h>

#include "../machine.hpp"

namespace halfwarp::tests {

using report::fault_kind;

class copying_kernel : public testing::Test {
 protected:
  static constexpr std::size_t words = 64;

  exec::outcome run(const std::string& body, std::uint32_t threads = 1, std::uint32_t blocks = 1) {
    m.load(
        ".version 8.6\n.target sm_100a\n.address_size 64\n"
        ".visible .entry k(.param .u64 io, .param .u64 map) {\n"
        ".shared .align 1024 .b8 s[256]; .shared .align 16 .b8 bar[16];\n"
        ".reg .b16 h; .reg .b32 t, n, r<8>; .reg .b64 g, m, v, w; .reg .b128 x; .reg .pred p, q;\n"
        "ld.param.u64 g, [io]; ld.param.u64 m, [map]; mov.u32 t, s; mov.u32 t, bar;"  // in order
        "mov.u32 t, %tid.x;\n" +
        body + "\nret; }");
    if (io == 0) io = m.upload(std::vector<std::uint32_t>(words, 0));
    return m.run("k", {blocks}, {threads}, io, map);
  }
  // Returns the detail of the fault, or nothing if the kernel ends without one.
  std::string detail_of(const std::string& body) {
    const auto fault = run(body).fault;
    return fault ? fault->detail : "";
  }
  // Runs without a fault; returns the first words of global memory.
  std::vector<std::uint32_t> results(const std::string& body, std::size_t count,
                                     std::uint32_t threads = 1, std::uint32_t blocks = 1) {
    const auto fault = run(body, threads, blocks).fault;
    EXPECT_FALSE(fault) << report::full_text(*fault);
    return m.download<std::uint32_t>(io, count);
  }
  void fill(const std::vector<std::uint32_t>& values) {
    std::vector<std::uint32_t> all = values;
    all.resize(words);
    io = m.upload(all);
  }

  machine m;
  memory::address io = 0, map = 0;
};

using numbers = std::vector<std::uint32_t>;

}  // namespace halfwarp::tests
