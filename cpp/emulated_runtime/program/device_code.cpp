// SPDX-License-Identifier: Apache-2.0
// Loads the device code of compiled programs.
#include "emulated_runtime/program/device_code.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/process/errors.hpp"

namespace halfwarp::emulated_runtime::program {
namespace {

constinit std::atomic<bool> is_exiting = false;

// The C library calls exit handlers in reverse order. Programs registered theirs before this one.
void watch_for_exit() noexcept {
  static const int watched = std::atexit([] { is_exiting.store(true); });
  static_cast<void>(watched);
}

constexpr std::uint32_t with_objects = 2;  // the version of a wrapper of linked objects

// Returns the size of a container of images from its header.
size_t container_bytes(const void* container) noexcept {
  struct {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t content_bytes;
  } header;
  std::memcpy(&header, container, sizeof header);
  return header.header_bytes + header.content_bytes;
}

// A link state, which is destroyed at the end of its scope.
struct link_state {
  CUlinkState handle = nullptr;
  link_state() = default;
  link_state(const link_state&) = delete;  // destroys the handle once
  link_state& operator=(const link_state&) = delete;
  ~link_state() {
    if (handle) table->cuLinkDestroy(handle);
  }
};

}  // namespace

cudaError_t device_code::library(CUlibrary* result) noexcept {
  const std::scoped_lock guard{loading_};
  if (!library_) {
    watch_for_exit();
    const bool is_linked = source_->version == with_objects && source_->objects;
    if (const CUresult code = is_linked ? link() : load()) return from_driver(code);
  }
  *result = library_;
  return cudaSuccess;
}

CUresult device_code::load() noexcept {
  const CUresult code =
      table->cuLibraryLoadData(&library_, source_->image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  report(code);
  return code;
}

// The final image has machine code alone. The relocatable objects still have their PTX.
CUresult device_code::link() noexcept {
  link_state state;
  CUresult code = table->cuLinkCreate(0, nullptr, nullptr, &state.handle);
  allow_undefined(state.handle);  // NVIDIA's linker has checked the names
  if (code == CUDA_SUCCESS) code = link_objects(state.handle);
  report(code);  // before another call of the driver
  return code;
}

CUresult device_code::link_objects(CUlinkState state) noexcept {
  void* image = nullptr;
  bool is_empty = true;
  for (const void* const* object = source_->objects; *object; ++object) {
    const CUresult code =
        table->cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, const_cast<void*>(*object),
                             container_bytes(*object), "a relocatable object", 0, nullptr, nullptr);
    // An object without PTX for the device; NVIDIA's device runtime is one.
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU) continue;
    if (code) return code;
    is_empty = false;
  }
  if (is_empty) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (const CUresult code = table->cuLinkComplete(state, &image, nullptr)) return code;
  return table->cuLibraryLoadData(&library_, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
}

// Writes the reason of the first failure, which an nvcc program has no means to ask for.
void device_code::report(CUresult code) noexcept {
  if (code == CUDA_SUCCESS) return;
  const std::string reason = reason_of(code);
  if (is_reported_ || reason.empty()) return;
  is_reported_ = true;
  Dl_info object{};
  const bool is_known = dladdr(source_, &object) != 0 && object.dli_fname;
  std::fprintf(stderr, "emulator: the device code of %s cannot be used: %s\n",
               is_known ? object.dli_fname : "the program", reason.c_str());
}

bool device_code::unload() noexcept {
  if (is_exiting.load()) return false;
  const std::scoped_lock guard{loading_};
  if (library_) table->cuLibraryUnload(library_);
  library_ = nullptr;
  return true;
}

}  // namespace halfwarp::emulated_runtime::program
