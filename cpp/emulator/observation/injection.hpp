// SPDX-License-Identifier: Apache-2.0
// Fault injection: rules that make calls and launches fail.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/settings/injection_rule.hpp"

namespace halfwarp::emulator {

struct injected_launch {
  CUresult code;
  bool is_sticky;
};

// Thread-safe without the driver's lock, since an injected failure precedes its acquisition.
class injection {
 public:
  // Adds the rules of a text. Returns the id of the last rule, or 0 and sets `problem`.
  std::uint64_t arm(std::string_view rules, std::string& problem);
  // Removes a rule. Returns how often it fired, and in `seen` how many calls matched.
  std::uint64_t disarm(std::uint64_t id, std::uint64_t& seen);
  void clear();

  bool is_armed() const noexcept { return armed_.load(std::memory_order_relaxed); }

  // Returns the code with which this call must fail, if any. `can_fail`: `any` counts the call.
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

// Returns whether a text matches a pattern, in which `*` stands for any characters.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace halfwarp::emulator
