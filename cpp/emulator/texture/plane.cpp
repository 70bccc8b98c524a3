// SPDX-License-Identifier: Apache-2.0
#include "emulator/texture/plane.hpp"

#include <bit>
#include <cstring>

#include "emulator/texture/axis.hpp"

namespace halfwarp::emulator::texture {
namespace {

bool is_filtered(const binding& source) noexcept {
  return source.descriptor.filterMode == CU_TR_FILTER_MODE_LINEAR;
}

class plane {
 public:
  plane(const binding& source, const std::byte* bytes) noexcept
      : across_{source, 0, source.image.levels[0].width},
        down_{source, 1, source.image.levels[0].height},
        origin_{bytes + source.image.levels[0].offset},
        row_pitch_{source.image.levels[0].row_pitch},
        border_{std::bit_cast<std::uint32_t>(source.descriptor.borderColor[0])} {}

  std::uint32_t nearest(float x, float y) const noexcept {
    return load(across_.element_at(across_.place(x)), down_.element_at(down_.place(y)));
  }

  std::uint32_t mixed(float x, float y) const noexcept {
    const taps columns = across_.taps_at(across_.place(x)), rows = down_.taps_at(down_.place(y));
    const std::int64_t both = share_of(columns.weight, rows.weight);
    float sum = 0;
    add(sum, columns.first, rows.first, whole - columns.weight - rows.weight + both);
    add(sum, columns.second, rows.first, columns.weight - both);
    add(sum, columns.first, rows.second, rows.weight - both);
    add(sum, columns.second, rows.second, both);
    return std::bit_cast<std::uint32_t>(sum);
  }

 private:
  std::uint32_t load(std::int64_t column, std::int64_t row) const noexcept {
    if (column == outside || row == outside) return border_;
    std::uint32_t value;
    std::memcpy(&value,
                origin_ + static_cast<std::uint64_t>(row) * row_pitch_ +
                    static_cast<std::uint64_t>(column) * sizeof value,
                sizeof value);
    return value;
  }

  void add(float& sum, std::int64_t column, std::int64_t row, std::int64_t weight) const noexcept {
    if (weight == 0) return;  // an unused element may be infinite
    sum += static_cast<float>(weight) / whole * std::bit_cast<float>(load(column, row));
  }

  axis across_, down_;
  const std::byte* origin_;
  std::uint64_t row_pitch_;
  std::uint32_t border_;
};

}  // namespace

bool is_plain(const binding& source) noexcept {
  const image& image = source.image;
  const texel_format& format = image.format;
  return image.kind != image_kind::linear && image.levels.size() == 1 && format.channels == 1 &&
         format.component_bytes() == 4 &&
         (format.type == CU_AD_FORMAT_FLOAT || !is_filtered(source));
}

void fetch_plane(const binding& source, const std::byte* bytes, std::uint32_t lanes, const float* x,
                 const float* y, std::uint32_t* to) noexcept {
  const plane from{source, bytes};
  const bool mixes = is_filtered(source);
  for (; lanes; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    to[lane] = mixes ? from.mixed(x[lane], y[lane]) : from.nearest(x[lane], y[lane]);
  }
}

}  // namespace halfwarp::emulator::texture
