// SPDX-License-Identifier: Apache-2.0
// What a texture or surface object names: an image in the memory of a device, and how it is read.
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

// One level: rows of elements, one after another; extents that an image lacks are 1.
struct image_level {
  std::uint64_t offset = 0;                        // of its first byte from that of the image
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
  std::uint64_t base = 0, bytes = 0;  // addresses as kernels see them
  std::vector<image_level> levels;

  std::uint32_t layers() const noexcept {
    return is_cube ? levels[0].depth / 6 : is_layered ? levels[0].depth : 1;
  }
};

struct binding {
  bool is_surface = false;
  texture::image image;
  CUDA_TEXTURE_DESC descriptor{};  // of a texture

  // Coordinates on several levels are, whatever the flags say.
  bool is_normalized() const noexcept {
    return descriptor.flags & CU_TRSF_NORMALIZED_COORDINATES || image.levels.size() > 1;
  }
  // Whether what is read are floats; else the bits of integers.
  bool gives_floats() const noexcept {
    return image.format.is_floating() ||
           (image.format.is_normalizable() && !(descriptor.flags & CU_TRSF_READ_AS_INTEGER));
  }
};

// By the handle that kernels are given. Thread-safe: kernels look up while the host makes objects.
class binding_table {
 public:
  void insert(std::uint64_t handle, std::shared_ptr<const binding> what) {
    const std::unique_lock guard{mutex_};
    bindings_[handle] = std::move(what);
  }
  void remove(std::uint64_t handle) {
    const std::unique_lock guard{mutex_};
    bindings_.erase(handle);
  }
  std::shared_ptr<const binding> find(std::uint64_t handle) const {
    const std::shared_lock guard{mutex_};
    const auto found = bindings_.find(handle);
    return found == bindings_.end() ? nullptr : found->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const binding>> bindings_;
};

}  // namespace halfwarp::emulator::texture
