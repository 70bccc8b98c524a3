// SPDX-License-Identifier: Apache-2.0
// Coordinates become elements and weights, elements are read and mixed.
#include "emulator/texture/sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/texture/axis.hpp"
#include "emulator/texture/cube.hpp"

namespace halfwarp::emulator::texture {
namespace {

using color = std::array<float, 4>;

// The maximum of an anisotropic filter; larger requests are clamped.
constexpr unsigned max_anisotropy = 16;

struct reader {
  const binding& source;
  const std::byte* bytes;

  const std::byte* element(const image_level& level, std::int64_t x, std::int64_t y,
                           std::int64_t z) const noexcept {
    return bytes + level.offset + static_cast<std::uint64_t>(z) * level.slice_pitch +
           static_cast<std::uint64_t>(y) * level.row_pitch +
           static_cast<std::uint64_t>(x) * source.image.format.bytes();
  }

  // Returns the border color in the components of the format. For integers, a device stores the low
  // bits of the float without a conversion.
  texel border() const noexcept {
    const texel_format& format = source.image.format;
    const unsigned bits = source.gives_floats() ? 32 : 8 * format.component_bytes();
    texel result{};
    for (unsigned i = 0; i < format.channels; ++i) {
      result[i] =
          std::bit_cast<std::uint32_t>(source.descriptor.borderColor[i]) & ~0u >> (32 - bits);
    }
    return result;
  }

  // Returns bits of floats or integers.
  texel load(const image_level& level, std::int64_t x, std::int64_t y,
             std::int64_t z) const noexcept {
    if (x == outside || y == outside || z == outside) return border();
    const texel_format& format = source.image.format;
    texel raw = load_texel(format, element(level, x, y, z));
    if (!source.gives_floats()) return raw;
    const bool is_srgb = source.descriptor.flags & CU_TRSF_SRGB && format.component_bytes() == 1;
    for (unsigned i = 0; i < format.channels; ++i) {
      float number = as_number(format, raw[i], true);
      if (is_srgb && i < 3) number = from_srgb(number);
      raw[i] = std::bit_cast<std::uint32_t>(number);
    }
    return raw;
  }

  // Returns the color that a filter mixes; a device also filters integers.
  color load_color(const image_level& level, std::int64_t x, std::int64_t y, std::int64_t z) const {
    const texel raw = load(level, x, y, z);
    if (source.gives_floats()) return std::bit_cast<color>(raw);
    color result{};
    for (unsigned i = 0; i < source.image.format.channels; ++i) {
      result[i] = as_number(source.image.format, raw[i], false);
    }
    return result;
  }

