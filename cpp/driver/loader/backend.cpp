// SPDX-License-Identifier: Apache-2.0
// Opens the library that implements the driver's functions: libcuda or the emulator.
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
Function* find_symbol(void* handle, const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

void* fail_to_open(loader_failure& failure, backend_id backend, const char* reason) noexcept {
  failure.kind = FAILURE_LIBRARY;
  failure.backend = backend;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", reason ? reason : "unknown reason");
  return nullptr;
}

void* open_real_driver(loader_failure& failure) noexcept {
  void* const handle = dlopen(driver_file, RTLD_NOW | RTLD_LOCAL);
  return handle ? handle : fail_to_open(failure, BACKEND_DRIVER, dlerror());
}

void* open_emulator(loader_failure& failure) noexcept {
  return open_sibling(emulator_file, failure);
}

// Returns why the driver is unusable here, or null if it is usable. Also returns null for other
// failures: the caller must see them, so emulation must not hide them.
const char* find_unusable_reason(void* handle) noexcept {
  const int version = version_of(handle);
  if (version && version < oldest_driver) return "the CUDA driver is older than CUDA 12.0";
  const auto init = find_symbol<decltype(::cuInit)>(handle, "cuInit");
  const auto count = find_symbol<decltype(::cuDeviceGetCount)>(handle, "cuDeviceGetCount");
  if (!init || !count) return "libcuda.so.1 is not a CUDA driver";
  int devices = 0;
  const CUresult code = init(0);
  if (code == CUDA_ERROR_STUB_LIBRARY) return "libcuda.so.1 is the stub of the CUDA toolkit";
  if (code == CUDA_ERROR_NO_DEVICE) return "the CUDA driver finds no device";
  if (code != CUDA_SUCCESS || count(&devices) != CUDA_SUCCESS) return nullptr;
  return devices == 0 ? "the CUDA driver finds no device" : nullptr;
}

// Passes the reason for the choice of the emulator to its notice.
void pass_reason(void* emulator, const char* reason) noexcept {
  if (const auto pass =
          find_symbol<void(const char*)>(emulator, "halfwarp_emulator_chosen_because")) {
    pass(reason);
  }
}

// Returns whether the search paths lead to our emulator, which is installed for other programs.
bool is_our_emulator(void* handle) noexcept {
  if (!find_symbol<int()>(handle, "halfwarp_emulator_is_active")) return false;
  loader_failure unused{};
  return open_emulator(unused) == handle;  // one file has one handle
}

open_driver open_best(loader_failure& failure) noexcept {
  void* const real = open_real_driver(failure);
  if (real && is_our_emulator(real)) return {real, BACKEND_EMULATOR};
  const char* const reason = real ? find_unusable_reason(real) : failure.detail;
  if (!reason) return {real, BACKEND_DRIVER};
  char unusable_reason[sizeof failure.detail];
  std::snprintf(unusable_reason, sizeof unusable_reason, "%s", reason);
  // The driver stays loaded: cuInit may have started threads and registered exit handlers.
  loader_failure emulator_failure{};
  void* const emulator = open_emulator(emulator_failure);
  if (!emulator) {
    fail_to_open(failure, BACKEND_EMULATOR, "");
    std::snprintf(failure.detail, sizeof failure.detail, "%.500s (and no GPU: %.500s)",
                  emulator_failure.detail, unusable_reason);
    return {};
  }
  pass_reason(emulator, unusable_reason);
  failure.kind = FAILURE_NONE;
  return {emulator, BACKEND_EMULATOR};
}

open_driver open_named(backend_id backend, loader_failure& failure) noexcept {
  void* const handle =
      backend == BACKEND_EMULATOR ? open_emulator(failure) : open_real_driver(failure);
  return {handle, backend};
}

}  // namespace

// Opens the file in the folder of this extension, regardless of search paths.
void* open_sibling(const char* file, loader_failure& failure) noexcept {
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

backend_id select_backend(backend_id requested) noexcept {
  const char* const value = std::getenv("HALFWARP_BACKEND");
  if (requested != BACKEND_NONE) return requested;
  if (!value || !*value || std::strcmp(value, "driver") == 0) return BACKEND_DRIVER;
  return std::strcmp(value, "emulator") == 0 ? BACKEND_EMULATOR : BACKEND_NONE;
}

open_driver open_backend(backend_id requested, loader_failure& failure) noexcept {
  const backend_id selected = select_backend(requested);
  if (selected != BACKEND_NONE) return open_named(selected, failure);
  const char* const value = std::getenv("HALFWARP_BACKEND");
  if (std::strcmp(value, "auto") == 0) return open_best(failure);
  failure.kind = FAILURE_SETTING;
  std::snprintf(failure.detail, sizeof failure.detail, "%s", value);
  return {};
}

}  // namespace halfwarp::driver
