// SPDX-License-Identifier: Apache-2.0
// Decodes the LZ4 block format: sequences of a token, literals, and a copy of earlier output.
#include "emulator/image/lz4.hpp"

namespace halfwarp::emulator::image {
namespace {

constexpr std::uint64_t best_ratio = 255;  // maximum output bytes per input byte
constexpr std::uint64_t min_match = 4;
constexpr unsigned long_length = 15;  // more length bytes follow
constexpr unsigned continued = 255;   // another length byte follows

class decoder {
 public:
  decoder(bytes block, std::uint64_t size) : block_{block}, size_{size} { out_.reserve(size); }

  bool run() {
    while (position_ < block_.size()) {
      const unsigned token = next_byte();
      if (!literals(token >> 4)) return false;
      if (position_ == block_.size()) break;  // the last sequence has literals only
      if (!match(token & 15)) return false;
    }
    return out_.size() == size_;
  }

  std::string result() { return std::move(out_); }

 private:
  unsigned next_byte() noexcept { return std::to_integer<unsigned>(block_[position_++]); }

  bool length(unsigned start, std::uint64_t& total) noexcept {
    total = start;
    if (start != long_length) return true;
    unsigned added = continued;
    while (added == continued) {
      if (position_ == block_.size()) return false;
      added = next_byte();
      total += added;
    }
    return true;
  }

  bool literals(unsigned start) {
    std::uint64_t count = 0;
    if (!length(start, count)) return false;
    if (count > block_.size() - position_ || count > size_ - out_.size()) return false;
    out_.append(as_text(block_.subspan(position_, count)));
    position_ += count;
    return true;
  }

  bool match(unsigned start) {
    if (block_.size() - position_ < 2) return false;
    const unsigned low = next_byte();
    const std::size_t distance = next_byte() << 8 | low;
    std::uint64_t count = 0;
    if (!length(start, count)) return false;
    count += min_match;
    if (distance == 0 || distance > out_.size() || count > size_ - out_.size()) return false;
    // Copies byte by byte, because source and destination may overlap.
    for (std::uint64_t i = 0; i < count; ++i) out_.push_back(out_[out_.size() - distance]);
    return true;
  }

  bytes block_;
  std::uint64_t size_;
  std::size_t position_ = 0;
  std::string out_;
};

}  // namespace

std::optional<std::string> decompress_lz4(bytes block, std::uint64_t size) {
  if (size / best_ratio > block.size()) return std::nullopt;  // before allocating memory
  decoder d{block, size};
  if (!d.run()) return std::nullopt;
  return d.result();
}

}  // namespace halfwarp::emulator::image
