// SPDX-License-Identifier: Apache-2.0
// suld, sust and sured: access bytes of an array, with handling of out-of-bounds accesses.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/texture/texture_access.hpp"

namespace halfwarp::emulator::exec {
namespace {

template <class Visit>
void for_each_lane(const warp& w, Visit&& visit) {
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1)
    visit(std::countr_zero(remaining));
}

// Returns the bytes that a lane accesses; null if the access has no effect.
std::byte* find_bytes(warp& w, const texture_site& site, bound_image& image, int lane) {
  const texture::image& of = image.of(lane, w.at<std::uint64_t>(site.handle)[lane]).image;
  const std::uint32_t size = std::uint32_t{site.element_bytes} * site.values;
  std::array<std::int64_t, 3> at{};
  for (int i = 0; i < texture::coordinates(site.shape); ++i) {
    at[i] = w.at<std::int32_t>(site.at[i])[lane];
  }
  const texture::image_level& level = of.levels[0];
  const std::int64_t layers = of.dimensions < 3 ? level.depth : 1;
  if (site.has_layer) {
    at[2] = std::min<std::int64_t>(w.at<std::uint32_t>(site.layer)[lane], layers - 1);
  }
  if (site.bounds == surface_bounds::clamp) {
    const std::int64_t row = std::int64_t{level.width} * of.format.bytes();
    at[0] = std::clamp<std::int64_t>(at[0], 0, std::max<std::int64_t>(row - size, 0));
    at[1] = std::clamp<std::int64_t>(at[1], 0, level.height - 1);
    at[2] = std::clamp<std::int64_t>(at[2], 0, level.depth - 1);
  }
  const auto* const data = texture::find_surface_bytes(of, image.bytes(), at, size);
  if (!data && site.bounds == surface_bounds::trap) image.raise_outside(lane, size);
  return const_cast<std::byte*>(data);
}

std::byte* register_of(warp& w, const texture_site& site, unsigned value, int lane) {
  return w.at<std::byte>(site.value[value]) + std::size_t{site.register_bytes} * lane;
}

template <class T>
T combined(surface_operation operation, T old, T with) {
  switch (operation) {
    case surface_operation::add:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                            static_cast<std::make_unsigned_t<T>>(with));
    case surface_operation::min:
      return std::min(old, with);
    case surface_operation::max:
      return std::max(old, with);
    case surface_operation::and_:
      return old & with;
    case surface_operation::or_:
      return old | with;
    case surface_operation::none:
      break;
  }
  return with;
}

template <class T>
void reduce(surface_operation operation, std::byte* at, const std::byte* with) {
  T operand;
  std::memcpy(&operand, with, sizeof operand);
  std::atomic_ref<T> target{*reinterpret_cast<T*>(at)};
  T old = target.load();
  while (!target.compare_exchange_weak(old, combined(operation, old, operand))) {
  }
}

}  // namespace

void run_surface_load(warp& w, const instruction& instr) {
  const texture_site& site = site_of(w, instr);
  bound_image image{w, instr, true, report::access_kind::load};
  std::array<const std::byte*, warp_size> from{};
  for_each_lane(w, [&](int l) { from[l] = find_bytes(w, site, image, l); });
  for_each_lane(w, [&](int l) {
    for (unsigned i = 0; i < site.values; ++i) {
      std::byte* const to = register_of(w, site, i, l);
      std::memset(to, 0, site.register_bytes);
      if (from[l]) std::memcpy(to, from[l] + i * site.element_bytes, site.element_bytes);
    }
  });
}

void run_surface_store(warp& w, const instruction& instr) {
  const texture_site& site = site_of(w, instr);
  bound_image image{w, instr, true, report::access_kind::store};
  for_each_lane(w, [&](int l) {
    std::byte* const to = find_bytes(w, site, image, l);
    for (unsigned i = 0; to && i < site.values; ++i) {
      std::memcpy(to + i * site.element_bytes, register_of(w, site, i, l), site.element_bytes);
    }
  });
}

void run_surface_reduce(warp& w, const instruction& instr) {
  const texture_site& site = site_of(w, instr);
  bound_image image{w, instr, true, report::access_kind::atomic};
  for_each_lane(w, [&](int l) {
    std::byte* const at = find_bytes(w, site, image, l);
    if (!at) return;
    const std::byte* const with = register_of(w, site, 0, l);
    if (site.element_bytes == 8) {
      site.is_signed ? reduce<std::int64_t>(site.operation, at, with)
                     : reduce<std::uint64_t>(site.operation, at, with);
    } else {
      site.is_signed ? reduce<std::int32_t>(site.operation, at, with)
                     : reduce<std::uint32_t>(site.operation, at, with);
    }
  });
}

}  // namespace halfwarp::emulator::exec
