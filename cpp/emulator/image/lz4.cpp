// SPDX-License-Identifier: Apache-2.0
// LZ4 block format: a token, literals, and a copy of earlier output, again and again.
#include "emulator/image/lz4.hpp"

namespace halfwarp::emulator::image {
namespace {

constexpr std::uint64_t best_ratio = 255;  // output bytes that one input byte can stand for
constexpr std::uint64_t shortest_match = 4;
constexpr unsigned long_length = 15;  // further bytes add to the length
constexpr unsigned longer_yet = 255;

class decoder {
 public:
  decoder(bytes block, std::uint64_t size) : in_{block}, size_{size} { out_.reserve(size); }

  bool run() {
    while (position_ < in_.size()) {
      const unsigned token = take();
      if (!literals(token >> 4)) return false;
      if (position_ == in_.size()) break;  // the last sequence has literals only
      if (!match(token & 15)) return false;
    }
    return out_.size() == size_;
  }

  std::string result() { return std::move(out_); }

 private:
  unsigned take() noexcept { return std::to_integer<unsigned>(in_[position_++]); }

  bool length(unsigned start, std::uint64_t& total) noexcept {
    total = start;
    if (start != long_length) return true;
    unsigned more = longer_yet;
    while (more == longer_yet) {
      if (position_ == in_.size()) return false;
      more = take();
      total += more;
    }
    return true;
  }

  bool literals(unsigned start) {
    std::uint64_t count = 0;
    if (!length(start, count)) return false;
    if (count > in_.size() - position_ || count > size_ - out_.size()) return false;
    out_.append(as_text(in_.subspan(position_, count)));
    position_ += count;
    return true;
  }

  bool match(unsigned start) {
    if (in_.size() - position_ < 2) return false;
    const unsigned low = take();
    const std::size_t distance = take() << 8 | low;
    std::uint64_t count = 0;
    if (!length(start, count)) return false;
    count += shortest_match;
    if (distance == 0 || distance > out_.size() || count > size_ - out_.size()) return false;
    // Byte by byte: source and destination may overlap.
    for (std::uint64_t i = 0; i < count; ++i) out_.push_back(out_[out_.size() - distance]);
    return true;
  }

  bytes in_;
  std::uint64_t size_;
  std::size_t position_ = 0;
  std::string out_;
};

}  // namespace

std::optional<std::string> decompress_lz4(bytes block, std::uint64_t size) {
  if (size / best_ratio > block.size()) return std::nullopt;  // before memory is asked for
  decoder d{block, size};
  if (!d.run()) return std::nullopt;
  return d.result();
}

}  // namespace halfwarp::emulator::image
