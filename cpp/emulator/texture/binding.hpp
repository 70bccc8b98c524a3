// SPDX-License-Identifier: Apache-2.0
// The image and the sampling parameters of a texture or surface object.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "emulator/texture/texel_format.hpp"

namespace halfwarp::emulator::texture {

// A mipmap level: rows of elements in order; absent extents are 1.
struct image_level {
  std::uint64_t offset = 0;                        // from the first byte of the image
  std::uint32_t width = 1, height = 1, depth = 1;  // layers and faces count as depth
  std::uint64_t row_pitch = 0, slice_pitch = 0;    // in bytes
};

enum class image_kind : std::uint8_t { array, linear, pitched };

struct image {
  image_kind kind = image_kind::array;
  texel_format format;
  int device = 0;
  int dimensions = 1;  // without layers
  bool is_layered = false, is_cube = false;
  std::uint64_t base = 0, bytes = 0;  // base is an address for kernels
  std::vector<image_level> levels;

  std::uint32_t layers() const noexcept {
    return is_cube ? levels[0].depth / 6 : is_layered ? levels[0].depth : 1;
  }
};

struct binding {
  bool is_surface = false;
  texture::image image;
  CUDA_TEXTURE_DESC descriptor{};  // unused by surfaces

  // Coordinates are always normalized if there are several levels.
  bool is_normalized() const noexcept {
    return descriptor.flags & CU_TRSF_NORMALIZED_COORDINATES || image.levels.size() > 1;
  }
  // Returns whether fetches return floats; otherwise they return the bits of integers.
  bool gives_floats() const noexcept {
    return image.format.is_floating() ||
           (image.format.is_normalizable() && !(descriptor.flags & CU_TRSF_READ_AS_INTEGER));
  }
};

// Bindings by handle. Thread-safe: kernels look up while the host creates objects.
class binding_table {
 public:
  void insert(std::uint64_t handle, std::shared_ptr<const binding> value) {
    const std::unique_lock guard{mutex_};
    bindings_[handle] = std::move(value);
  }
  void remove(std::uint64_t handle) {
    const std::unique_lock guard{mutex_};
    bindings_.erase(handle);
  }
  std::shared_ptr<const binding> find(std::uint64_t handle) const {
    const std::shared_lock guard{mutex_};
    const auto match = bindings_.find(handle);
    return match == bindings_.end() ? nullptr : match->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const binding>> bindings_;
};

}  // namespace halfwarp::emulator::texture
