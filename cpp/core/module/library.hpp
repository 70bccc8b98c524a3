// SPDX-License-Identifier: Apache-2.0
// Libraries of device code: loading, unloading and lookup.
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
  kernel_signatures signatures;  // empty without PTX that declares them
  // Set when the program obtains the raw handle of the library or of a kernel in it. Such a
  // library is never unloaded here: the program may use it later, or unload it itself.
  bool stays_loaded = false;
  // Set when the driver reuses the handle of the library or of a kernel in it. Then the program
  // has unloaded the library.
  bool is_unloaded = false;
};

struct library_traits {
  using raw_type = CUlibrary;
  using parent_type = no_parent;
  using facts_type = library_facts;
  static constexpr const char* destroyer = "cuLibraryUnload";
  static CUresult destroy(CUlibrary raw, const library_facts& facts) noexcept;
  static bool is_destroyed(const no_parent&, const library_facts& facts) noexcept {
    return __atomic_load_n(&facts.is_unloaded, __ATOMIC_RELAXED);
  }
};

using library_handle = handle<library_traits>;

// The driver waits for all work before it unloads a library. Garbage collection may release the
// last reference on a thread that such work waits for. So an unreferenced library is unloaded when
// the host synchronizes anyway, or before another one is loaded if there are too many.
inline constexpr std::size_t most_unused_libraries = 32;
void unload_unused_libraries() noexcept;
// Call in a child process, where the libraries of the parent process do not exist.
void discard_unused_libraries() noexcept;

// Call when the program obtains the raw handle of a library or of a kernel in it. `library` may
// be null.
inline void keep_loaded(const library_handle& library) noexcept {
  if (library) __atomic_store_n(&library.facts().stays_loaded, true, __ATOMIC_RELAXED);
}

// Call when the driver reuses the handle of the library or of a kernel in it.
inline void mark_unloaded(const library_handle& library) noexcept {
  __atomic_store_n(&library.facts().is_unloaded, true, __ATOMIC_RELAXED);
}

// The result of a load: an error code, and the log of the driver's compiler if it failed.
struct load_report {
  CUresult code = CUDA_SUCCESS;
  const char* function = "";
  std::string log;
};

// `is_ptx`: the image is zero-terminated text. `declarations`: PTX that declares the kernels'
// parameters; may be the image itself, or empty. Returns null if the image cannot be loaded.
[[nodiscard]] library_handle load_library(const void* image, bool is_ptx,
                                          std::string_view declarations, load_report& report);
[[nodiscard]] library_handle load_library_file(const char* path, std::string_view declarations,
                                               load_report& report);

// Returns the driver compiler's log for rejected PTX; empty if it compiles, or if no context is
// current. Compiles the text again, so it is for errors only.
[[nodiscard]] std::string compiler_log(const char* ptx);

// A `__device__`, `__constant__` or `__managed__` variable.
struct global_variable {
  CUdeviceptr address = 0;
  std::size_t size = 0;
};

// Both throw driver_error; CUDA_ERROR_NOT_FOUND for an unknown name.
[[nodiscard]] global_variable find_global(const library_handle& library, const char* name);
[[nodiscard]] std::vector<std::string> kernel_symbols(const library_handle& library);

}  // namespace halfwarp::core
