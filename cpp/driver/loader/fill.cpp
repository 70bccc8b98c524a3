// SPDX-License-Identifier: Apache-2.0
// Writing the addresses of an open library's functions into its table.
#include "driver/loader/fill.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace halfwarp::driver {

namespace {

using get_address = decltype(::cuGetProcAddress);  // the macro makes it the _v2 form, CUDA 12.0

int version_of(void* handle) noexcept {
  int version = 0;
  const auto ask =
      reinterpret_cast<decltype(::cuDriverGetVersion)*>(dlsym(handle, "cuDriverGetVersion"));
  return ask && ask(&version) == CUDA_SUCCESS ? version : 0;
}

// One open driver, asked for one function after the other.
struct source {
  void* handle;
  get_address* ask;
  int version;
  bool per_thread;

  // Not asked for a variant newer than the driver: it would answer with the older one that it has
  // under the same base name, whose parameters differ.
  void* find(const symbol& wanted) const noexcept {
    if (wanted.version > version) return nullptr;
    if (void* const function = ask_for(wanted)) return function;
    if (per_thread && wanted.per_thread) {
      char name[128];
      std::snprintf(name, sizeof name, "%s%s", wanted.exported, wanted.per_thread);
      if (void* const function = dlsym(handle, name)) return function;
    }
    return dlsym(handle, wanted.exported);
  }

  // Variants for per-thread streams came with CUDA 7.0; older functions have theirs under that
  // number.
  int number_of(const symbol& wanted) const noexcept {
    constexpr int first_per_thread = 7000;
    return per_thread && wanted.per_thread ? std::max(wanted.version, first_per_thread)
                                           : wanted.version;
  }

  void* ask_for(const symbol& wanted) const noexcept {
    if (!ask || !wanted.version) return nullptr;
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    const CUresult code = ask(wanted.base, &function, number_of(wanted), flags, &status);
    return code == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? function : nullptr;
  }
};

}  // namespace

bool wants_per_thread_streams() noexcept {
  const char* const value = std::getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
  return value && std::strtol(value, nullptr, 10) != 0;
}

int fill_driver(void* handle, int version_limit) noexcept {
  const int version = version_of(handle);
  const bool limited = version_limit && version_limit < version;
  const source driver{handle, reinterpret_cast<get_address*>(dlsym(handle, "cuGetProcAddress_v2")),
                      limited ? version_limit : version, wants_per_thread_streams()};
  const library_record& all = *library_records[HALFWARP_DRIVER];
  for (unsigned i = 0; i < all.count; ++i) all.put(i, driver.find(all.symbols[i]));
  return driver.version;
}

void fill_from_handle(const library_record& library, void* handle) noexcept {
  for (unsigned i = 0; i < library.count; ++i) {
    library.put(i, dlsym(handle, library.symbols[i].exported));
  }
}

}  // namespace halfwarp::driver
