// SPDX-License-Identifier: Apache-2.0
// The options of the emulation: read once from HALFWARP_EMULATOR_*, or set before the first call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfwarp::emulator {

enum class run_mode : std::uint8_t { eager, async, adversarial, null };

// The checks of option `check`, one bit each.
namespace check {
inline constexpr unsigned memory = 1, sync = 2, leak = 4;
inline constexpr unsigned all = memory | sync | leak;
}  // namespace check

// What is done about a handle that was destroyed: told and failed in the test, told and ended as on
// hardware, or answered with an error code alone.
enum class destroyed_use : std::uint8_t { report, abort, answer };

// What option `trace` writes.
namespace trace {
inline constexpr unsigned api = 1, site = 2;
}  // namespace trace

struct options {
  int devices = 1;
  // Major and minor number of the devices in their order; the last one is that of all that follow.
  std::vector<std::pair<int, int>> capabilities{{9, 0}};
  int multiprocessors = 4;                        // per device
  std::uint64_t memory = std::uint64_t{2} << 30;  // bytes per device
  run_mode mode = run_mode::async;
  std::uint64_t seed = 0;
  unsigned threads = 1;  // host threads per running kernel
  unsigned checks = check::memory | check::sync;
  std::string fail;  // fault injection rules, parsed by `injection`
  unsigned traces = 0;
  std::uint64_t step_limit = std::uint64_t{1} << 36;
  std::string report = "stderr";
  destroyed_use destroyed = destroyed_use::report;
  bool fork_in_init = false;  // cuInit runs a program, as the driver of a GPU may

  [[nodiscard]] std::pair<int, int> capability_of(int device) const {
    return capabilities[std::min(static_cast<std::size_t>(device), capabilities.size() - 1)];
  }
  [[nodiscard]] bool checks_for(unsigned what) const { return (checks & what) != 0; }
};

// Sets one option by its name. Returns an empty text, or what was wrong and what is accepted.
[[nodiscard]] std::string set_option(options& target, std::string_view name,
                                     std::string_view value);

// Sets every option that the environment names. Returns as `set_option`; a variable with our
// prefix that is no option is an error too, since a misspelt option must not be ignored.
[[nodiscard]] std::string read_environment(options& target);

// The names of all options, in the order of the documentation.
[[nodiscard]] std::span<const std::string_view> option_names();

// The value of one option, in the spelling that `set_option` accepts.
[[nodiscard]] std::string show_option(const options& source, std::string_view name);

[[nodiscard]] std::string_view mode_name(run_mode mode);

}  // namespace halfwarp::emulator