  texel from_color(const color& mixed) const noexcept {
    if (source.gives_floats()) return std::bit_cast<texel>(mixed);
    texel result{};
    for (unsigned i = 0; i < source.image.format.channels; ++i) {
      const double rounded = std::floor(static_cast<double>(mixed[i]) + 0.5);
      result[i] = static_cast<std::uint32_t>(static_cast<std::int64_t>(rounded));
    }
    return result;
  }
};

void add(color& to, const color& value, float weight) noexcept {
  if (weight == 0) return;  // an unused color may be infinite
  for (unsigned i = 0; i < 4; ++i) to[i] += weight * value[i];
}

// Returns a coordinate in elements of an axis.
double place_on_axis(const axis& along, const fetch_point& point, std::size_t number) noexcept {
  return point.is_index ? point.index[number] : along.place(point.at[number]);
}

std::int64_t layer_of(const binding& source, const fetch_point& point) noexcept {
  return static_cast<std::int64_t>(std::min(point.layer, source.image.layers() - 1));
}

// Coordinates in elements of a level, and the slice selected by layer and face.
struct placed_point {
  std::array<double, 3> at{};
  int axes = 1;
  std::int64_t slice = 0;
  bool is_cube = false;
};

placed_point place(const binding& source, const fetch_point& point,
                   const image_level& level) noexcept {
  placed_point result;
  const std::int64_t layer = layer_of(source, point);
  if (point.shape == geometry::cube) {
    const face_point face = on_cube(point.at);
    result.at = {static_cast<double>(face.s) * level.width,
                 static_cast<double>(face.t) * level.height, 0};
    result.axes = 2;
    result.slice = source.image.is_cube ? layer * 6 + face.face : layer;
    result.is_cube = true;
    return result;
  }
  const std::array extents{level.width, level.height, level.depth};
  result.axes = coordinates(point.shape);
  result.slice = layer;
  for (int i = 0; i < result.axes; ++i) {
    result.at[i] = place_on_axis({source, i, extents[i]}, point, static_cast<std::size_t>(i));
  }
  return result;
}

struct axis_taps {
  std::array<taps, 3> of{};
};

axis_taps find_taps(const reader& r, const placed_point& at, const image_level& level,
                    bool is_linear) noexcept {
  const std::array extents{level.width, level.height, level.depth};
  const auto taps_of = [&](const axis& along, double place) {
    return is_linear ? along.taps_at(place) : taps{along.element_at(place), outside, 0};
  };
  axis_taps result;
  for (int i = 0; i < at.axes; ++i) {
    result.of[i] = taps_of(at.is_cube ? axis{extents[i]} : axis{r.source, i, extents[i]}, at.at[i]);
  }
  if (at.axes == 1) result.of[1] = taps_of({r.source, 1, 1}, 0);
  if (at.axes < 3) result.of[2] = {at.slice, outside, 0};
  return result;
}

// Returns integer weights in units of 1/256, one per corner: x counts 1, y 2, z 4. The sum is 256.
// The weights of x and y are exact; in a volume, the weights of x and z are, and y divides them
// last. The single row of a line has its own element or the border beside it.
std::array<std::int64_t, 8> weights_of(const axis_taps& t, int axes) noexcept {
  const std::int64_t x = t.of[0].weight;
  const bool is_volume = axes == 3;
  const std::int64_t other = t.of[is_volume ? 2 : 1].weight;
  const std::int64_t both = share_of(x, other);
  const std::int64_t neither = whole - x - other + both;
  if (!is_volume) return {neither, x - both, other - both, both};
  const std::array planes{neither, x - both, other - both, both};
  std::array<std::int64_t, 8> result{};
  for (unsigned i = 0; i < 4; ++i) {
    const std::int64_t low = share_of(planes[i], t.of[1].weight);
    const unsigned corner = (i & 1) | (i & 2) << 1;
    result[corner] = planes[i] - low;
    result[corner | 2] = low;
  }
  return result;
}

// Loads an element of a face or beside it. Three faces meet at a corner: no fourth element exists.
color load_around(const reader& r, const image_level& level, std::int64_t slice, face_element at) {
  const std::int64_t count = level.width, first_face = slice - at.face;
  const auto load = [&](const face_element& e) {
    return r.load_color(level, e.x, e.y, first_face + e.face);
  };
  const std::int64_t x = std::clamp<std::int64_t>(at.x, 0, count - 1);
  const std::int64_t y = std::clamp<std::int64_t>(at.y, 0, count - 1);
  if (x == at.x && y == at.y) return load(at);
  if (x == at.x || y == at.y) return load(across_edge(at, count));
  color mixed{};
  add(mixed, load({at.face, x, y}), 1.0f / 3);
  add(mixed, load(across_edge({at.face, at.x, y}, count)), 1.0f / 3);
  add(mixed, load(across_edge({at.face, x, at.y}, count)), 1.0f / 3);
  return mixed;
}

// Filters a face linearly; elements beyond its edges belong to the neighboring faces.
texel fetch_seamless(const reader& r, const placed_point& at, const image_level& level) {
  axis_taps t;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t fixed = fixed_point(at.at[i] - 0.5);
    t.of[i] = {fixed >> 8, outside, fixed & (whole - 1)};
  }
  const auto face = static_cast<std::uint32_t>(at.slice % 6);
  const auto weights = weights_of(t, at.axes);
  color mixed{};
  for (unsigned corner = 0; corner < 4; ++corner) {
    if (weights[corner] == 0) continue;
    const face_element element{face, t.of[0].first + (corner & 1), t.of[1].first + (corner >> 1)};
    add(mixed, load_around(r, level, at.slice, element),
        static_cast<float>(weights[corner]) / whole);
  }
  return r.from_color(mixed);
}

// Reads the element at a point outside of a cube, as a filter without weights does.
texel fetch_element(const reader& r, const fetch_point& point, const image_level& level) noexcept {
  const std::array extents{level.width, level.height, level.depth};
  std::array<std::int64_t, 3> at{0, 0, layer_of(r.source, point)};
  const auto axes = static_cast<std::size_t>(coordinates(point.shape));
  for (std::size_t i = 0; i < axes; ++i) {
    const axis along{r.source, static_cast<int>(i), extents[i]};
    at[i] = along.element_at(place_on_axis(along, point, i));
  }
  return r.load(level, at[0], at[1], at[2]);
}

texel fetch_level(const reader& r, const fetch_point& point, const image_level& level) {
  const bool is_linear =
      r.source.descriptor.filterMode == CU_TR_FILTER_MODE_LINEAR && !point.is_index;
  if (!is_linear && point.shape != geometry::cube) return fetch_element(r, point, level);
  const placed_point at = place(r.source, point, level);
  const bool is_seamless =
      at.is_cube && (r.source.descriptor.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  if (is_linear && is_seamless) return fetch_seamless(r, at, level);
  const axis_taps t = find_taps(r, at, level, is_linear);
  const auto& [x, y, z] = t.of;
  if (!is_linear) return r.load(level, x.first, y.first, z.first);
  color mixed{};
  const auto weights = weights_of(t, at.axes);
  for (unsigned corner = 0; corner < weights.size(); ++corner) {
    if (weights[corner] == 0) continue;
    add(mixed,
        r.load_color(level, corner & 1 ? x.second : x.first, corner & 2 ? y.second : y.first,
                     corner & 4 ? z.second : z.first),
        static_cast<float>(weights[corner]) / whole);
  }
  return r.from_color(mixed);
}

using vector = std::array<float, 3>;

// The footprint of a thread: its distances to two neighbors, in elements of the first level.
using footprint = std::array<vector, 2>;

// Returns an approximate length, with the coefficients measured on an H200.
float length_of(const vector& step) noexcept {
  vector sides{std::fabs(step[0]), std::fabs(step[1]), std::fabs(step[2])};
  std::ranges::sort(sides);
  return sides[2] + sides[1] * (11.0f / 32) + sides[0] / 4;
}

// Returns the longest of four diameters; the factor of a diagonal is slightly below sin 45 degrees.
float diameter_of(const footprint& offsets) noexcept {
  vector sum{}, difference{};
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = (offsets[0][i] + offsets[1][i]) * (11.0f / 16);
    difference[i] = (offsets[0][i] - offsets[1][i]) * (11.0f / 16);
  }
  return std::max(
      {length_of(offsets[0]), length_of(offsets[1]), length_of(sum), length_of(difference)});
}

footprint footprint_of(const binding& source, const fetch_point& point) noexcept {
  const image_level& level = source.image.levels[0];
  const auto axes = static_cast<std::size_t>(coordinates(point.shape));
  vector scale{1, 1, 1};
  if (source.is_normalized()) {
    scale = {static_cast<float>(level.width), static_cast<float>(level.height),
             static_cast<float>(level.depth)};
  }
  footprint result{};
  for (std::size_t direction = 0; direction < 2; ++direction) {
    vector& step = result[direction];
    std::copy_n(point.gradient.begin() + static_cast<std::ptrdiff_t>(direction * axes), axes,
                step.begin());
    if (point.shape == geometry::cube) {
      const auto [s, t] = step_on_face(point.at, step);
      step = {s, t, 0};
    }
    for (std::size_t i = 0; i < step.size(); ++i) step[i] *= scale[i];
  }
  return result;
}

// Returns the number of samples along the longer side of the footprint. A device limits it to a
// power of two and treats a nearly round footprint as round.
int samples_of(const binding& source, const fetch_point& point, float longest,
               float shortest) noexcept {
  constexpr float tolerance = 1.0f / 256;
  const float limit =
      static_cast<float>(std::bit_floor(std::min(source.descriptor.maxAnisotropy, max_anisotropy)));
  if (point.shape != geometry::plane || !source.gives_floats() || !(longest > 0)) return 1;
  return static_cast<int>(
      std::max(1.0f, std::min(std::ceil(longest / shortest - tolerance), limit)));
}

float clamped_level(const binding& source, float level_number) noexcept {
  level_number = (std::isnan(level_number) ? 0 : level_number) + source.descriptor.mipmapLevelBias;
  const float last = static_cast<float>(source.image.levels.size() - 1);
  const float min_value = source.descriptor.minMipmapLevelClamp,
              max_value = source.descriptor.maxMipmapLevelClamp;
  return std::clamp(std::min(std::max(level_number, min_value), std::max(max_value, min_value)),
                    0.0f, last);
}

texel fetch_between(const reader& r, const fetch_point& point, float requested_level) {
  const auto& levels = r.source.image.levels;
  const float level_number = levels.size() == 1 ? 0 : clamped_level(r.source, requested_level);
  if (r.source.descriptor.mipmapFilterMode != CU_TR_FILTER_MODE_LINEAR ||
      !r.source.gives_floats()) {
    return fetch_level(r, point, levels[static_cast<std::size_t>(std::floor(level_number + 0.5f))]);
  }
  const std::int64_t fixed = fixed_point(static_cast<double>(level_number));
  const auto upper = static_cast<std::size_t>(fixed >> 8);
  const float weight = static_cast<float>(fixed & (whole - 1)) / static_cast<float>(whole);
  const texel first = fetch_level(r, point, levels[upper]);
  if (weight == 0) return first;
  color mixed{};
  add(mixed, std::bit_cast<color>(first), 1 - weight);
  add(mixed, std::bit_cast<color>(fetch_level(r, point, levels[upper + 1])), weight);
  return std::bit_cast<texel>(mixed);
}

// Samples the level whose elements are about as large as the footprint. For a long footprint, mixes
// several offsets along it, as GL_EXT_texture_filter_anisotropic does. The exact positions and
// weights of a device could not be measured.
texel fetch_footprint(const reader& r, const fetch_point& point) {
  const footprint area = footprint_of(r.source, point);
  const std::array lengths{std::hypot(area[0][0], area[0][1]), std::hypot(area[1][0], area[1][1])};
  const auto [shortest, longest] = std::ranges::minmax(lengths);
  const int samples = samples_of(r.source, point, longest, shortest);
  if (samples == 1) return fetch_between(r, point, std::log2(diameter_of(area)));
  const float level = std::log2(longest / static_cast<float>(samples));
  const std::size_t major = lengths[0] >= lengths[1] ? 0 : 2;
  color mixed{};
  for (int i = 1; i <= samples; ++i) {
    const float fraction = static_cast<float>(i) / static_cast<float>(samples + 1) - 0.5f;
    fetch_point moved = point;
    for (std::size_t axis = 0; axis < 2; ++axis)
      moved.at[axis] += point.gradient[major + axis] * fraction;
    add(mixed, std::bit_cast<color>(fetch_between(r, moved, level)),
        1 / static_cast<float>(samples));
  }
  return std::bit_cast<texel>(mixed);
}

}  // namespace

