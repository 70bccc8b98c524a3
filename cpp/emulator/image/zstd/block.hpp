// SPDX-License-Identifier: Apache-2.0
// Compressed blocks: literals, and sequences that copy literals and earlier output.
#pragma once

#include <array>
#include <string>

#include "emulator/image/zstd/fse.hpp"
#include "emulator/image/zstd/huffman.hpp"

namespace halfwarp::emulator::image::zstd {

// Decodes the blocks of a frame, which use tables and offsets of the blocks before.
class block_decoder {
 public:
  // Output is appended to `out`, up to `limit` bytes.
  block_decoder(std::string& out, std::uint64_t limit) noexcept
      : out_{out}, frame_start_{out.size()}, limit_{limit} {}

  void decode(bytes block);

 private:
  std::string read_literals(bytes& block);
  std::string read_coded_literals(bytes& block, unsigned type, unsigned format);
  void run_sequences(bytes block, bytes literals);
  void append(bytes data);
  void copy(std::uint64_t offset, std::uint64_t count);
  std::uint64_t offset_of(std::uint64_t value, bool has_literals);

  std::string& out_;
  std::uint64_t frame_start_, limit_;
  huffman_table literal_codes_;
  fse_table literal_lengths_, offsets_, match_lengths_;
  std::array<std::uint64_t, 3> last_offsets_{1, 4, 8};
};

}  // namespace halfwarp::emulator::image::zstd
