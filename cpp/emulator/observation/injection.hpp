// SPDX-License-Identifier: Apache-2.0
// Fault injection: which call, or which launch, fails with which code.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <mutex>
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
  std::uint64_t times = 1;  // how many fail
  CUresult code = CUDA_SUCCESS;
  bool is_sticky = false;     // of a launch: the context stays broken
  unsigned milliseconds = 0;  // of a delay
  std::uint64_t id = 0;       // of the rule, for `disarm`
  std::uint64_t seen = 0;     // matching calls so far
  std::uint64_t hits = 0;     // failures so far
};

struct injected_launch {
  CUresult code;
  bool is_sticky;
};

// Thread-safe; does not need the driver's lock, since calls fail before they take it.
class injection {
 public:
  // Adds the rules of a text; returns the id of the last one, or 0 and sets `problem`.
  std::uint64_t arm(std::string_view rules, std::string& problem);
  // Removes a rule; returns how often it fired, and in `seen` how many calls matched.
  std::uint64_t disarm(std::uint64_t id, std::uint64_t& seen);
  void clear();

  bool is_armed() const noexcept { return armed_.load(std::memory_order_relaxed); }

  // The code that this call must fail with, if any. `can_fail`: it is one that `any` counts.
  std::optional<CUresult> on_call(std::string_view function, bool can_fail);
  std::optional<injected_launch> on_launch(std::string_view kernel);
  unsigned delay_of(std::uint64_t stream);  // milliseconds before each operation of a stream

 private:
  injection_rule* advance(injection_rule& rule);

  std::atomic<bool> armed_{false};
  std::mutex mutex_;
  std::vector<injection_rule> rules_;
  std::uint64_t next_ = 1;
};

// Whether a text matches a pattern in which `*` stands for any characters.
bool matches(std::string_view pattern, std::string_view text);

// A CUresult by name ("CUDA_ERROR_OUT_OF_MEMORY") or number.
std::optional<CUresult> parse_code(std::string_view text);

}  // namespace halfwarp::emulator
