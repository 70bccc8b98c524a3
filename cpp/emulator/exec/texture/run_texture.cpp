// SPDX-License-Identifier: Apache-2.0
// Executes tex, tld4, txq and suq for each lane.
#include <bit>
#include <cstring>

#include "emulator/exec/schedule/state.hpp"
#include "emulator/exec/texture/texture_access.hpp"
#include "emulator/texture/plane.hpp"

namespace halfwarp::emulator::exec {
namespace {

template <class Visit>
void for_each_lane(const warp& w, Visit&& visit) {
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1)
    visit(std::countr_zero(remaining));
}

texture::fetch_point point_of(warp& w, const texture_site& site, int lane) {
  texture::fetch_point point;
  point.shape = site.shape;
  point.is_index = site.is_index;
  for (int i = 0; i < texture::coordinates(site.shape); ++i) {
    const auto bits = w.at<std::uint32_t>(site.at[i])[lane];
    point.index[i] = static_cast<std::int32_t>(bits);
    point.at[i] = std::bit_cast<float>(bits);
  }
  if (site.has_layer) point.layer = w.at<std::uint32_t>(site.layer)[lane];
  if (site.has_level) {
    const auto bits = w.at<std::uint32_t>(site.level)[lane];
    point.level = site.is_index ? static_cast<float>(static_cast<std::int32_t>(bits))
                                : std::bit_cast<float>(bits);
  }
  point.has_gradient = site.has_gradient;
  for (int i = 0; site.has_gradient && i < 2 * texture::coordinates(site.shape); ++i) {
    point.gradient[i] = w.at<float>(site.gradient[i])[lane];
  }
  return point;
}

// All lanes read before any lane writes, because result registers may contain coordinates.
template <class Read>
void read_all(warp& w, const instruction& instr, bound_image& image, Read&& read) {
  const texture_site& site = site_of(w, instr);
  std::array<texture::texel, warp_size> result;
  for_each_lane(w, [&](int l) {
    const auto& from = image.of(l, w.at<std::uint64_t>(site.handle)[l]);
    result[l] = read(from, image.bytes(), point_of(w, site, l));
  });
  for (unsigned i = 0; i < site.values; ++i) {
    auto* const to = w.at<std::uint32_t>(site.value[i]);
    for_each_lane(w, [&](int l) { to[l] = result[l][i]; });
  }
}

// Fetches together if all lanes read one plain plane by its coordinates alone; else returns false.
bool read_plane(warp& w, const instruction& instr, bound_image& image) {
  const texture_site& site = site_of(w, instr);
  if (site.shape != texture::geometry::plane || site.is_index || site.has_layer || site.has_level ||
      site.has_gradient) {
    return false;
  }
  const auto* handles = w.at<std::uint64_t>(site.handle);
  if (!texture::are_equal(w.active, handles)) return false;
  const int first = std::countr_zero(w.active);
  const auto& from = image.of(first, handles[first]);
  if (!texture::is_plain(from)) return false;
  std::array<std::uint32_t, warp_size> result;
  texture::fetch_plane(from, image.bytes(), w.at<float>(site.at[0]), w.at<float>(site.at[1]),
                       result.data());
  for (unsigned i = 0; i < site.values; ++i) {
    auto* const to = w.at<std::uint32_t>(site.value[i]);
    if (w.active == all_lanes) {
      i == 0 ? std::memcpy(to, result.data(), sizeof result) : std::memset(to, 0, sizeof result);
    } else {
      for_each_lane(w, [&](int l) { to[l] = i == 0 ? result[l] : 0; });
    }
  }
  return true;
}

// The PTX constants for the channel orders R, RG and RGBA.
std::uint32_t channel_order(unsigned channels) {
  return channels == 1 ? 0x10B0 : channels == 2 ? 0x10B2 : 0x10B5;
}

std::uint32_t query_result(texture_query query, const texture::binding& of, std::uint32_t at) {
  if (at >= of.image.levels.size()) return 0;
  const auto& level = of.image.levels[at];
  switch (query) {
    case texture_query::width:
      return level.width;
    case texture_query::height:
      return of.image.dimensions > 1 ? level.height : 0;
    case texture_query::depth:
      return of.image.dimensions > 2 ? level.depth : 0;
    case texture_query::array_size:
      return of.image.is_layered ? of.image.layers() : 0;
    case texture_query::channel_data_type:
      return static_cast<std::uint32_t>(of.image.format.type);
    case texture_query::channel_order:
      return channel_order(of.image.format.channels);
    case texture_query::normalized_coords:
      return of.is_normalized();
    case texture_query::num_mipmap_levels:
      return static_cast<std::uint32_t>(of.image.levels.size());
  }
  return 0;
}

}  // namespace

void run_texture_fetch(warp& w, const instruction& instr) {
  bound_image image{w, instr, false, report::access_kind::load};
  if (!read_plane(w, instr, image)) read_all(w, instr, image, texture::fetch);
}

void run_texture_gather(warp& w, const instruction& instr) {
  const unsigned component = site_of(w, instr).component;
  bound_image image{w, instr, false, report::access_kind::load};
  read_all(w, instr, image, [=](const auto& from, const std::byte* bytes, const auto& point) {
    return texture::gather(from, bytes, point, component);
  });
}

// A nonzero immediate queries a surface.
void run_texture_query(warp& w, const instruction& instr) {
  const texture_site& site = site_of(w, instr);
  bound_image image{w, instr, instr.immediate != 0, report::access_kind::load};
  auto* const to = w.at<std::uint32_t>(site.value[0]);
  for_each_lane(w, [&](int l) {
    const auto& of = image.of(l, w.at<std::uint64_t>(site.handle)[l]);
    const auto level = site.has_level ? w.at<std::uint32_t>(site.level)[l] : 0;
    to[l] = query_result(site.query, of, level);
  });
}

}  // namespace halfwarp::emulator::exec
