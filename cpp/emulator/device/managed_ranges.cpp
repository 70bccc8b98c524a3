// SPDX-License-Identifier: Apache-2.0
// Segments of equal settings, cut where a range begins or ends.
#include "emulator/device/managed_ranges.hpp"

#include <iterator>

#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator {
namespace {

// Smaller than on hardware, where allocations share no page.
constexpr std::uint64_t page = memory::alignment;

constexpr memory::address down(memory::address at) noexcept { return at / page * page; }
constexpr memory::address up(memory::address at) noexcept { return down(at + page - 1); }

bool is_same(const CUmemLocation& one, const CUmemLocation& other) noexcept {
  return one.type == other.type && one.id == other.id;
}

}  // namespace

void managed_settings::keep_common(const managed_settings& other) noexcept {
  is_read_mostly &= other.is_read_mostly;
  accessed_by &= other.accessed_by;
  if (!is_same(preferred, other.preferred)) preferred = {};
  if (!is_same(last_prefetch, other.last_prefetch)) last_prefetch = {};
}

managed_ranges::segments::iterator managed_ranges::split(memory::address at) {
  const auto after = segments_.upper_bound(at);
  if (after == segments_.begin()) return segments_.emplace(at, managed_settings{}).first;
  const auto around = std::prev(after);
  return around->first == at ? around : segments_.emplace_hint(after, at, around->second);
}

void managed_ranges::change(memory::address first, std::uint64_t bytes,
                            const std::function<void(managed_settings&)>& how) {
  const auto last = split(up(first + bytes));
  for (auto each = split(down(first)); each != last; ++each) how(each->second);
}

managed_settings managed_ranges::common(memory::address first, std::uint64_t bytes) const {
  auto each = segments_.upper_bound(first);
  managed_settings found = each == segments_.begin() ? managed_settings{} : std::prev(each)->second;
  for (; each != segments_.end() && each->first < first + bytes; ++each) {
    found.keep_common(each->second);
  }
  return found;
}

void managed_ranges::erase(const memory::allocation& gone) {
  if (gone.kind != memory::allocation_kind::managed || segments_.empty()) return;
  const auto last = split(up(gone.end()));
  auto first = segments_.erase(split(down(gone.base)), last);
  const bool goes_on = first != segments_.begin();
  if (goes_on) segments_.emplace_hint(first, down(gone.base), managed_settings{});
}

}  // namespace halfwarp::emulator
