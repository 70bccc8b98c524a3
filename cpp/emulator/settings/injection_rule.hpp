// SPDX-License-Identifier: Apache-2.0
// The rules of fault injection in the syntax of option `fail` and `inject()`.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfwarp::emulator {

enum class injection_target : std::uint8_t { call, any_call, launch, delay };

// FUNCTION:N[xTIMES]=CODE, launch@KERNEL:N[xTIMES]=CODE[!] or delay@STREAM=MILLISECONDS.
struct injection_rule {
  injection_target target = injection_target::call;
  std::string pattern;      // name of a function or kernel, `*` allowed; number of a stream
  std::uint64_t first = 1;  // 1-based index of the first matching call that fails
  std::uint64_t times = 1;  // number of failing calls
  CUresult code = CUDA_SUCCESS;
  bool is_sticky = false;     // for a launch: the context stays broken
  unsigned milliseconds = 0;  // for a delay
  std::uint64_t id = 0;       // identifies the rule for `disarm`
  std::uint64_t seen = 0;     // matching calls so far
  std::uint64_t hits = 0;     // failures so far
};

// Parses a comma-separated text. On an invalid rule returns no rules and sets `problem` to the
// reason; otherwise clears `problem`.
std::vector<injection_rule> parse_rules(std::string_view text, std::string& problem);

// Parses a CUresult given by name ("CUDA_ERROR_OUT_OF_MEMORY") or number.
std::optional<CUresult> parse_code(std::string_view text);

}  // namespace halfwarp::emulator
