// SPDX-License-Identifier: Apache-2.0
// Coordinates become elements and weights, elements are read and mixed.
#include "emulator/texture/sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/texture/cube.hpp"

namespace halfwarp::emulator::texture {
namespace {

using color = std::array<float, 4>;

// Weights of a filter have 8 bits behind the point; 1.0 is one of them.
constexpr std::int64_t whole = 256;
// What is farther out is outside of every image.
constexpr double far_away = 1073741824.0;
// A device keeps so much of a normalised coordinate: below 0.2 stays what is not 0.2 exactly.
constexpr double coordinate_steps = 8388608.0;
constexpr std::int64_t outside = -1;
// Of an anisotropic filter; more may be asked for.
constexpr unsigned most_samples = 16;

double bounded(double value) noexcept {
  return std::isnan(value) ? 0.0 : std::clamp(value, -far_away, far_away);
}

std::int64_t fixed_point(double value) noexcept {
  return static_cast<std::int64_t>(std::floor(value * whole + 0.5));
}

// A product of weights, as one again.
constexpr std::int64_t share_of(std::int64_t weight, std::int64_t part) noexcept {
  return (weight * part + whole / 2) / whole;
}

// A normalised coordinate, in the first period where there are periods.
double normalized(float given, CUaddress_mode mode) noexcept {
  if (std::isnan(given)) return 0;
  const bool is_periodic = mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
  if (std::isinf(given)) return is_periodic ? 0.0 : static_cast<double>(given);
  const double at = std::floor(static_cast<double>(given) * coordinate_steps) / coordinate_steps;
  if (!is_periodic) return at;
  if (mode == CU_TR_ADDRESS_MODE_WRAP) return at - std::floor(at);
  const double place = at - 2 * std::floor(at / 2);
  return place < 1 ? place : 2 - place;
}

// The element that an index names, or `outside`.
std::int64_t addressed(std::int64_t index, std::int64_t count, CUaddress_mode mode) noexcept {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      return (index % count + count) % count;
    case CU_TR_ADDRESS_MODE_MIRROR: {
      const auto place = (index % (2 * count) + 2 * count) % (2 * count);
      return place < count ? place : 2 * count - 1 - place;
    }
    case CU_TR_ADDRESS_MODE_BORDER:
      return index < 0 || index >= count ? outside : index;
    default:
      return std::clamp<std::int64_t>(index, 0, count - 1);
  }
}

// The elements along one axis, and the weight of the second.
struct taps {
  std::int64_t first = 0, second = 0;
  std::int64_t weight = 0;  // of 256
};

struct reader {
  const binding& from;
  const std::byte* bytes;

  // Wrapping and mirroring are of normalised coordinates; others are clamped.
  CUaddress_mode mode(int axis) const noexcept {
    const auto given = from.descriptor.addressMode[axis];
    const bool is_periodic = given == CU_TR_ADDRESS_MODE_WRAP || given == CU_TR_ADDRESS_MODE_MIRROR;
    return is_periodic && !from.is_normalized() ? CU_TR_ADDRESS_MODE_CLAMP : given;
  }

  taps taps_of(double at, std::int64_t count, CUaddress_mode how, bool is_linear) const noexcept {
    if (!is_linear) {
      const auto index = static_cast<std::int64_t>(std::floor(at));
      return {addressed(index, count, how), outside, 0};
    }
    const std::int64_t fixed = fixed_point(at - 0.5);
    const std::int64_t index = fixed >> 8;
    return {addressed(index, count, how), addressed(index + 1, count, how), fixed & (whole - 1)};
  }

  const std::byte* element(const image_level& in, std::int64_t x, std::int64_t y,
                           std::int64_t z) const noexcept {
    return bytes + in.offset + static_cast<std::uint64_t>(z) * in.slice_pitch +
           static_cast<std::uint64_t>(y) * in.row_pitch +
           static_cast<std::uint64_t>(x) * from.image.format.bytes();
  }

  // Of the components that an element has. Those of integers are the bits of the colour, as many
  // as there is room for: a device does not convert the floats that it is given.
  texel border() const noexcept {
    const texel_format& format = from.image.format;
    const unsigned bits = from.gives_floats() ? 32 : 8 * format.component_bytes();
    texel result{};
    for (unsigned i = 0; i < format.channels; ++i) {
      result[i] = std::bit_cast<std::uint32_t>(from.descriptor.borderColor[i]) & ~0u >> (32 - bits);
    }
    return result;
  }

