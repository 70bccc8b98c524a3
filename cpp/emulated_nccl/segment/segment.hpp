// SPDX-License-Identifier: Apache-2.0
// The shared memory of a communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "emulated_nccl/segment/layout.hpp"

namespace halfwarp::emulated_nccl {

// Names a segment: the process that created the name, and a random number. The start of the process
// distinguishes it from a later one with the same number.
struct segment_name {
  std::uint64_t mark = 0;
  std::int64_t process = 0;
  std::uint64_t started = 0, number = 0;

  // Returns a name of this process. Removes files whose processes ended during initialization.
  static segment_name create() noexcept;
  static segment_name from(const unique_id& id) noexcept;
  unique_id as_id() const noexcept;
  bool is_valid() const noexcept;
  // Returns the name of a communicator that is derived from this one.
  segment_name child(std::uint64_t index, std::uint64_t color) const noexcept;
  std::string path() const;
};

class segment {
 public:
  enum class attachment : std::uint8_t { attached, not_ready, failed };

  // Opens the segment or creates it. Not ready: another process is creating it. Records an error if
  // it failed.
  static attachment attach(const segment_name& name, int ranks, std::shared_ptr<segment>& out);
  ~segment();
  segment(const segment&) = delete;  // owns the mapping
  segment& operator=(const segment&) = delete;

  int ranks() const noexcept { return static_cast<int>(layout_.ranks); }
  segment_header& header() const noexcept { return *reinterpret_cast<segment_header*>(base_); }
  rank_entry& rank(int index) const noexcept {
    return reinterpret_cast<rank_entry*>(base_ + layout_.entries())[index];
  }
  pair_entry& pair(int from, int to) const noexcept {
    return reinterpret_cast<pair_entry*>(base_ + layout_.pairs())[pair_index(from, to)];
  }
  std::size_t slot_bytes() const noexcept { return layout_.slot_bytes; }
  std::size_t pair_bytes() const noexcept { return layout_.pair_bytes; }
  unsigned char* slot(int index, std::uint64_t chunk) const noexcept {
    const auto half = static_cast<std::size_t>(index) * 2 + chunk % 2;
    return base_ + layout_.slots() + half * layout_.slot_bytes;
  }
  unsigned char* pair_data(int from, int to, std::uint64_t chunk) const noexcept {
    const auto half = pair_index(from, to) * 2 + chunk % 2;
    return base_ + layout_.pair_data() + half * layout_.pair_bytes;
  }

  // Removes the name, so that the memory is freed with its last mapping.
  void unlink() const noexcept;
  // Changes the bell and wakes the waiting ranks.
  void ring() const noexcept;
  // Sleeps until the bell differs from `seen`, at most a few milliseconds.
  void wait(std::uint32_t seen) const noexcept;

  // Records the first error of the communicator. Returns whether this call recorded it.
  bool set_error(result code, const std::string& text) const noexcept;
  // Returns the first error, or success.
  result error() const noexcept;

  // Returns whether the process of a rank has ended.
  bool is_dead(int index) const noexcept;
  // Describes what a rank does, in one line.
  std::string describe(int index) const;
  std::string describe_all() const;

 private:
  segment(unsigned char* base, int ranks, std::string path) noexcept
      : base_{base}, layout_{ranks}, path_{std::move(path)} {}
  std::size_t pair_index(int from, int to) const noexcept {
    return static_cast<std::size_t>(from) * layout_.ranks + static_cast<std::size_t>(to);
  }

  unsigned char* base_;
  segment_layout layout_;
  std::string path_;
};

}  // namespace halfwarp::emulated_nccl
