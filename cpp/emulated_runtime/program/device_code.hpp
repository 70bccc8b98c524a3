// SPDX-License-Identifier: Apache-2.0
// The device code of one registration: a fat binary, or relocatable objects that must be linked.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include <cstdint>
#include <mutex>

namespace halfwarp::emulated_runtime::program {

// The structure that nvcc passes to __cudaRegisterFatBinary.
struct wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* image;           // the container of final images
  const void* const* objects;  // version 2: containers of relocatable code, terminated by null
};

class device_code {
 public:
  explicit device_code(const wrapper* source) noexcept : source_{source} {}
  device_code(const device_code&) = delete;  // programs hold its address
  device_code& operator=(const device_code&) = delete;

  // Returns the driver's library, which the first call loads. A failed call may be repeated. A
  // context must be current.
  cudaError_t library(CUlibrary* result) noexcept;

  // Unloads the library. Returns false while the process exits: the driver may have ended.
  bool unload() noexcept;

 private:
  CUresult load() noexcept;
  CUresult link() noexcept;
  CUresult link_objects(CUlinkState state) noexcept;
  void report(CUresult code) noexcept;

  const wrapper* source_;
  bool is_reported_ = false;
  std::mutex loading_;
  CUlibrary library_ = nullptr;
};

}  // namespace halfwarp::emulated_runtime::program
