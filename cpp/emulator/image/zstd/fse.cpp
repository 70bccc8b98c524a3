// SPDX-License-Identifier: Apache-2.0
// Builds the tables of RFC 8878, section 4.1.
#include "emulator/image/zstd/fse.hpp"

namespace halfwarp::emulator::image::zstd {
namespace {

constexpr unsigned min_accuracy = 5, run_bits = 2, full_run = 3;

// Reads one probability, whose width depends on what is left to distribute.
int read_probability(forward_bits& source, int remaining) {
  const unsigned width = highest_bit(static_cast<std::uint64_t>(remaining) + 1) + 1;
  const int low_mask = (1 << (width - 1)) - 1;
  const int threshold = (1 << width) - 1 - (remaining + 1);
  int value = static_cast<int>(source.read(width));
  if ((value & low_mask) < threshold) {
    source.rewind(1);
    value &= low_mask;
  } else if (value > low_mask) {
    value -= threshold;
  }
  return value - 1;
}

}  // namespace

fse_table::fse_table(std::span<const std::int16_t> probabilities, unsigned accuracy)
    : states_(std::size_t{1} << accuracy), accuracy_{accuracy} {
  const std::size_t size = states_.size(), mask = size - 1;
  std::size_t high = size;  // rare symbols have the last states
  std::vector<std::uint32_t> next(probabilities.size());
  for (std::size_t symbol = 0; symbol < probabilities.size(); ++symbol) {
    if (probabilities[symbol] >= 0) continue;
    states_[--high].symbol = static_cast<std::uint8_t>(symbol);
    next[symbol] = 1;
  }
  const std::size_t step = (size >> 1) + (size >> 3) + 3;
  std::size_t position = 0;
  for (std::size_t symbol = 0; symbol < probabilities.size(); ++symbol) {
    if (probabilities[symbol] <= 0) continue;
    next[symbol] = static_cast<std::uint32_t>(probabilities[symbol]);
    for (int i = 0; i < probabilities[symbol]; ++i) {
      states_[position].symbol = static_cast<std::uint8_t>(symbol);
      do position = (position + step) & mask;
      while (position >= high);
    }
  }
  require(position == 0);
  for (state& each : states_) {
    const std::uint32_t number = next[each.symbol]++;
    each.bits = static_cast<std::uint8_t>(accuracy - highest_bit(number));
    each.base = static_cast<std::uint16_t>((number << each.bits) - size);
  }
}

fse_table read_fse_table(bytes& data, unsigned max_accuracy, unsigned max_symbol) {
  forward_bits source{data};
  const unsigned accuracy = static_cast<unsigned>(source.read(4)) + min_accuracy;
  require(accuracy <= max_accuracy);
  std::vector<std::int16_t> probabilities;
  int remaining = 1 << accuracy;
  while (remaining > 0) {
    const int probability = read_probability(source, remaining);
    probabilities.push_back(static_cast<std::int16_t>(probability));
    remaining -= probability < 0 ? 1 : probability;
    unsigned zeros = probability == 0 ? full_run : 0;
    while (zeros == full_run) {
      zeros = static_cast<unsigned>(source.read(run_bits));
      probabilities.resize(probabilities.size() + zeros);
    }
    require(probabilities.size() <= max_symbol + 1);
  }
  require(remaining == 0);
  take(data, source.bytes_read());
  return {probabilities, accuracy};
}

}  // namespace halfwarp::emulator::image::zstd
