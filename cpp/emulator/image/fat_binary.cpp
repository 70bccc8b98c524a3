// SPDX-License-Identifier: Apache-2.0
// Reads the headers of fat binaries, as observed in the output of nvcc 11 to 13.
#include "emulator/image/fat_binary.hpp"

namespace halfwarp::emulator::image {
namespace {

constexpr std::uint32_t magic = 0xBA55ED50;
// Offsets within the header of the file.
constexpr std::size_t header_size_at = 6, content_size_at = 8;
// Offsets within the header of an entry.
constexpr std::size_t smallest_entry = 64, kind_at = 0, entry_header_at = 4, payload_size_at = 8,
                      packed_size_at = 16, architecture_at = 28, flags_at = 40,
                      unpacked_size_at = 56;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000;
constexpr std::uint64_t flag_exact = 0x100000, flag_family = 0x200000;  // compute_90a, compute_100f

entry_kind kind_of(std::uint16_t value) noexcept {
  switch (value) {
    case 1:
      return entry_kind::ptx;
    case 2:
      return entry_kind::cubin;
    default:
      return entry_kind::other;
  }
}

compression compression_of(std::uint64_t flags, std::uint64_t packed_size) noexcept {
  if ((flags & flag_lz4) != 0) return compression::lz4;
  if ((flags & flag_zstd) != 0) return compression::zstd;
  return packed_size == 0 ? compression::none : compression::unknown;
}

target_set targets_of(std::uint64_t flags) noexcept {
  if ((flags & flag_exact) != 0) return target_set::exact;
  return (flags & flag_family) != 0 ? target_set::family : target_set::newer;
}

}  // namespace

bool is_fat_binary(bytes data) noexcept {
  return data.size() >= fat_binary_header_bytes && number_at<std::uint32_t>(data, 0) == magic;
}

std::uint64_t fat_binary_bytes(bytes header) noexcept {
  return number_at<std::uint16_t>(header, header_size_at) +
         number_at<std::uint64_t>(header, content_size_at);
}

std::optional<std::vector<fat_binary_entry>> read_entries(bytes fat_binary) {
  std::vector<fat_binary_entry> entries;
  const auto content = part(fat_binary, number_at<std::uint16_t>(fat_binary, header_size_at),
                            number_at<std::uint64_t>(fat_binary, content_size_at));
  if (!content) return std::nullopt;
  bytes remaining = *content;
  while (remaining.size() >= smallest_entry) {
    fat_binary_entry e;
    const std::uint64_t header = number_at<std::uint32_t>(remaining, entry_header_at);
    const std::uint64_t padded = number_at<std::uint64_t>(remaining, payload_size_at);
    const std::uint64_t packed = number_at<std::uint32_t>(remaining, packed_size_at);
    if (header < smallest_entry || header > remaining.size()) return std::nullopt;
    e.kind = kind_of(number_at<std::uint16_t>(remaining, kind_at));
    e.architecture = number_at<std::uint32_t>(remaining, architecture_at);
    const auto flags = number_at<std::uint64_t>(remaining, flags_at);
    e.targets = targets_of(flags);
    e.packed = compression_of(flags, packed);
    e.unpacked_bytes = number_at<std::uint64_t>(remaining, unpacked_size_at);
    const auto whole = part(remaining, header, padded);
    const auto payload = part(remaining, header, e.packed == compression::none ? padded : packed);
    if (!whole || !payload || packed > padded) return std::nullopt;
    e.payload = *payload;
    entries.push_back(e);
    remaining = remaining.subspan(header + padded);
  }
  return entries;
}

}  // namespace halfwarp::emulator::image
