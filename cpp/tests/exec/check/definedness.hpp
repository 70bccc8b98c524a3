// SPDX-License-Identifier: Apache-2.0
// Kernels with an unwritten word, what they compute from it, and its uses.
#pragma once

#include "checked.hpp"
#include "emulator/memory/written_bytes.hpp"

namespace halfwarp::tests {

inline const std::string all_bytes = " from 4 of 4 bytes that nobody wrote";

class definedness : public checked {
 protected:
  definedness() : checked{true} {
    m.options.check_init = true;
    define(x, 64);
  }
  void define(memory::address at, std::uint64_t bytes) {
    m.space.states()->mark(at, bytes, memory::written);
  }
  // Runs a body with an undefined word in u and a defined one in v. Both are 0x12345678.
  exec::outcome run_body(const std::string& body, std::uint32_t threads = 1) {
    *m.view<std::uint32_t>(x) = *m.view<std::uint32_t>(y) = 0x1234'5678;
    m.load(
        kernel(".shared .align 16 .b8 s[1024]; .local .align 16 .b8 l[64]; .reg .b32 r, q; .reg "
               ".b64 e, f; .reg .pred g; ld.global.u32 u, [b]; ld.global.u32 v, [a];\n" +
                   body,
               functions));
    const auto result = m.run("k", {1, 1, 1}, {threads, 1, 1}, x, y);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
    return result;
  }
  // Returns the undefined bits that a store of r (or e) to [a+8] leaves there.
  std::uint64_t undefined_bits(const std::string& body, const std::string& result = "r") {
    define(x, 64);
    const bool is_wide = result == "e" || result == "f";
    run_body(body + " st.global." + (is_wide ? "u64" : "u32") + " [a+8], " + result + ";");
    std::uint64_t states = 0;
    std::memcpy(&states, m.space.states()->at(x + 8), is_wide ? 8 : 4);
    return is_wide ? ~states : ~states & 0xffff'ffff;
  }
  struct bits {
    const char* body;
    std::uint64_t undefined;
  };
  void expect_bits(std::initializer_list<bits> rows) {
    for (const auto& [body, undefined] : rows) {
      define(y, 64);
      m.space.states()->mark(y, 64, memory::unwritten);
      EXPECT_EQ(report::hexadecimal(undefined_bits(body)), report::hexadecimal(undefined)) << body;
    }
  }
  strings uses(const std::string& body, std::uint32_t threads = 1) {
    const auto result = run_body(body, threads);
    strings all;
    for (const report::fault& each : result.findings) {
      EXPECT_EQ(each.kind, report::fault_kind::uninitialized);
      all.push_back(each.detail);
    }
    findings = result.findings;
    return all;
  }
  std::vector<report::fault> findings;
  std::string functions;  // that bodies call
};

}  // namespace halfwarp::tests
