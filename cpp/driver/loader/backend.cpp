// SPDX-License-Identifier: Apache-2.0
// Which library answers the driver's functions: libcuda or the emulator.
#include "driver/loader/backend.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver/loader/fill.hpp"

namespace halfwarp::driver {

namespace {

constexpr const char* driver_file = "libcuda.so.1";
constexpr const char* emulator_file = "libcuda_emulated.so";

template <class Function>
Function* find(void* handle, const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

void* fail_to_open(loader_failure& failure, backend_id backend, const char* why) noexcept {
  failure.kind = FAILURE_LIBRARY;
  failure.backend = backend;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", why ? why : "unknown reason");
  return nullptr;
}

void* open_real_driver(loader_failure& failure) noexcept {
  void* const handle = dlopen(driver_file, RTLD_NOW | RTLD_LOCAL);
  return handle ? handle : fail_to_open(failure, BACKEND_DRIVER, dlerror());
}

void* open_emulator(loader_failure& failure) noexcept {
  return open_beside(emulator_file, failure);
}

// Why the driver has nothing to run on here; null when it has, and when it fails in another way:
// that is for the caller to see, not to be hidden by emulation.
const char* why_unusable(void* handle) noexcept {
  const int version = version_of(handle);
  if (version && version < oldest_driver) return "the CUDA driver is older than CUDA 12.0";
  const auto init = find<decltype(::cuInit)>(handle, "cuInit");
  const auto count = find<decltype(::cuDeviceGetCount)>(handle, "cuDeviceGetCount");
  if (!init || !count) return "libcuda.so.1 is not a CUDA driver";
  int devices = 0;
  const CUresult code = init(0);
  if (code == CUDA_ERROR_STUB_LIBRARY) return "libcuda.so.1 is the stub of the CUDA toolkit";
  if (code == CUDA_ERROR_NO_DEVICE) return "the CUDA driver finds no device";
  if (code != CUDA_SUCCESS || count(&devices) != CUDA_SUCCESS) return nullptr;
  return devices == 0 ? "the CUDA driver finds no device" : nullptr;
}

// The emulator's notice says why it was chosen.
void tell_reason(void* emulator, const char* reason) noexcept {
  if (const auto tell = find<void(const char*)>(emulator, "halfwarp_emulator_chosen_because")) {
    tell(reason);
  }
}

// Whether the search paths lead to our own emulator, which is there for other programs' sake.
bool is_our_emulator(void* handle) noexcept {
  if (!find<int()>(handle, "halfwarp_emulator_is_active")) return false;
  loader_failure unused{};
  return open_emulator(unused) == handle;  // one file has one handle
}

open_driver open_best(loader_failure& failure) noexcept {
  void* const real = open_real_driver(failure);
  if (real && is_our_emulator(real)) return {real, BACKEND_EMULATOR};
  const char* const reason = real ? why_unusable(real) : failure.detail;
  if (!reason) return {real, BACKEND_DRIVER};
  char because[sizeof failure.detail];
  std::snprintf(because, sizeof because, "%s", reason);
  // The driver stays loaded: having started, it may have left threads and exit handlers behind.
  loader_failure second{};
  void* const emulator = open_emulator(second);
  if (!emulator) {
    fail_to_open(failure, BACKEND_EMULATOR, "");
    std::snprintf(failure.detail, sizeof failure.detail, "%.500s (and no GPU: %.500s)",
                  second.detail, because);
    return {};
  }
  tell_reason(emulator, because);
  failure.kind = FAILURE_NONE;
  return {emulator, BACKEND_EMULATOR};
}

open_driver open_named(backend_id backend, loader_failure& failure) noexcept {
  void* const handle =
      backend == BACKEND_EMULATOR ? open_emulator(failure) : open_real_driver(failure);
  return {handle, backend};
}

}  // namespace

// Whatever the search paths say.
void* open_beside(const char* file, loader_failure& failure) noexcept {
  Dl_info self;
  char path[4096];
  if (!dladdr(reinterpret_cast<const void*>(&open_backend), &self)) {
    return fail_to_open(failure, BACKEND_EMULATOR, "the folder of cuda.bindings is not known");
  }
  const char* const slash = std::strrchr(self.dli_fname, '/');
  const int folder = slash ? static_cast<int>(slash - self.dli_fname) + 1 : 0;
  std::snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, file);
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return handle ? handle : fail_to_open(failure, BACKEND_EMULATOR, dlerror());
}

backend_id wanted_backend(backend_id requested) noexcept {
  const char* const value = std::getenv("HALFWARP_BACKEND");
  if (requested != BACKEND_NONE) return requested;
  if (!value || !*value || std::strcmp(value, "driver") == 0) return BACKEND_DRIVER;
  return std::strcmp(value, "emulator") == 0 ? BACKEND_EMULATOR : BACKEND_NONE;
}

open_driver open_backend(backend_id requested, loader_failure& failure) noexcept {
  const backend_id wanted = wanted_backend(requested);
  if (wanted != BACKEND_NONE) return open_named(wanted, failure);
  const char* const value = std::getenv("HALFWARP_BACKEND");
  if (std::strcmp(value, "auto") == 0) return open_best(failure);
  failure.kind = FAILURE_SETTING;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", value);
  return {};
}

}  // namespace halfwarp::driver
