// SPDX-License-Identifier: Apache-2.0
// The options of the emulator, read from HALFWARP_EMULATOR_* or set before the first call.
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

// The bits of option `check`.
namespace check {
inline constexpr unsigned memory = 1, sync = 2, leak = 4, race = 8, init = 16, hazard = 32,
                          barrier = 64, neighbor = 128;
inline constexpr unsigned all = memory | sync | leak | race | init | hazard | barrier | neighbor;
}  // namespace check

// The reaction to the use of a destroyed handle: report and fail the test, report and abort like
// hardware, or return an error code only.
enum class destroyed_use : std::uint8_t { report, abort, answer };

// The bits of option `trace`.
namespace trace {
inline constexpr unsigned api = 1, site = 2;
}  // namespace trace

struct options {
  int devices = 1;
  // Major and minor number per device; the last entry applies to all further devices.
  std::vector<std::pair<int, int>> capabilities{{9, 0}};
  int multiprocessors = 4;                        // per device
  std::uint64_t memory = std::uint64_t{2} << 30;  // bytes per device
  run_mode mode = run_mode::async;
  std::uint64_t seed = 0;
  // Ranges of choices that the seed makes, from 1, ascending; other choices are the default.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> schedule{{1, UINT64_MAX}};
  unsigned threads = 1;  // host threads per running kernel
  unsigned checks = check::memory | check::sync;
  std::string fail;  // rules of fault injection, parsed by `injection`
  unsigned traces = 0;
  std::uint64_t step_limit = std::uint64_t{1} << 36;
  unsigned nccl_limit = 60;  // seconds that an operation of NCCL waits for other ranks
  std::string report = "stderr";
  std::string suppress;    // path of the rules of known findings
  bool is_strict = false;  // a finding fails its operation
  destroyed_use destroyed = destroyed_use::report;
  bool fidelity = false;      // lists the forms of executed instructions at the end of the process
  std::string profile;        // path of a file for the counters of kernels; empty: none
  bool fork_in_init = false;  // cuInit runs a program, as a GPU driver may

  [[nodiscard]] std::pair<int, int> capability_of(int device) const {
    return capabilities[std::min(static_cast<std::size_t>(device), capabilities.size() - 1)];
  }
  [[nodiscard]] bool checks_for(unsigned bit) const { return (checks & bit) != 0; }
};

// Sets an option by name. Returns an empty text, or the error and the accepted values.
[[nodiscard]] std::string set_option(options& target, std::string_view name,
                                     std::string_view value);

// Sets the options that the environment contains. Returns as `set_option`; an unknown variable with
// the prefix is an error, so that a misspelled option is not ignored.
[[nodiscard]] std::string read_environment(options& target);

// Returns the names of all options in the order of the documentation.
[[nodiscard]] std::span<const std::string_view> option_names();

// Returns the value of an option in a spelling that `set_option` accepts.
[[nodiscard]] std::string show_option(const options& source, std::string_view name);

[[nodiscard]] std::string_view mode_name(run_mode mode);

}  // namespace halfwarp::emulator
