// SPDX-License-Identifier: Apache-2.0
// Launch settings of the environment, read at the first launch.
#include "python/launch/launch_modes.hpp"

#include <Python.h>

#include <charconv>
#include <cstdlib>
#include <new>
#include <string_view>

#include "driver/call.hpp"
#include "python/errors.hpp"
#include "python/launch/flight_recorder.hpp"

namespace halfwarp::python {
namespace {

constexpr std::size_t default_entries = 256;
constexpr std::size_t most_entries = 1 << 20;

// Reads "0", "1" or an unset variable.
int read_flag(const char* name, bool& flag) noexcept {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view value{text};
  if (value != "0" && value != "1") {
    PyErr_Format(PyExc_ValueError, "%s=%s is not understood: it may be 0 or 1", name, text);
    return failed;
  }
  flag = value == "1";
  return 0;
}

int read_entries(std::size_t& entries) noexcept {
  const char* const text = std::getenv("HALFWARP_FLIGHT_RECORDER");
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view value{text};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), entries);
  if (error != std::errc{} || end != value.data() + value.size() || entries > most_entries) {
    PyErr_Format(PyExc_ValueError,
                 "HALFWARP_FLIGHT_RECORDER=%s is not understood: it may be a number of launches "
                 "from 0 (off) to %zu",
                 text, most_entries);
    return failed;
  }
  return 0;
}

}  // namespace

int read_launch_modes() noexcept {
  bool is_checked = true, synchronizes = false;
  std::size_t entries = default_entries;
  if (read_flag("HALFWARP_LAUNCH_CHECKS", is_checked) < 0 ||
      read_flag("HALFWARP_SYNC_LAUNCH", synchronizes) < 0 || read_entries(entries) < 0) {
    return failed;
  }
  int devices = 0;
  try {
    driver::call(driver::table->cuDeviceGetCount, &devices);
    if (entries != 0) recorder.start(entries);
  } catch (...) {
    translate_exception();
    return failed;
  }
  std::uint8_t modes = 0;
  if (entries != 0) modes |= launch_records;
  if (synchronizes) modes |= launch_synchronizes;
  if (!is_checked) modes |= launch_unchecked;
  if (devices != 1) modes |= launch_many_devices;
  launch_modes.fetch_or(modes, std::memory_order_release);
  launch_modes.fetch_and(static_cast<std::uint8_t>(~launch_unread), std::memory_order_release);
  return 0;
}

}  // namespace halfwarp::python
