// SPDX-License-Identifier: Apache-2.0
// A ring buffer of the process's last launches, for messages of errors that surface later.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "python/objects.hpp"

namespace halfwarp::python {

// A launch, or several equal consecutive launches, as read from the ring.
struct recorded_launch {
  std::uint64_t number;  // of the last of these launches, from 1
  std::uint64_t count;
  std::uint32_t kernel;  // see core/module/kernel_names.hpp
  dimensions grid;       // in blocks
  dimensions block;
  unsigned shared_memory;  // dynamic, in bytes
  CUstream stream;
  std::int32_t device;
  unsigned long thread;
};

class flight_recorder {
 public:
  // Starts recording the last `entries` launches, at least one. Later calls have no effect.
  void start(std::size_t entries);

  // Records a launch without a lock. Under the GIL there is one writer; in a free-threaded build
  // each writer has its own entry. Does nothing before start().
  void record(const CUlaunchConfig& config, std::uint32_t kernel, std::int32_t device) noexcept;

  // Returns the launches, newest first, without entries that are being written.
  [[nodiscard]] std::vector<recorded_launch> read() const;

 private:
  // The content that is compared for equality, as words that can be copied atomically.
  using words = std::array<std::uint64_t, 6>;
  using every_word = std::make_index_sequence<std::tuple_size_v<words>>;

  struct entry {
    std::atomic<std::uint64_t> version{0};  // odd during a write; changes with each content
    std::atomic<std::uint64_t> first{0};    // number of the first launch
    std::atomic<std::uint64_t> count{0};
    std::array<std::atomic<std::uint64_t>, 6> content{};
  };

  struct ring {
    std::size_t capacity;
    std::uint64_t mask;  // number of entries, a power of two of at least `capacity`, minus one
    std::unique_ptr<entry[]> entries;
    std::atomic<std::uint64_t> written{0};   // entries so far
    std::atomic<std::uint64_t> launches{0};  // launches so far
  };

  static words content_of(const CUlaunchConfig& config, std::uint32_t kernel,
                          std::int32_t device) noexcept;
  static bool is_equal(const entry& last, const words& content) noexcept;
  static void store(entry& target, const words& content) noexcept;
  static bool read_entry(const entry& source, recorded_launch& result) noexcept;

  std::atomic<ring*> ring_{nullptr};  // never freed, because launches may occur until exit
};

inline flight_recorder recorder;

}  // namespace halfwarp::python
