// SPDX-License-Identifier: Apache-2.0
// Short texts for tests: a body in a kernel, a kernel in a module.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "emulator/ptx/parser.hpp"
#include "emulator/ptx/verification/verifier.hpp"

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

// Returns the first problem of a module without its first directives, or "".
inline std::string problem_of_module(int version, const std::string& target,
                                     const std::string& declarations) {
  const std::string text = ".version " + std::to_string(version / 10) + "." +
                           std::to_string(version % 10) + "\n.target " + target +
                           "\n.address_size 64\n" + declarations;
  const auto result = emulator::ptx::parse_verified(text);
  if (result) return "";
  const std::size_t start = result.log.find("error: ") + 7;
  return result.log.substr(start, result.log.find('\n', start) - start);
}

// Returns the first problem of a statement in a kernel, or "".
inline std::string problem_of(int version, const std::string& target,
                              const std::string& statement) {
  return problem_of_module(
      version, target,
      ".global .align 64 .b8 gm[256]; .global .texref tr;\n"
      ".global .surfref su; .func fn() { ret; }\n"
      ".func (.reg .b32 z) fg(.reg .b32 y) { mov.b32 z, y; ret; }\n"
      ".visible .entry k(.param .u64 pa) {\n"
      ".reg .pred %p<8>; .reg .b8 %b<8>; .reg .b16 %h<16>; .reg .b32 %r<80>; .reg .b64 %rd<40>;\n"
      ".reg .f32 %f<80>; .reg .f64 %fd<8>; .shared .align 16 .b8 sm[256];\n" +
          std::string(statement.find("%q") == std::string::npos ? "" : ".reg .b128 %q<4>;") +
          ".local .align 16 .b8 lo[64]; T: .branchtargets L; PR: .callprototype _ ();\n"
          "PQ: .callprototype (.reg .b32 z) _ (.reg .b32 y);\n" +
          statement + "\nL: ret; }");
}

}  // namespace halfwarp::tests
