// SPDX-License-Identifier: Apache-2.0
// The driver's own log of calls that failed, for whoever asks or listens.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace halfwarp::emulator {

// Thread-safe. The oldest entries go when there are too many.
class driver_log {
 public:
  static constexpr std::size_t capacity = 100;

  // Two lines as a driver writes them: what is wrong, if it is known, and what the call answered.
  void write(std::string_view function, CUresult code, std::string_view name,
             std::string_view why) noexcept;

  // Where the next entry will be.
  std::uint32_t end() const;
  // The entries from a place on, each ended by a newline, and the place behind them.
  std::string text(std::uint32_t from, std::uint32_t& behind) const;

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

// One for the process; never destroyed.
driver_log& the_log() noexcept;

}  // namespace halfwarp::emulator
