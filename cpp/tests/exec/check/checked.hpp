// SPDX-License-Identifier: Apache-2.0
// Kernels that run with a check, and what it finds.
#pragma once

#include <gtest/gtest.h>

#include "../machine.hpp"

namespace halfwarp::tests {
inline const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
inline const std::string registers =
    ".reg .b64 a, b, c, d; .reg .b32 t, u, v, w; .reg .pred p; .reg .b16 h;\n";

// A kernel with two pointers in a and b, and the number of the thread in t.
inline std::string kernel(const std::string& body, const std::string& before = "") {
  return head + before + ".visible .entry k(.param .u64 x, .param .u64 y) { " + registers +
         "ld.param.u64 a, [x]; ld.param.u64 b, [y]; mov.u32 t, %tid.x;\n" + body + "\nret; }";
}

// Each finding as "access detail: instruction", with the earlier access behind it.
inline std::vector<std::string> texts_of(const exec::outcome& result) {
  std::vector<std::string> texts;
  if (result.fault) texts.push_back("fault: " + result.fault->detail);
  for (const report::fault& each : result.findings) {
    std::string text = each.detail + ": " + each.instruction;
    if (each.earlier) text += " after " + each.earlier->instruction;
    texts.push_back(text);
  }
  return texts;
}
using strings = std::vector<std::string>;

class checked : public ::testing::Test {
 protected:
  strings run(const std::string& text, exec::extent grid, exec::extent block) {
    m.load(text);
    return texts_of(m.run("k", grid, block, x, y));
  }
  strings run(const std::string& text) { return run(text, {1, 1, 1}, {1, 1, 1}); }

  explicit checked(bool tracks_writes = false) : m{1, tracks_writes} {}

  machine m;
  memory::address x = m.allocate(64), y = m.allocate(64);
};

}  // namespace halfwarp::tests
