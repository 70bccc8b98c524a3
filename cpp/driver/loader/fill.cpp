// SPDX-License-Identifier: Apache-2.0
// Writes the addresses of an open library's functions into its table.
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

using get_proc_address = decltype(::cuGetProcAddress);  // the macro selects the _v2 form, CUDA 12.0

// Looks up functions in an open driver.
struct source {
  void* handle;
  get_proc_address* get_address;
  int version;
  bool per_thread;

  // A variant newer than the driver is not queried: the driver would return an older variant of the
  // same base name, whose parameters may differ. `older` names a variant with equal parameters.
  void* find(const symbol& entry) const noexcept {
    const bool is_newer = version && entry.version > version;
    if (is_newer) return entry.older ? query(entry, entry.older) : nullptr;
    if (void* const function = query(entry, entry.version)) return function;
    if (per_thread && entry.per_thread) {
      char name[128];
      std::snprintf(name, sizeof name, "%s%s", entry.exported.c_str(), entry.per_thread.c_str());
      if (void* const function = dlsym(handle, name)) return function;
    }
    return dlsym(handle, entry.exported);
  }

  // Variants for per-thread streams exist since CUDA 7.0; older functions have them under that
  // version.
  int query_version(const symbol& entry, int variant) const noexcept {
    constexpr int first_per_thread = 7000;
    return per_thread && entry.per_thread ? std::max(variant, first_per_thread) : variant;
  }

  void* query(const symbol& entry, int variant) const noexcept {
    if (!get_address || !variant) return nullptr;
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    const cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                        : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    const CUresult code =
        get_address(entry.base, &function, query_version(entry, variant), flags, &status);
    return code == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS ? function : nullptr;
  }
};

int limited_version;

CUresult CUDAAPI get_limited_version(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = limited_version;
  return CUDA_SUCCESS;
}

void limit_version(int version) noexcept {
  limited_version = version;
  const library_record& all = *library_records[HALFWARP_DRIVER];
  for (unsigned i = 0; i < all.count; ++i) {
    if (std::strcmp(all.symbols[i].name, "cuDriverGetVersion") == 0) {
      all.put(i, reinterpret_cast<void*>(&get_limited_version));
    }
  }
}

}  // namespace

bool uses_per_thread_streams() noexcept {
  const char* const value = std::getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
  return value && std::strtol(value, nullptr, 10) != 0;
}

int version_of(void* handle) noexcept {
  int version = 0;
  const auto query =
      reinterpret_cast<decltype(::cuDriverGetVersion)*>(dlsym(handle, "cuDriverGetVersion"));
  return query && query(&version) == CUDA_SUCCESS ? version : 0;
}

// Slots are read by plain loads, so that a stub is one jump. On a processor with weakly ordered
// loads, a thread could then use stale contents of the library's memory. Therefore all threads pass
// a barrier first. Without the system call, the release stores of `put` must suffice.
void publish_library() noexcept {
#ifndef __x86_64__  // loads are ordered on x86-64
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
#endif
}

void fill_driver(void* handle, int version) noexcept {
  publish_library();
  const source driver{handle,
                      reinterpret_cast<get_proc_address*>(dlsym(handle, "cuGetProcAddress_v2")),
                      version, uses_per_thread_streams()};
  const library_record& all = *library_records[HALFWARP_DRIVER];
  for (unsigned i = 0; i < all.count; ++i) all.put(i, driver.find(all.symbols[i]));
  if (version != version_of(handle)) limit_version(version);
}

void fill_from_handle(const library_record& library, void* handle, void* emulator) noexcept {
  publish_library();
  using replacement = void*(const char*, void*);
  const auto find_replacement = reinterpret_cast<replacement*>(
      emulator ? dlsym(emulator, "halfwarp_emulator_in_place_of") : nullptr);
  for (unsigned i = 0; i < library.count; ++i) {
    const char* const name = library.symbols[i].exported;
    void* const address = dlsym(handle, name);
    library.put(i, find_replacement ? find_replacement(name, address) : address);
  }
}

}  // namespace halfwarp::driver
