// SPDX-License-Identifier: Apache-2.0
// Bit maps of the accessed bytes, by page and use.
#include "emulator/exec/check/access_recorder.hpp"

#include <algorithm>
#include <bit>

#include "emulator/exec/async/async.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

range_use use_of(const race_site& site) {
  if (site.reach != race::scope::weak) return range_use::update;
  return site.shape.use == memory_use::load ? range_use::read : range_use::write;
}

}  // namespace

bool access_recorder::is_recorded(const race_site& site) {
  // A strong load expects writes by others at the same time.
  const bool is_watch = site.reach != race::scope::weak && site.shape.use == memory_use::load;
  const bool is_access = site.use == race_site::role::access && !site.shape.is_shared && !is_watch;
  return is_access || site.at->run == &run_copy;
}

void access_recorder::record(const warp_access& access) {
  const race_site& site = access.site;
  const bool is_copy = access.instr.run == &run_copy;
  const range_use use = is_copy ? range_use::read : use_of(site);
  if (access.is_regular) {
    if (access.is_shared) return;
    for (const auto& part : access.halves) add(part.address, access.bytes_of(part), use);
    return;
  }
  const std::uint32_t bytes = is_copy ? access.instr.flags & copy_flag::bytes
                                      : elements_of(access.instr, site.shape) * site.shape.bytes;
  const memory::address_space& space = launch_.space;
  for (lane_mask lanes = access.lanes; lanes; lanes &= lanes - 1) {
    const std::uint64_t at =
        read_address(access.view, access.instr.operand[4], std::countr_zero(lanes), false) +
        static_cast<std::uint64_t>(access.instr.immediate);
    const bool is_window = at - space.shared_window() < memory::window_bytes ||
                           at - space.local_window() < memory::window_bytes;
    if (!is_window) add(at, bytes, use);
  }
}

void access_recorder::add(std::uint64_t address, std::uint32_t bytes, range_use use) {
  while (bytes) {
    const std::uint64_t number = address / page_bytes, offset = address % page_bytes;
    const std::uint64_t bit = offset % 64;
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 64 - bit));
    known_page& known = known_[number % known_.size()];
    if (number != known.number) known = {number, &pages_[number]};
    const std::uint64_t ones = part == 64 ? ~0ull : (1ull << part) - 1;
    (*known.bits)[static_cast<std::size_t>(use)][offset / 64] |= ones << bit;
    address += part;
    bytes -= part;
  }
}

std::vector<accessed_range> access_recorder::ranges() const {
  std::vector<accessed_range> all;
  for (const range_use use : {range_use::read, range_use::write, range_use::update}) {
    for (const auto& [number, bits] : pages_) {
      const auto& words = bits[static_cast<std::size_t>(use)];
      for (std::size_t n = 0; n < words.size(); ++n) {
        std::uint64_t remaining = words[n];
        const std::uint64_t start = number * page_bytes + n * 64;
        const bool is_whole = ~remaining == 0 && !all.empty() && all.back().use == use &&
                              all.back().first + all.back().bytes == start;
        if (is_whole) {
          all.back().bytes += 64;
          continue;
        }
        while (remaining) {
          const int skipped = std::countr_zero(remaining);
          const int count = std::countr_one(remaining >> skipped);
          remaining =
              skipped + count == 64 ? 0 : remaining >> (skipped + count) << (skipped + count);
          const std::uint64_t first = start + static_cast<std::uint64_t>(skipped);
          const bool continues =
              !all.empty() && all.back().use == use && all.back().first + all.back().bytes == first;
          if (continues) {
            all.back().bytes += static_cast<std::uint64_t>(count);
          } else {
            if (all.size() == max_ranges) return {};
            all.push_back({first, static_cast<std::uint64_t>(count), use});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace halfwarp::emulator::exec
