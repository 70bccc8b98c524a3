// SPDX-License-Identifier: Apache-2.0
// Libraries of device code: loading them, and what is in them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/handle.hpp"
#include "core/module/kernel_signature.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {

struct library_facts {
  kernel_signatures signatures;  // empty when there is no PTX that tells them
  // Its raw handle, or that of one of its kernels, was given to the program, which may use it when
  // our objects are gone, or unload the library by itself: it is never unloaded here from then on.
  bool stays_loaded = false;
  // The program did: the driver has given its handle, or a kernel's, to a library loaded later.
  bool is_unloaded = false;
};

struct library_traits {
  using raw_type = CUlibrary;
  using parent_type = no_parent;
  using facts_type = library_facts;
  static constexpr const char* destroyer = "cuLibraryUnload";
  static CUresult destroy(CUlibrary raw, const library_facts& facts) noexcept;
  static bool is_gone(const no_parent&, const library_facts& facts) noexcept {
    return __atomic_load_n(&facts.is_unloaded, __ATOMIC_RELAXED);
  }
};

using library_handle = handle<library_traits>;

// The driver unloads when all work is done, and waits for that. Who lets go of a library last may
// be the collector, on a thread that such work waits for: so a library that nobody needs is
// unloaded when the host waits for all work anyway, and before another one is loaded when there are
// so many.
inline constexpr std::size_t most_unused_libraries = 32;
void unload_unused_libraries() noexcept;
// For the child of a fork: they are the parent's.
void forget_unused_libraries() noexcept;

// To be called of the library whose raw handle is given to the program, or a kernel's of it; a
// library that is null, or somebody else's, is never unloaded here anyway.
inline void keep_loaded(const library_handle& library) noexcept {
  if (library) __atomic_store_n(&library.facts().stays_loaded, true, __ATOMIC_RELAXED);
}

// To be called of a library when the driver gives its handle, or a kernel's of it, to another one.
inline void mark_unloaded(const library_handle& library) noexcept {
  __atomic_store_n(&library.facts().is_unloaded, true, __ATOMIC_RELAXED);
}

// How loading went: `code` says whether, the log of the driver's compiler why not.
struct load_report {
  CUresult code = CUDA_SUCCESS;
  const char* function = "";
  std::string log;
};

// `is_ptx`: the image is text that ends with a zero byte. `declarations`: PTX that tells the
// parameters of the kernels, may be the image itself, or empty. Null when it cannot be loaded.
[[nodiscard]] library_handle load_library(const void* image, bool is_ptx,
                                          std::string_view declarations, load_report& report);
[[nodiscard]] library_handle load_library_file(const char* path, std::string_view declarations,
                                               load_report& report);

// What the driver's compiler says of PTX that it refuses; empty when it does not refuse it, or when
// no context is current. Compiles it once more, so it is for errors only.
[[nodiscard]] std::string compiler_log(const char* ptx);

// A `__device__`, `__constant__` or `__managed__` variable.
struct global_variable {
  CUdeviceptr address = 0;
  std::size_t size = 0;
};

// Both throw driver_error; a name that is not there is CUDA_ERROR_NOT_FOUND.
[[nodiscard]] global_variable find_global(const library_handle& library, const char* name);
[[nodiscard]] std::vector<std::string> kernel_symbols(const library_handle& library);

}  // namespace halfwarp::core
