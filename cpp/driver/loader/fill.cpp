// SPDX-License-Identifier: Apache-2.0
// Writing the addresses of an open library's functions into its table.
#include "driver/loader/fill.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace halfwarp::driver {

namespace {

using get_address = decltype(::cuGetProcAddress);  // the macro makes it the _v2 form, CUDA 12.0

// One open driver, asked for one function after the other.
struct source {
  void* handle;
  get_address* ask;
  int version;
  bool per_thread;

  // Not asked for a variant newer than the driver: it would answer with the older one that it has
  // under the same base name, whose parameters may differ. Where they do not, that one is named.
  void* find(const symbol& wanted) const noexcept {
    const bool is_newer = version && wanted.version > version;
    if (is_newer) return wanted.older ? ask_for(wanted, wanted.older) : nullptr;
    if (void* const function = ask_for(wanted, wanted.version)) return function;
    if (per_thread && wanted.per_thread) {
      char name[128];
      std::snprintf(name, sizeof name, "%s%s", wanted.exported.c_str(), wanted.per_thread.c_str());
      if (void* const function = dlsym(handle, name)) return function;
    }
    return dlsym(handle, wanted.exported);
  }

  // Variants for per-thread streams came with CUDA 7.0; older functions have theirs under that
  // number.
  int number_of(const symbol& wanted, int variant) const noexcept {
    constexpr int first_per_thread = 7000;
    return per_thread && wanted.per_thread ? std::max(variant, first_per_thread) : variant;
  }

  void* ask_for(const symbol& wanted, int variant) const noexcept {
    if (!ask || !variant) return nullptr;
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    const CUresult code = ask(wanted.base, &function, number_of(wanted, variant), flags, &status);
    return code == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? function : nullptr;
  }
};

int pretended_version;

CUresult CUDAAPI tell_pretended_version(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = pretended_version;
  return CUDA_SUCCESS;
}

void pretend_to_be(int version) noexcept {
  pretended_version = version;
  const library_record& all = *library_records[HALFWARP_DRIVER];
  for (unsigned i = 0; i < all.count; ++i) {
    if (std::strcmp(all.symbols[i].name, "cuDriverGetVersion") == 0) {
      all.put(i, reinterpret_cast<void*>(&tell_pretended_version));
    }
  }
}

}  // namespace

bool wants_per_thread_streams() noexcept {
  const char* const value = std::getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
  return value && std::strtol(value, nullptr, 10) != 0;
}

int version_of(void* handle) noexcept {
  int version = 0;
  const auto ask =
      reinterpret_cast<decltype(::cuDriverGetVersion)*>(dlsym(handle, "cuDriverGetVersion"));
  return ask && ask(&version) == CUDA_SUCCESS ? version : 0;
}

// Slots are read by plain loads: a stub is one jump. After such a load, a processor whose loads are
// not kept in order may still use what it had read of the library's memory before. So all threads
// pass a barrier first; without the system call, the release stores of `put` have to do.
void show_library_to_threads() noexcept {
#ifndef __x86_64__  // which keeps them in order
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
#endif
}

void fill_driver(void* handle, int version) noexcept {
  show_library_to_threads();
  const source driver{handle, reinterpret_cast<get_address*>(dlsym(handle, "cuGetProcAddress_v2")),
                      version, wants_per_thread_streams()};
  const library_record& all = *library_records[HALFWARP_DRIVER];
  for (unsigned i = 0; i < all.count; ++i) all.put(i, driver.find(all.symbols[i]));
  if (version != version_of(handle)) pretend_to_be(version);
}

void fill_from_handle(const library_record& library, void* handle, void* emulator) noexcept {
  show_library_to_threads();
  using replacement = void*(const char*, void*);
  const auto in_place_of = reinterpret_cast<replacement*>(
      emulator ? dlsym(emulator, "halfwarp_emulator_in_place_of") : nullptr);
  for (unsigned i = 0; i < library.count; ++i) {
    const char* const name = library.symbols[i].exported;
    void* const found = dlsym(handle, name);
    library.put(i, in_place_of ? in_place_of(name, found) : found);
  }
}

}  // namespace halfwarp::driver
