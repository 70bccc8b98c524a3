// SPDX-License-Identifier: Apache-2.0
// Counts sectors, lines, wavefronts of banks, and repeated addresses of atomic operations.
#include "emulator/exec/profile/access_site.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/scalar/scalar.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/special.hpp"
#include "emulator/exec/watch/access_shape.hpp"
#include "emulator/ptx/mnemonic.hpp"

namespace halfwarp::emulator::exec {
namespace {

using enum access_counter;
using place = access_site::place;

constexpr std::uint64_t sector_bytes = 32, line_bytes = 128, word_bytes = 4, banks = 32;

std::optional<access_site> site_of_name(std::string_view name) {
  const auto part = parts_of_name(name);
  const bool is_atomic = part[0] == "atom", is_access = part[0] == "ld" || part[0] == "st";
  if (name == "check.global") return access_site{.is_atomic = true};
  if (!is_atomic && !is_access) return std::nullopt;
  access_site site;
  site.is_atomic = is_atomic;
  if (part[1].starts_with("shared")) {
    site.space = place::shared;
    site.is_narrow = part[1] == "shared32";
  } else if (part[1] == "local") {
    site.space = place::local;
  } else if (part[1] != "global") {
    return std::nullopt;
  }
  site.bytes = bytes_of_type(part[is_atomic ? 3 : 2]);
  return site;
}

using site_map = std::unordered_map<handler, access_site>;

const site_map& known_sites() {
  static const site_map all = [] {
    site_map result;
    for (const handler_family& family : all_handler_families()) {
      for (const handler_entry& entry : family) {
        if (const auto site = site_of_name(entry.name)) result.emplace(entry.run, *site);
      }
    }
    return result;
  }();
  return all;
}

// Addresses of the active lanes of one access, in the order of the lanes.
struct lane_addresses {
  std::array<std::uint64_t, warp_size> at{};
  std::array<std::uint8_t, warp_size> lane{};
  std::size_t count = 0;

  void add(int number, std::uint64_t address) {
    lane[count] = static_cast<std::uint8_t>(number);
    at[count++] = address;
  }
};

std::uint64_t address_of(warp& w, const instruction& instr, const access_site& site, int lane) {
  if (site.is_matrix) return w.at<std::uint64_t>(matrix_of(w, instr).address)[lane];
  const auto displacement = static_cast<std::uint64_t>(instr.immediate);
  if (site.is_narrow) {
    return w.at<std::uint32_t>(instr.operand[4])[lane] + static_cast<std::uint32_t>(displacement);
  }
  const bool is_relative = instr.flags & access_flag::frame_relative && site.space == place::local;
  return w.at<std::uint64_t>(instr.operand[4])[lane] + displacement +
         (is_relative ? w.frame_base : 0);
}

// Returns how many different values there are. Sorts them.
std::size_t count_different(std::span<std::uint64_t> values) {
  if (!std::ranges::is_sorted(values)) std::ranges::sort(values);
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); ++i) count += i == 0 || values[i] != values[i - 1];
  return count;
}

std::size_t count_units(const lane_addresses& lanes, std::uint64_t unit) {
  std::array<std::uint64_t, warp_size> units;
  for (std::size_t i = 0; i < lanes.count; ++i) units[i] = lanes.at[i] / unit;
  return count_different({units.data(), lanes.count});
}

// Lanes with the same address update it in turn, and each turn accesses the sector again.
std::size_t count_atomic_sectors(const lane_addresses& lanes) {
  std::array<std::uint64_t, warp_size> sorted = lanes.at;
  std::sort(sorted.begin(), sorted.begin() + lanes.count);
  std::size_t total = 0, turns = 0, same = 0;
  for (std::size_t i = 0; i < lanes.count; ++i) {
    const bool is_new = i == 0 || sorted[i] / sector_bytes != sorted[i - 1] / sector_bytes;
    if (is_new) total += std::exchange(turns, 0);
    same = i > 0 && sorted[i] == sorted[i - 1] ? same + 1 : 1;
    turns = std::max(turns, same);
  }
  return total + turns;
}

void add_global(access_counts& to, const lane_addresses& lanes, const access_site& site) {
  ++to[global_requests];
  to[global_bytes] += lanes.count * site.bytes;
  to[global_sectors] +=
      site.is_atomic ? count_atomic_sectors(lanes) : count_units(lanes, sector_bytes);
  to[global_lines] += count_units(lanes, line_bytes);
}

// Word i of each lane of a warp is in 128 consecutive bytes.
void add_local(access_counts& to, const lane_addresses& lanes, const access_site& site) {
  ++to[local_requests];
  to[local_bytes] += lanes.count * site.bytes;
  const std::uint32_t words = std::max<std::uint32_t>(1, site.bytes / word_bytes);
  for (std::uint32_t n = 0; n < words; ++n) {
    std::array<std::uint64_t, warp_size> sectors;
    for (std::size_t i = 0; i < lanes.count; ++i) {
      const std::uint64_t word = lanes.at[i] / word_bytes + n;
      sectors[i] = (word * line_bytes + lanes.lane[i] * word_bytes) / sector_bytes;
    }
    to[local_sectors] += count_different({sectors.data(), lanes.count});
  }
}

