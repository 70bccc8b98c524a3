// SPDX-License-Identifier: Apache-2.0
// A memory file that several processes map, and the record of its allocations.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace halfwarp::emulator::memory {

using share_token = std::array<std::uint64_t, 2>;  // random and unique

// The creator of a file and its kind of memory, with the values of cuda.h.
struct share_origin {
  std::int32_t location_type = 0, location_id = 0, allocation_type = 0;
  std::int32_t process = 0;
  std::uint64_t process_started = 0;
};

// File offsets equal the offsets in the arena of the creator, so live allocations never overlap in
// the file.
class shared_file {
 public:
  // Creates a file; returns null and sets errno on failure.
  static std::shared_ptr<shared_file> make(const share_origin& origin);
  // Opens a file that this or another process created, with a new descriptor. Returns null and sets
  // errno if it is another file or on failure.
  static std::shared_ptr<shared_file> open(int file);
  // Takes ownership of the descriptor of another process's arena, which has no header or ledger.
  static std::shared_ptr<shared_file> adopt(int file);
  ~shared_file();
  shared_file(const shared_file&) = delete;  // owns a descriptor
  shared_file& operator=(const shared_file&) = delete;

  int file() const noexcept { return file_; }
  const share_token& token() const noexcept { return token_; }
  const share_origin& origin() const noexcept { return origin_; }

  // The ledger holds the sequence number of the allocation at each offset, or 0.
  void set_entry(std::uint64_t offset, std::uint64_t sequence) const noexcept;
  std::uint64_t entry(std::uint64_t offset) const noexcept;

 private:
  explicit shared_file(int file) noexcept : file_{file} {}

  int file_;
  share_token token_{};
  share_origin origin_;
};

}  // namespace halfwarp::emulator::memory
