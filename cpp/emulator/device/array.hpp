// SPDX-License-Identifier: Apache-2.0
// CUDA arrays and the objects through which kernels access them. The elements lie in rows in a
// device allocation whose address no program receives.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/memory/address_space.hpp"
#include "emulator/object/object.hpp"
#include "emulator/texture/binding.hpp"

namespace halfwarp::emulator {

// The memory of an array, freed with the last object that shares it.
class array_memory {
 public:
  array_memory(memory::address_space& space, const memory::allocation& source) noexcept
      : space_{space}, base_{source.base}, sequence_{source.sequence} {}
  ~array_memory() {
    const auto match = space_.find_live(base_);  // a reset may have reused the address
    if (match && match->sequence == sequence_) space_.release(base_);
  }
  array_memory(const array_memory&) = delete;  // frees the memory once
  array_memory& operator=(const array_memory&) = delete;

 private:
  memory::address_space& space_;
  memory::address base_;
  std::uint64_t sequence_;
};

// The classes below are guarded by the driver's lock.
class cuda_array : public object {
 public:
  static constexpr object_kind kind_of = object_kind::array;
  cuda_array(std::uint64_t context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
             texture::image layout, std::shared_ptr<array_memory> bytes)
      : object{kind_of, context},
        shape{descriptor},
        image{std::move(layout)},
        memory{std::move(bytes)} {}

  const CUDA_ARRAY3D_DESCRIPTOR shape;
  const texture::image image;  // with one level
  const std::shared_ptr<array_memory> memory;
  bool is_view = false;  // a mipmap level or a mapped image, destroyed with its owner
};

class mipmapped_array : public object {
 public:
  static constexpr object_kind kind_of = object_kind::mipmapped_array;
  mipmapped_array(std::uint64_t context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                  texture::image layout, std::shared_ptr<array_memory> bytes)
      : object{kind_of, context},
        shape{descriptor},
        image{std::move(layout)},
        memory{std::move(bytes)} {}

  const CUDA_ARRAY3D_DESCRIPTOR shape;
  const texture::image image;
  const std::shared_ptr<array_memory> memory;
  std::vector<std::shared_ptr<cuda_array>> levels;
};

template <object_kind Kind>
class bound_object : public object {
 public:
  static constexpr object_kind kind_of = Kind;
  bound_object(std::uint64_t context, const CUDA_RESOURCE_DESC& descriptor,
               const CUDA_TEXTURE_DESC& reading)
      : object{kind_of, context}, resource{descriptor}, texture_desc{reading} {}

  const CUDA_RESOURCE_DESC resource;
  const CUDA_TEXTURE_DESC texture_desc;  // unused by surfaces

  // The handle that kernels receive.
  std::uint64_t number() const noexcept { return handle::encode(kind_of, id()); }
};
using texture_object = bound_object<object_kind::texture_object>;
using surface_object = bound_object<object_kind::surface_object>;

// A graphics object that a program declares in place of a graphics library.
struct graphics_object {
  std::uint64_t bytes = 0;            // size of a buffer
  CUDA_ARRAY3D_DESCRIPTOR picture{};  // shape of an image, whose Width is not 0
};

// A registered buffer or image of a graphics library.
class graphics_resource : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graphics_resource;
  graphics_resource(std::uint64_t context, const graphics_object& source)
      : object{kind_of, context}, description{source} {}

  const graphics_object description;
  bool is_mapped = false;
  unsigned map_flags = 0;
  memory::address base = 0;              // for a buffer
  std::shared_ptr<array_memory> memory;  // for a buffer
  std::shared_ptr<cuda_array> picture;   // for an image
};

}  // namespace halfwarp::emulator
