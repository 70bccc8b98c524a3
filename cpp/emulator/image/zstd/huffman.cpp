// SPDX-License-Identifier: Apache-2.0
// Reads prefix codes by RFC 8878, section 4.2.
#include "emulator/image/zstd/huffman.hpp"

#include <utility>

#include "emulator/image/zstd/fse.hpp"

namespace halfwarp::emulator::image::zstd {
namespace {

constexpr unsigned longest_code = 11, max_symbols = 256;
constexpr unsigned first_direct = 128;  // header values from here on: plain weights
constexpr unsigned weight_accuracy = 6;

std::vector<std::uint8_t> direct_weights(bytes& data, unsigned count) {
  const bytes packed = take(data, (count + 1) / 2);
  std::vector<std::uint8_t> weights(count);
  for (unsigned i = 0; i < count; ++i) {
    const auto pair = std::to_integer<unsigned>(packed[i / 2]);
    weights[i] = static_cast<std::uint8_t>(i % 2 ? pair & 15 : pair >> 4);
  }
  return weights;
}

// Two states take turns until the bits are used up; then the other state gives the last weight.
std::vector<std::uint8_t> packed_weights(bytes data) {
  const fse_table table = read_fse_table(data, weight_accuracy, max_symbols - 1);
  backward_bits source{data};
  fse_state first{table, source}, second{table, source};
  std::vector<std::uint8_t> weights;
  for (fse_state *current = &first, *other = &second;; std::swap(current, other)) {
    weights.push_back(current->symbol());
    current->advance(source);
    require(weights.size() < max_symbols);
    if (source.left() >= 0) continue;
    weights.push_back(other->symbol());
    return weights;
  }
}

}  // namespace

huffman_table::huffman_table(std::vector<std::uint8_t> weights) {
  std::uint64_t sum = 0;
  for (const std::uint8_t weight : weights) {
    require(weight <= longest_code);
    sum += weight ? std::uint64_t{1} << (weight - 1) : 0;
  }
  require(sum > 0 && weights.size() < max_symbols);
  max_bits_ = highest_bit(sum) + 1;
  require(max_bits_ <= longest_code);
  const std::uint64_t size = std::uint64_t{1} << max_bits_;
  weights.push_back(static_cast<std::uint8_t>(highest_bit(size - sum) + 1));
  // The longest codes, which have the smallest weight, come first.
  entries_.reserve(size);
  for (unsigned weight = 1; weight <= max_bits_; ++weight) {
    const auto bits = static_cast<std::uint8_t>(max_bits_ + 1 - weight);
    for (std::size_t symbol = 0; symbol < weights.size(); ++symbol) {
      if (weights[symbol] != weight) continue;
      entries_.insert(entries_.end(), std::size_t{1} << (weight - 1),
                      {static_cast<char>(symbol), bits});
    }
  }
  require(entries_.size() == size);
}

void huffman_table::decode(bytes stream, std::uint64_t count, std::string& out) const {
  backward_bits source{stream};
  const std::uint64_t mask = entries_.size() - 1;
  std::uint64_t state = source.read(max_bits_);
  for (std::uint64_t i = 0; i < count; ++i) {
    const entry& current = entries_[state];
    out.push_back(current.symbol);
    state = (state << current.bits | source.read(current.bits)) & mask;
  }
  require(source.left() == -static_cast<std::int64_t>(max_bits_));
}

huffman_table read_huffman_table(bytes& data) {
  const unsigned header = take_byte(data);
  if (header >= first_direct) {
    return huffman_table{direct_weights(data, header - first_direct + 1)};
  }
  return huffman_table{packed_weights(take(data, header))};
}

}  // namespace halfwarp::emulator::image::zstd
