// SPDX-License-Identifier: Apache-2.0
// A ring of the last launches of the process, for the message of an error that comes later.
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

// One launch, or several equal ones in a row, as a reader of the ring gets it.
struct recorded_launch {
  std::uint64_t number;  // of the last of them, from 1
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
  // Starts recording the last `entries` launches, at least one. The first call decides.
  void start(std::size_t entries);

  // Takes no lock: with the interpreter lock there is one writer, without it each writer takes an
  // entry of its own. Does nothing before start().
  void record(const CUlaunchConfig& config, std::uint32_t kernel, std::int32_t device) noexcept;

  // Newest first. Entries that are being written right now are left out.
  [[nodiscard]] std::vector<recorded_launch> read() const;

 private:
  // What makes two launches equal, as words that are compared and copied one by one.
  using words = std::array<std::uint64_t, 6>;
  using every_word = std::make_index_sequence<std::tuple_size_v<words>>;

  struct entry {
    std::atomic<std::uint64_t> version{0};  // odd while it is written; changes with each content
    std::atomic<std::uint64_t> first{0};    // number of the first launch
    std::atomic<std::uint64_t> count{0};
    std::array<std::atomic<std::uint64_t>, 6> content{};
  };

  struct ring {
    std::size_t capacity;
    std::uint64_t mask;  // of the entries, which are a power of two and at least `capacity`
    std::unique_ptr<entry[]> entries;
    std::atomic<std::uint64_t> written{0};   // entries so far
    std::atomic<std::uint64_t> launches{0};  // launches so far
  };

  static words content_of(const CUlaunchConfig& config, std::uint32_t kernel,
                          std::int32_t device) noexcept;
  static bool is_equal(const entry& last, const words& content) noexcept;
  static void store(entry& into, const words& content) noexcept;
  static bool read_entry(const entry& from, recorded_launch& found) noexcept;

  std::atomic<ring*> ring_{nullptr};  // never freed: the process may launch until its end
};

inline flight_recorder recorder;

}  // namespace halfwarp::python
