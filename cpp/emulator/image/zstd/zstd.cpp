// SPDX-License-Identifier: Apache-2.0
// Reads zstd frames by RFC 8878, section 3.
#include "emulator/image/zstd/zstd.hpp"

#include <algorithm>

#include "emulator/image/zstd/block.hpp"

namespace halfwarp::emulator::image {
namespace {

using zstd::require;
using zstd::take;
using zstd::take_byte;

constexpr std::uint32_t frame_magic = 0xfd2fb528;
constexpr std::uint32_t skippable_magic = 0x184d2a50, skippable_mask = 0xfffffff0;
constexpr std::uint64_t max_block = 128 << 10;
constexpr std::uint64_t first_reservation = 64 << 20;  // before the data proves a larger size

enum block_type : unsigned { plain, repeated, compressed };

// Skips the header of a frame; returns whether a checksum follows the blocks.
bool skip_header(bytes& data) {
  const unsigned descriptor = take_byte(data);
  const unsigned size_flag = descriptor >> 6, dictionary_flag = descriptor & 3;
  const bool is_single_segment = (descriptor >> 5 & 1) != 0;
  require((descriptor >> 3 & 1) == 0 && dictionary_flag == 0);
  if (!is_single_segment) take(data, 1);  // the window, which is all output here
  const unsigned size_bytes = size_flag == 0 ? is_single_segment : 1u << size_flag;
  take(data, size_bytes);
  return (descriptor >> 2 & 1) != 0;
}

void read_frame(bytes& data, std::string& out, std::uint64_t size) {
  const bool has_checksum = skip_header(data);
  zstd::block_decoder decoder{out, size};
  for (bool is_last = false; !is_last;) {
    const bytes fields = take(data, 3);
    const auto header = static_cast<std::uint32_t>(zstd::bits_at(fields, 0, 24));
    const unsigned type = header >> 1 & 3;
    const std::uint64_t count = header >> 3;
    is_last = (header & 1) != 0;
    require(type <= compressed && count <= max_block);
    if (type == compressed) {
      decoder.decode(take(data, count));
      continue;
    }
    require(count <= size - out.size());
    if (type == plain) {
      out.append(as_text(take(data, count)));
    } else {
      out.append(count, static_cast<char>(take_byte(data)));
    }
  }
  if (has_checksum) take(data, sizeof(std::uint32_t));
}

}  // namespace

std::optional<std::string> decompress_zstd(bytes data, std::uint64_t size) try {
  std::string out;
  out.reserve(std::min(size, first_reservation));
  while (!data.empty()) {
    const auto magic = number_at<std::uint32_t>(take(data, sizeof(std::uint32_t)), 0);
    if ((magic & skippable_mask) == skippable_magic) {
      take(data, number_at<std::uint32_t>(take(data, sizeof(std::uint32_t)), 0));
      continue;
    }
    require(magic == frame_magic);
    read_frame(data, out, size);
  }
  if (out.size() != size) return std::nullopt;
  return out;
} catch (const zstd::damaged&) {
  return std::nullopt;
}

}  // namespace halfwarp::emulator::image
