// SPDX-License-Identifier: Apache-2.0
// Pseudo-random permutations without a table: a small Feistel network with cycle walking.
#include "emulator/exec/schedule/order.hpp"

#include "emulator/exec/schedule/state.hpp"

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

std::optional<cluster_start> next_cluster(launch_state& launch) {
  const launch_request& request = launch.request;
  const std::uint64_t size = request.cluster.count(), count = request.grid.count() / size;
  const std::uint64_t next = launch.next_cluster.fetch_add(1, std::memory_order_relaxed);
  if (next >= count || next * size > launch.last_block) return std::nullopt;
  const std::uint64_t seed = launch.options.is_shuffled ? launch.options.seed : 0;
  return cluster_start{shuffled_index(next, count, seed, request.grid_id), next};
}

std::array<std::uint32_t, 3> first_block(const launch_request& request, std::uint64_t cluster) {
  const extent& size = request.cluster;
  const std::uint64_t columns = request.grid.x / size.x, rows = request.grid.y / size.y;
  return {static_cast<std::uint32_t>(cluster % columns * size.x),
          static_cast<std::uint32_t>(cluster / columns % rows * size.y),
          static_cast<std::uint32_t>(cluster / columns / rows * size.z)};
}

}  // namespace halfwarp::emulator::exec
