// SPDX-License-Identifier: Apache-2.0
// Reads fat binaries, which contain several images of one program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

inline constexpr std::size_t fat_binary_header_bytes = 16;

enum class entry_kind : std::uint8_t { ptx, cubin, other };
enum class compression : std::uint8_t { none, lz4, zstd, unknown };

// The devices that run code of an architecture: it and newer ones, its family, or it alone.
enum class target_set : std::uint8_t { newer, family, exact };

struct fat_binary_entry {
  entry_kind kind = entry_kind::other;
  compression packed = compression::none;
  std::uint32_t architecture = 0;  // 90 for compute_90, compute_90a and sm_90
  target_set targets = target_set::newer;
  bytes payload;
  std::uint64_t unpacked_bytes = 0;  // of a compressed payload
};

bool is_fat_binary(bytes data) noexcept;
// Returns the size of the fat binary from its header.
std::uint64_t fat_binary_bytes(bytes header) noexcept;
// Returns the entries in file order; nullopt if an entry exceeds the file.
std::optional<std::vector<fat_binary_entry>> read_entries(bytes fat_binary);

}  // namespace halfwarp::emulator::image