// Returns the wavefronts of lanes [first, last): the most different words of one bank. Lanes update
// the same word in turn.
std::size_t wavefronts_of(const lane_addresses& lanes, std::uint32_t words, std::uint32_t first,
                          std::uint32_t last, bool is_atomic) {
  std::array<std::uint64_t, warp_size> accessed;
  std::size_t count = 0;
  for (std::size_t i = 0; i < lanes.count; ++i) {
    if (lanes.lane[i] < first || lanes.lane[i] >= last) continue;
    for (std::uint32_t n = 0; n < words; ++n) accessed[count++] = lanes.at[i] / word_bytes + n;
  }
  const std::span all{accessed.data(), count};
  if (!std::ranges::is_sorted(all)) std::ranges::sort(all);
  std::array<std::uint8_t, banks> different{};
  std::uint8_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_atomic && i > 0 && all[i] == all[i - 1]) continue;
    most = std::max(most, ++different[all[i] % banks]);
  }
  return most;
}

// Halves access 64 bits each, quarters 128 bits.
void add_shared(access_counts& to, const lane_addresses& lanes, const access_site& site) {
  const auto words = std::max<std::uint32_t>(site.bytes / word_bytes, 1);
  const std::uint32_t group = warp_size / words;
  ++to[shared_requests];
  to[shared_bytes] += lanes.count * site.bytes;
  for (std::uint32_t first = 0; first < warp_size; first += group) {
    const std::size_t wavefronts =
        wavefronts_of(lanes, words, first, first + group, site.is_atomic);
    to[shared_wavefronts] += wavefronts;
    to[shared_conflicts] += wavefronts ? wavefronts - 1 : 0;
  }
}

void add_atomic(access_counts& to, const lane_addresses& lanes) {
  std::array<std::uint64_t, warp_size> sorted = lanes.at;
  const std::span all{sorted.data(), lanes.count};
  to[atomic_addresses] += count_different(all);
  std::size_t most = 0, same = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    same = i > 0 && all[i] == all[i - 1] ? same + 1 : 1;
    most = std::max(most, same);
  }
  to[atomic_repeats] += most ? most - 1 : 0;
}

// Returns whether cp.async reads its source for a lane: it may write zeros only.
bool has_source(warp& w, const instruction& instr, int lane) {
  const operand_slot slot = instr.operand[1];
  if (instr.flags & copy_flag::has_predicate) return !(w.predicates[slot] >> lane & 1);
  return !(instr.flags & copy_flag::has_size) || w.at<std::uint32_t>(slot)[lane] > 0;
}

lane_step step_of(const lane_addresses& lanes) {
  lane_step result;
  for (std::size_t i = 1; i < lanes.count; ++i) {
    const std::int64_t distance = static_cast<std::int64_t>(lanes.at[i] - lanes.at[i - 1]);
    if (lanes.lane[i] == lanes.lane[i - 1] + 1) result.add({lane_step::state::equal, distance});
  }
  return result;
}

void add_copy(access_counts& to, warp& w, const instruction& instr, const access_site& site,
              lane_mask active) {
  lane_addresses sources, targets;
  for_each_lane(active, [&](int lane) {
    targets.add(lane, w.at<std::uint64_t>(instr.operand[0])[lane]);
    if (has_source(w, instr, lane)) sources.add(lane, address_of(w, instr, site, lane));
  });
  if (sources.count) add_global(to, sources, site);
  add_shared(to, targets, site);
  to.step.add(step_of(sources));
}

}  // namespace

std::optional<access_site> find_site(const instruction& instr, const ptx::mnemonic& spelling) {
  if (instr.run == &run_wide_atomic) return access_site{.is_atomic = true, .bytes = 16};
  if (instr.run == &run_load_matrix || instr.run == &run_store_matrix) {
    return access_site{.space = place::shared, .is_matrix = true, .bytes = 16};
  }
  if (instr.run == &run_copy) {
    const std::uint32_t bytes = instr.flags & copy_flag::bytes;
    return access_site{.is_copy = true, .bytes = bytes};
  }
  const auto match = known_sites().find(instr.run);
  if (match == known_sites().end()) return std::nullopt;
  access_site site = match->second;
  const ptx::state_space space = ptx::without_sub_space(spelling.space());
  // A device loads constants and parameters by other paths.
  if (space == ptx::state_space::const_ || space == ptx::state_space::param) return std::nullopt;
  if (!site.is_atomic) site.bytes *= instr.flags & access_flag::count;
  // The check of a vector stands for the operations on its elements.
  if (site.is_atomic && site.bytes == 0) {
    site.bytes = instr.target;
  } else if (site.is_atomic && spelling.vector_width > 1) {
    return std::nullopt;
  }
  return site;
}

void add_access(access_counts& to, warp& w, const instruction& instr, const access_site& site,
                lane_mask active) {
  if (site.is_copy) return add_copy(to, w, instr, site, active);
  const memory::address_space& space = w.block->launch->space;
  if (site.is_matrix && matrix_of(w, instr).matrices < 4) {
    active &= (lane_mask{1} << 8 * matrix_of(w, instr).matrices) - 1;
  }
  std::array<lane_addresses, 3> by_place;
  lane_addresses all;
  for_each_lane(active, [&](int lane) {
    std::uint64_t at = address_of(w, instr, site, lane);
    all.add(lane, at);
    place actual = site.space;
    if (actual == place::global && at - space.shared_window() < memory::window_bytes) {
      actual = place::shared;
      at -= space.shared_window();
    } else if (actual == place::global && at - space.local_window() < memory::window_bytes) {
      actual = place::local;
      at -= space.local_window();
    }
    by_place[static_cast<std::size_t>(actual)].add(lane, at);
  });
  constexpr std::array adders{&add_global, &add_shared, &add_local};
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    if (by_place[i].count) adders[i](to, by_place[i], site);
  }
  if (site.is_atomic) add_atomic(to, all);
  to.step.add(step_of(all));
}

}  // namespace halfwarp::emulator::exec
