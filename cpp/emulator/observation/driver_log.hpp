// SPDX-License-Identifier: Apache-2.0
// The driver's log of failed calls, for queries and callbacks.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace halfwarp::emulator {

// Thread-safe. The oldest entries are discarded above the capacity.
class driver_log {
 public:
  static constexpr std::size_t capacity = 100;

  // Writes two lines in the driver's format: the reason, if known, and the returned code.
  void write(std::string_view function, CUresult code, std::string_view name,
             std::string_view reason) noexcept;

  // Returns the number of the next entry.
  std::uint32_t end() const;
  // Returns the entries from a number on, each terminated by a newline, and the next number.
  std::string text(std::uint32_t first_line, std::uint32_t& end_line) const;

  CUlogsCallbackHandle add(CUlogsCallback callback, void* data);
  bool remove(CUlogsCallbackHandle callback);

 private:
  struct listener {
    CUlogsCallback callback;
    void* data;
  };
  void append(std::string line);

  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
  std::uint32_t first_ = 0;  // number of the oldest entry
  std::map<std::uint64_t, listener> listeners_;
  std::uint64_t next_listener_ = 1;
};

// Returns the log of the process, which is never destroyed.
driver_log& the_log() noexcept;

}  // namespace halfwarp::emulator