  // Bits of floats or integers.
  texel load(const image_level& in, std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
    if (x == outside || y == outside || z == outside) return border();
    const texel_format& format = from.image.format;
    texel raw = load_texel(format, element(in, x, y, z));
    if (!from.gives_floats()) return raw;
    const bool is_srgb = from.descriptor.flags & CU_TRSF_SRGB && format.component_bytes() == 1;
    for (unsigned i = 0; i < format.channels; ++i) {
      float number = as_number(format, raw[i], true);
      if (is_srgb && i < 3) number = from_srgb(number);
      raw[i] = std::bit_cast<std::uint32_t>(number);
    }
    return raw;
  }

  // What a filter mixes; a device mixes integers, too.
  color load_color(const image_level& in, std::int64_t x, std::int64_t y, std::int64_t z) const {
    const texel raw = load(in, x, y, z);
    if (from.gives_floats()) return std::bit_cast<color>(raw);
    color result{};
    for (unsigned i = 0; i < from.image.format.channels; ++i) {
      result[i] = as_number(from.image.format, raw[i], false);
    }
    return result;
  }

  texel from_color(const color& mixed) const noexcept {
    if (from.gives_floats()) return std::bit_cast<texel>(mixed);
    texel result{};
    for (unsigned i = 0; i < from.image.format.channels; ++i) {
      const double rounded = std::floor(static_cast<double>(mixed[i]) + 0.5);
      result[i] = static_cast<std::uint32_t>(static_cast<std::int64_t>(rounded));
    }
    return result;
  }
};

void add(color& to, const color& what, float weight) noexcept {
  if (weight == 0) return;  // what is not part of the mix may be infinite
  for (unsigned i = 0; i < 4; ++i) to[i] += weight * what[i];
}

// Coordinates in elements of a level, and the slice that layer and face choose.
struct placed_point {
  std::array<double, 3> at{};
  int axes = 1;
  std::int64_t slice = 0;
  bool is_cube = false;
};

placed_point place(const binding& from, const fetch_point& point, const image_level& in) noexcept {
  placed_point result;
  const auto last_layer = from.image.layers() - 1;
  const auto layer = static_cast<std::int64_t>(std::min(point.layer, last_layer));
  if (point.shape == geometry::cube) {
    const face_point face = on_cube(point.at);
    result.at = {static_cast<double>(face.s) * in.width, static_cast<double>(face.t) * in.height,
                 0};
    result.axes = 2;
    result.slice = from.image.is_cube ? layer * 6 + face.face : layer;
    result.is_cube = true;
    return result;
  }
  const std::array extents{in.width, in.height, in.depth};
  result.axes = coordinates(point.shape);
  result.slice = layer;
  for (int i = 0; i < result.axes; ++i) {
    if (point.is_index) {
      result.at[i] = bounded(point.index[i]);
    } else if (from.is_normalized()) {
      result.at[i] = bounded(normalized(point.at[i], from.descriptor.addressMode[i]) * extents[i]);
    } else {
      result.at[i] = bounded(static_cast<double>(point.at[i]));
    }
  }
  return result;
}

struct axis_taps {
  std::array<taps, 3> of{};
  std::int64_t slice = 0;
};

axis_taps find_taps(const reader& r, const placed_point& at, const image_level& in,
                    bool is_linear) noexcept {
  const std::array extents{in.width, in.height, in.depth};
  axis_taps result;
  for (int i = 0; i < at.axes; ++i) {
    const auto how = at.is_cube ? CU_TR_ADDRESS_MODE_CLAMP : r.mode(i);
    result.of[i] = r.taps_of(at.at[i], extents[i], how, is_linear);
  }
  result.slice = at.slice;
  if (at.axes == 1) result.of[1] = r.taps_of(0, 1, r.mode(1), is_linear);
  if (at.axes < 3) result.of[2] = {at.slice, outside, 0};
  return result;
}

// Of 256, one for each corner: x counts 1, y 2, z 4. Each is a whole number, and their sum is 256;
// x and y share theirs exactly, as x and z do in a volume, whose y is the last to divide them.
// A line lies at the edge of its one row: beside that is the row again, or the border.
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

// An element of a face or beside it. Three faces meet at a corner, where no fourth element is.
color load_around(const reader& r, const image_level& in, std::int64_t slice, face_element at) {
  const std::int64_t count = in.width, first_face = slice - at.face;
  const auto load = [&](const face_element& e) {
    return r.load_color(in, e.x, e.y, first_face + e.face);
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

// The linear filter of a face whose edges are those of its neighbours.
texel fetch_seamless(const reader& r, const placed_point& at, const image_level& in) {
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
    add(mixed, load_around(r, in, at.slice, element), static_cast<float>(weights[corner]) / whole);
  }
  return r.from_color(mixed);
}

texel fetch_level(const reader& r, const fetch_point& point, const image_level& in) {
  const bool is_linear =
      r.from.descriptor.filterMode == CU_TR_FILTER_MODE_LINEAR && !point.is_index;
  const placed_point at = place(r.from, point, in);
  const bool is_seamless = at.is_cube && (r.from.descriptor.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  if (is_linear && is_seamless) return fetch_seamless(r, at, in);
  const axis_taps t = find_taps(r, at, in, is_linear);
  const auto& [x, y, z] = t.of;
  if (!is_linear) return r.load(in, x.first, y.first, z.first);
  color mixed{};
  const auto weights = weights_of(t, at.axes);
  for (unsigned corner = 0; corner < weights.size(); ++corner) {
    if (weights[corner] == 0) continue;
    add(mixed,
        r.load_color(in, corner & 1 ? x.second : x.first, corner & 2 ? y.second : y.first,
                     corner & 4 ? z.second : z.first),
        static_cast<float>(weights[corner]) / whole);
  }
  return r.from_color(mixed);
}

using vector = std::array<float, 3>;

// What one thread sees: how far its two neighbours are, in elements of the first level.
using footprint = std::array<vector, 2>;

// About the length, as a device takes it: found in the answers of an H200.
float length_of(const vector& step) noexcept {
  vector sides{std::fabs(step[0]), std::fabs(step[1]), std::fabs(step[2])};
  std::ranges::sort(sides);
  return sides[2] + sides[1] * (11.0f / 32) + sides[0] / 4;
}

// Of the diagonals, too, a little less than the sine of 45 degrees: the longest of four diameters.
float diameter_of(const footprint& of) noexcept {
  vector sum{}, difference{};
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = (of[0][i] + of[1][i]) * (11.0f / 16);
    difference[i] = (of[0][i] - of[1][i]) * (11.0f / 16);
  }
  return std::max({length_of(of[0]), length_of(of[1]), length_of(sum), length_of(difference)});
}

footprint footprint_of(const binding& from, const fetch_point& point) noexcept {
  const image_level& in = from.image.levels[0];
  const auto axes = static_cast<std::size_t>(coordinates(point.shape));
  vector scale{1, 1, 1};
  if (from.is_normalized()) {
    scale = {static_cast<float>(in.width), static_cast<float>(in.height),
             static_cast<float>(in.depth)};
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

// How many times a plane is read along the longer side of the footprint. A device takes powers of
// two at most, and what is nearly round as round.
int samples_of(const binding& from, const fetch_point& point, float longest,
               float shortest) noexcept {
  constexpr float nearly = 1.0f / 256;
  const float most =
      static_cast<float>(std::bit_floor(std::min(from.descriptor.maxAnisotropy, most_samples)));
  if (point.shape != geometry::plane || !from.gives_floats() || !(longest > 0)) return 1;
  return static_cast<int>(std::max(1.0f, std::min(std::ceil(longest / shortest - nearly), most)));
}

float clamped_level(const binding& from, float level) noexcept {
  level = (std::isnan(level) ? 0 : level) + from.descriptor.mipmapLevelBias;
  const float last = static_cast<float>(from.image.levels.size() - 1);
  const float least = from.descriptor.minMipmapLevelClamp,
              most = from.descriptor.maxMipmapLevelClamp;
  return std::clamp(std::min(std::max(level, least), std::max(most, least)), 0.0f, last);
}

texel fetch_between(const reader& r, const fetch_point& point, float wanted) {
  const auto& levels = r.from.image.levels;
  const float level = levels.size() == 1 ? 0 : clamped_level(r.from, wanted);
  if (r.from.descriptor.mipmapFilterMode != CU_TR_FILTER_MODE_LINEAR || !r.from.gives_floats()) {
    return fetch_level(r, point, levels[static_cast<std::size_t>(std::floor(level + 0.5f))]);
  }
  const std::int64_t fixed = fixed_point(static_cast<double>(level));
  const auto upper = static_cast<std::size_t>(fixed >> 8);
  const float weight = static_cast<float>(fixed & (whole - 1)) / static_cast<float>(whole);
  const texel first = fetch_level(r, point, levels[upper]);
  if (weight == 0) return first;
  color mixed{};
  add(mixed, std::bit_cast<color>(first), 1 - weight);
  add(mixed, std::bit_cast<color>(fetch_level(r, point, levels[upper + 1])), weight);
  return std::bit_cast<texel>(mixed);
}

// The level at which an element is about as large as the footprint; where the footprint is long,
// several points along it at the level of a part, as GL_EXT_texture_filter_anisotropic has it:
// where a device puts them, and how it weighs them, its answers do not tell.
texel fetch_footprint(const reader& r, const fetch_point& point) {
  const footprint seen = footprint_of(r.from, point);
  const std::array lengths{std::hypot(seen[0][0], seen[0][1]), std::hypot(seen[1][0], seen[1][1])};
  const auto [shortest, longest] = std::ranges::minmax(lengths);
  const int samples = samples_of(r.from, point, longest, shortest);
  if (samples == 1) return fetch_between(r, point, std::log2(diameter_of(seen)));
  const float level = std::log2(longest / static_cast<float>(samples));
  const std::size_t major = lengths[0] >= lengths[1] ? 0 : 2;
  color mixed{};
  for (int i = 1; i <= samples; ++i) {
    const float part = static_cast<float>(i) / static_cast<float>(samples + 1) - 0.5f;
    fetch_point moved = point;
    for (std::size_t axis = 0; axis < 2; ++axis)
      moved.at[axis] += point.gradient[major + axis] * part;
    add(mixed, std::bit_cast<color>(fetch_between(r, moved, level)),
        1 / static_cast<float>(samples));
  }
  return std::bit_cast<texel>(mixed);
}

}  // namespace

texel fetch(const binding& from, const std::byte* bytes, const fetch_point& point) {
  const reader r{from, bytes};
  const auto& levels = from.image.levels;
  if (from.image.kind == image_kind::linear) {
    const std::int64_t index =
        point.is_index
            ? point.index[0]
            : static_cast<std::int64_t>(std::floor(bounded(static_cast<double>(point.at[0]))));
    // Memory that is read without an array has neither filter nor border: zeros are around it.
    if (index < 0 || index >= levels[0].width) return {};
    return r.load(levels[0], index, 0, 0);
  }
  if (point.has_gradient) return fetch_footprint(r, point);
  return fetch_between(r, point, point.level);
}

texel gather(const binding& from, const std::byte* bytes, const fetch_point& point,
             unsigned component) {
  const reader r{from, bytes};
  const image_level& in = from.image.levels[0];
  const axis_taps t = find_taps(r, place(from, point, in), in, true);
  const auto& [x, y, z] = t.of;
  return {r.load(in, x.first, y.second, z.first)[component],
          r.load(in, x.second, y.second, z.first)[component],
          r.load(in, x.second, y.first, z.first)[component],
          r.load(in, x.first, y.first, z.first)[component]};
}

const std::byte* find_surface_bytes(const image& in, const std::byte* bytes,
                                    const std::array<std::int64_t, 3>& at, std::uint32_t size) {
  const image_level& level = in.levels[0];
  const std::int64_t row = std::int64_t{level.width} * in.format.bytes();
  const bool is_inside = at[0] >= 0 && at[0] + size <= row && at[1] >= 0 && at[1] < level.height &&
                         at[2] >= 0 && at[2] < level.depth;
  if (!is_inside) return nullptr;
  return bytes + level.offset + static_cast<std::uint64_t>(at[2]) * level.slice_pitch +
         static_cast<std::uint64_t>(at[1]) * level.row_pitch + static_cast<std::uint64_t>(at[0]);
}

}  // namespace halfwarp::emulator::texture
