// SPDX-License-Identifier: Apache-2.0
// CUDA arrays, and the objects through which kernels reach them. The elements lie in rows in an
// allocation of the device that no program is told the address of.
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

// The bytes of an array, given back with the last object that has them.
class array_memory {
 public:
  array_memory(memory::address_space& space, const memory::allocation& of) noexcept
      : space_{space}, base_{of.base}, sequence_{of.sequence} {}
  ~array_memory() {
    const auto found = space_.find_live(base_);  // not of another that came after a reset
    if (found && found->sequence == sequence_) space_.release(base_);
  }
  array_memory(const array_memory&) = delete;  // gives back once
  array_memory& operator=(const array_memory&) = delete;

 private:
  memory::address_space& space_;
  memory::address base_;
  std::uint64_t sequence_;
};

// Guarded by the driver's lock, as what follows.
class cuda_array : public object {
 public:
  static constexpr object_kind kind_of = object_kind::array;
  cuda_array(std::uint64_t context, const CUDA_ARRAY3D_DESCRIPTOR& given, texture::image has,
             std::shared_ptr<array_memory> of)
      : object{kind_of, context}, shape{given}, image{std::move(has)}, memory{std::move(of)} {}

  const CUDA_ARRAY3D_DESCRIPTOR shape;
  const texture::image image;  // of one level
  const std::shared_ptr<array_memory> memory;
  bool is_view = false;  // a level, or mapped: goes with what it is of
};

class mipmapped_array : public object {
 public:
  static constexpr object_kind kind_of = object_kind::mipmapped_array;
  mipmapped_array(std::uint64_t context, const CUDA_ARRAY3D_DESCRIPTOR& given, texture::image has,
                  std::shared_ptr<array_memory> of)
      : object{kind_of, context}, shape{given}, image{std::move(has)}, memory{std::move(of)} {}

  const CUDA_ARRAY3D_DESCRIPTOR shape;
  const texture::image image;
  const std::shared_ptr<array_memory> memory;
  std::vector<std::shared_ptr<cuda_array>> levels;
};

template <object_kind Kind>
class bound_object : public object {
 public:
  static constexpr object_kind kind_of = Kind;
  bound_object(std::uint64_t context, const CUDA_RESOURCE_DESC& of, const CUDA_TEXTURE_DESC& read)
      : object{kind_of, context}, resource{of}, texture_desc{read} {}

  const CUDA_RESOURCE_DESC resource;
  const CUDA_TEXTURE_DESC texture_desc;  // of a texture

  // As kernels are given it.
  std::uint64_t number() const noexcept { return handle::encode(kind_of, id()); }
};
using texture_object = bound_object<object_kind::texture_object>;
using surface_object = bound_object<object_kind::surface_object>;

// What a program without a graphics library says that there is, in place of a library.
struct graphics_object {
  std::uint64_t bytes = 0;            // of a buffer
  CUDA_ARRAY3D_DESCRIPTOR picture{};  // of an image: Width is not 0
};

// A registered buffer or image of a graphics library.
class graphics_resource : public object {
 public:
  static constexpr object_kind kind_of = object_kind::graphics_resource;
  graphics_resource(std::uint64_t context, const graphics_object& has)
      : object{kind_of, context}, description{has} {}

  const graphics_object description;
  bool is_mapped = false;
  unsigned map_flags = 0;
  memory::address base = 0;              // of a buffer
  std::shared_ptr<array_memory> memory;  // of a buffer
  std::shared_ptr<cuda_array> picture;   // of an image
};

}  // namespace halfwarp::emulator
