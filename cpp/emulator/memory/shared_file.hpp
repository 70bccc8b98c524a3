// SPDX-License-Identifier: Apache-2.0
// A file of memory that several processes map: what it is, and what in it is allocated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace halfwarp::emulator::memory {

using share_token = std::array<std::uint64_t, 2>;  // random; never used twice

// Who made a file, and for memory of what kind; the types are those of cuda.h.
struct share_origin {
  std::int32_t location_type = 0, location_id = 0, allocation_type = 0;
  std::int32_t process = 0;
  std::uint64_t process_started = 0;
};

// The bytes of an address lie as far into the file as the address into the arena of its maker, so
// that two live allocations never share bytes.
class shared_file {
 public:
  // Null, with errno, when the system gives no file.
  static std::shared_ptr<shared_file> make(const share_origin& origin);
  // A file that this or another process made, under a descriptor of its own; null, with errno, when
  // it is another one or cannot be had.
  static std::shared_ptr<shared_file> open(int file);
  // Takes over the descriptor of an arena of another process, which has no header and no ledger.
  static std::shared_ptr<shared_file> adopt(int file);
  ~shared_file();
  shared_file(const shared_file&) = delete;  // owns a descriptor
  shared_file& operator=(const shared_file&) = delete;

  int file() const noexcept { return file_; }
  const share_token& token() const noexcept { return token_; }
  const share_origin& origin() const noexcept { return origin_; }

  // The ledger: the number of the allocation at an offset, 0 for none.
  void enter(std::uint64_t offset, std::uint64_t sequence) const noexcept;
  std::uint64_t entry(std::uint64_t offset) const noexcept;

 private:
  explicit shared_file(int file) noexcept : file_{file} {}

  int file_;
  share_token token_{};
  share_origin origin_;
};

}  // namespace halfwarp::emulator::memory
