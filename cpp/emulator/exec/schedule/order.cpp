// SPDX-License-Identifier: Apache-2.0
// Pseudo-random permutations without a table: a small Feistel network with cycle walking.
#include "emulator/exec/schedule/order.hpp"

#include <bit>

namespace halfwarp::emulator::exec {
namespace {

std::uint64_t mix(std::uint64_t value) {  // finalizer of splitmix64
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

}  // namespace

std::uint64_t shuffled_index(std::uint64_t i, std::uint64_t count, std::uint64_t seed,
                             std::uint64_t salt) noexcept {
  if (seed == 0 || count < 2) return i;
  int half_bits = (std::bit_width(count - 1) + 1) / 2;
  std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  std::uint64_t key = mix(seed ^ mix(salt));
  do {
    std::uint64_t upper = i >> half_bits, lower = i & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      std::uint64_t next = upper ^ (mix(key + 4 * lower + round) & mask);
      upper = lower;
      lower = next;
    }
    i = upper << half_bits | lower;
  } while (i >= count);
  return i;
}

}  // namespace halfwarp::emulator::exec