texel fetch(const binding& source, const std::byte* bytes, const fetch_point& point) {
  const reader r{source, bytes};
  const auto& levels = source.image.levels;
  if (source.image.kind == image_kind::linear) {
    const std::int64_t index =
        point.is_index
            ? point.index[0]
            : static_cast<std::int64_t>(std::floor(bounded(static_cast<double>(point.at[0]))));
    // Linear memory has neither filter nor border; elements outside are 0.
    if (index < 0 || index >= levels[0].width) return {};
    return r.load(levels[0], index, 0, 0);
  }
  if (point.has_gradient) return fetch_footprint(r, point);
  return fetch_between(r, point, point.level);
}

texel gather(const binding& source, const std::byte* bytes, const fetch_point& point,
             unsigned component) {
  const reader r{source, bytes};
  const image_level& level = source.image.levels[0];
  const axis_taps t = find_taps(r, place(source, point, level), level, true);
  const auto& [x, y, z] = t.of;
  return {r.load(level, x.first, y.second, z.first)[component],
          r.load(level, x.second, y.second, z.first)[component],
          r.load(level, x.second, y.first, z.first)[component],
          r.load(level, x.first, y.first, z.first)[component]};
}

const std::byte* find_surface_bytes(const image& surface, const std::byte* bytes,
                                    const std::array<std::int64_t, 3>& at, std::uint32_t size) {
  const image_level& level = surface.levels[0];
  const std::int64_t row = std::int64_t{level.width} * surface.format.bytes();
  const bool is_inside = at[0] >= 0 && at[0] + size <= row && at[1] >= 0 && at[1] < level.height &&
                         at[2] >= 0 && at[2] < level.depth;
  if (!is_inside) return nullptr;
  return bytes + level.offset + static_cast<std::uint64_t>(at[2]) * level.slice_pitch +
         static_cast<std::uint64_t>(at[1]) * level.row_pitch + static_cast<std::uint64_t>(at[0]);
}

}  // namespace halfwarp::emulator::texture
