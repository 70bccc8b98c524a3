// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces, whose descriptions have more members in CUDA 13.
#include <cstring>

#include "emulated_runtime_12/later.hpp"
#include "emulated_runtime_12/structures.hpp"

namespace halfwarp::emulated_runtime_12 {
namespace {

// A description of CUDA 13 with the members of one of CUDA 12; the others are 0. Null stays null.
template <class Later>
class enlarged {
 public:
  template <class Earlier>
  explicit enlarged(const Earlier* source) : is_null_{!source} {
    if (source) std::memcpy(&value_, source, sizeof *source);
  }
  const Later* get() const { return is_null_ ? nullptr : &value_; }

 private:
  bool is_null_;
  Later value_{};
};

// Calls a query of CUDA 13, and writes the members that CUDA 12 has.
template <class Later, class Earlier, class Object>
cudaError_t query(cudaError_t (*later)(Later*, Object), Earlier* result, Object object) {
  if (!result) return later(nullptr, object);
  Later description;
  const cudaError_t code = later(&description, object);
  if (!code) std::memcpy(result, &description, sizeof *result);
  return code;
}

}  // namespace
}  // namespace halfwarp::emulated_runtime_12

using namespace halfwarp::emulated_runtime_12;

// The exported names.
asm(".irp name, "
    "cudaCreateTextureObject, cudaCreateSurfaceObject, cudaGetTextureObjectResourceDesc, "
    "cudaGetTextureObjectResourceViewDesc, cudaGetSurfaceObjectResourceDesc"
    "\n.globl \\name\n.type \\name, %function\n.set \\name, earlier_\\name\n.endr");

#pragma GCC visibility push(default)

extern "C" {

cudaError_t earlier_cudaCreateTextureObject(cudaTextureObject_t* texture,
                                            const resource_description* resource,
                                            const cudaTextureDesc* description,
                                            const resource_view_description* view) {
  const enlarged<cudaResourceDesc> later_resource{resource};
  const enlarged<cudaResourceViewDesc> later_view{view};
  return later_cudaCreateTextureObject(texture, later_resource.get(), description,
                                       later_view.get());
}

cudaError_t earlier_cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                            const resource_description* resource) {
  return later_cudaCreateSurfaceObject(surface, enlarged<cudaResourceDesc>{resource}.get());
}

cudaError_t earlier_cudaGetTextureObjectResourceDesc(resource_description* result,
                                                     cudaTextureObject_t texture) {
  return query(&later_cudaGetTextureObjectResourceDesc, result, texture);
}

cudaError_t earlier_cudaGetTextureObjectResourceViewDesc(resource_view_description* result,
                                                         cudaTextureObject_t texture) {
  return query(&later_cudaGetTextureObjectResourceViewDesc, result, texture);
}

cudaError_t earlier_cudaGetSurfaceObjectResourceDesc(resource_description* result,
                                                     cudaSurfaceObject_t surface) {
  return query(&later_cudaGetSurfaceObjectResourceDesc, result, surface);
}

}  // extern "C"
