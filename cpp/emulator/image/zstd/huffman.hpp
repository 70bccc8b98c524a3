// SPDX-License-Identifier: Apache-2.0
// The prefix codes of literals.
#pragma once

#include <string>
#include <vector>

#include "emulator/image/zstd/bits.hpp"

namespace halfwarp::emulator::image::zstd {

class huffman_table {
 public:
  huffman_table() = default;
  // The weights of all symbols but the last one, which follows from them.
  explicit huffman_table(std::vector<std::uint8_t> weights);

  bool is_empty() const noexcept { return entries_.empty(); }
  // Appends `count` symbols, which must use the whole stream.
  void decode(bytes stream, std::uint64_t count, std::string& out) const;

 private:
  struct entry {
    char symbol;
    std::uint8_t bits;
  };

  std::vector<entry> entries_;  // by the next `max_bits_` bits
  unsigned max_bits_ = 0;
};

// Reads the description of a table, and removes it from the data.
huffman_table read_huffman_table(bytes& data);

}  // namespace halfwarp::emulator::image::zstd
