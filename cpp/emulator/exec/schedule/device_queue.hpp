// SPDX-License-Identifier: Apache-2.0
// The work that the threads of a grid submit: kernels, copies and fills.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "emulator/exec/schedule/run.hpp"

namespace halfwarp::emulator::exec {

// Runs when the grid has ended. That is a valid order: a grid cannot wait for its children, and it
// is complete when they are. Streams and events of the device need no state, since the work runs
// one after the other in the order of its submission. Thread-safe.
class device_queue {
 public:
  static constexpr std::uint32_t most_nested = 24;

  device_queue(memory::address_space& space, int device, std::uint64_t limit)
      : space_{space}, device_{device}, limit_{limit} {}
  ~device_queue();
  device_queue(const device_queue&) = delete;  // owns the parameter buffers

  // Returns whether the limit of pending launches is reached, prepared ones included.
  bool is_full();
  // Returns a buffer for the parameters of a launch, or nothing if the device has no memory.
  std::optional<memory::address> prepare(device_work work, std::size_t bytes);
  // Returns the launch that was prepared with a buffer, and forgets it.
  std::optional<device_work> take(memory::address buffer);
  // Returns false if too much work is pending.
  bool submit(device_work work);

  // Returns the address of a text in memory of the device.
  std::optional<memory::address> text(const char* characters);

  std::uint64_t new_handle();  // of a stream or an event
  // The last error of a thread, by the number of the thread in the grid.
  void set_error(std::uint64_t thread, int error);
  int error_of(std::uint64_t thread, bool is_cleared);

  // Returns the work in the order in which it must run: tail launches last.
  std::vector<device_work> finish();

 private:
  struct buffer {
    device_work work;
    std::size_t bytes = 0;
    bool is_used = false;
  };

  std::optional<memory::address> allocate(std::size_t bytes, const char* purpose);

  memory::address_space& space_;
  int device_;
  std::uint64_t limit_;  // of the pending work
  std::mutex mutex_;     // guards all that follows
  std::map<memory::address, buffer> buffers_;
  std::vector<device_work> work_, tail_;
  std::map<const char*, memory::address> texts_;
  std::map<std::uint64_t, int> errors_;
  std::uint64_t handles_ = 0;
};

}  // namespace halfwarp::emulator::exec
