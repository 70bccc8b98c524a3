// SPDX-License-Identifier: Apache-2.0
// Short texts for tests: a body in a kernel, a kernel in a module.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "emulator/ptx/parser.hpp"

namespace halfwarp::tests {

inline const std::string sample_head = ".version 8.0\n.target sm_90\n.address_size 64\n";

// Parses a module; on malformed text fails the test and returns an empty module.
inline std::shared_ptr<emulator::ptx::module> parsed(const std::string& declarations) {
  auto result = emulator::ptx::parse(sample_head + declarations);
  if (result) return result.value;
  ADD_FAILURE() << result.log;
  return std::make_shared<emulator::ptx::module>();
}

// Returns a kernel "k" with registers of every common type and this body.
inline std::string kernel_with(const std::string& body) {
  return ".visible .entry k(.param .u64 p, .param .align 8 .b8 q[24]) {\n"
         ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>;\n"
         ".reg .f32 %f<32>; .reg .f64 %fd<8>;\n" +
         body + "\n}\n";
}

inline std::shared_ptr<emulator::ptx::module> parsed_body(const std::string& body) {
  return parsed(kernel_with(body));
}

// Returns the error of a text as "8:12 message", or "" if it parses. Lines count from sample_head.
inline std::string error_of(const std::string& declarations) {
  const auto result = emulator::ptx::parse(sample_head + declarations);
  if (result) return "";
  return std::to_string(result.error.line) + ":" + std::to_string(result.error.column) + " " +
         result.error.message;
}

}  // namespace halfwarp::tests
