// SPDX-License-Identifier: Apache-2.0
// Segments with equal settings, split where a range begins or ends.
#include "emulator/device/managed_ranges.hpp"

#include <iterator>

#include "emulator/memory/address_space.hpp"

namespace halfwarp::emulator {
namespace {

// Smaller than a hardware page, since emulated allocations may share one.
constexpr std::uint64_t page = memory::alignment;

constexpr memory::address down(memory::address at) noexcept { return at / page * page; }
constexpr memory::address up(memory::address at) noexcept { return down(at + page - 1); }

bool is_same(const CUmemLocation& a, const CUmemLocation& b) noexcept {
  return a.type == b.type && a.id == b.id;
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
                            const std::function<void(managed_settings&)>& update) {
  const auto last = split(up(first + bytes));
  for (auto each = split(down(first)); each != last; ++each) update(each->second);
}

managed_settings managed_ranges::common(memory::address first, std::uint64_t bytes) const {
  auto each = segments_.upper_bound(first);
  managed_settings settings =
      each == segments_.begin() ? managed_settings{} : std::prev(each)->second;
  for (; each != segments_.end() && each->first < first + bytes; ++each) {
    settings.keep_common(each->second);
  }
  return settings;
}

void managed_ranges::erase(const memory::allocation& freed) {
  if (freed.kind != memory::allocation_kind::managed || segments_.empty()) return;
  const auto last = split(up(freed.end()));
  auto first = segments_.erase(split(down(freed.base)), last);
  const bool has_previous = first != segments_.begin();
  if (has_previous) segments_.emplace_hint(first, down(freed.base), managed_settings{});
}

}  // namespace halfwarp::emulator
