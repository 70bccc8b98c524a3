// SPDX-License-Identifier: Apache-2.0
// Returns the runtime's functions: the static library's, or the translation's on the emulator.
#include "runtime/source.hpp"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "runtime/functions.hpp"

namespace halfwarp::runtime {
namespace {

constexpr const char* translation_file = "libcudart_emulated.so";

const entry* find_entry(std::string_view name) noexcept {
  const auto all = entries();
  const auto match = std::lower_bound(
      all.begin(), all.end(), name,
      [](const entry& candidate, std::string_view name_arg) { return candidate.name < name_arg; });
  return match != all.end() && match->name == name ? &*match : nullptr;
}

void* fail(const char* detail) noexcept {
  PyErr_Format(PyExc_RuntimeError,
               "the runtime API on the emulator cannot be opened: %s; it is part of halfwarp and "
               "is installed beside cuda/bindings: reinstall the package",
               detail ? detail : "unknown reason");
  return nullptr;
}

// Opens the translation in the folder of this extension, regardless of search paths.
void* open_translation() noexcept {
  Dl_info self;
  char path[4096];
  if (!dladdr(reinterpret_cast<const void*>(&open_translation), &self)) return nullptr;
  const char* const slash = std::strrchr(self.dli_fname, '/');
  const int folder = slash ? static_cast<int>(slash - self.dli_fname) + 1 : 0;
  std::snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, translation_file);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Opens the translation once and connects it to the driver's table. Needs the GIL.
void* translation(const driver::loader_api& loader) noexcept {
  static void* handle = nullptr;
  if (handle) return handle;
  void* const library = open_translation();
  if (!library) return fail(dlerror());
  const auto connect =
      reinterpret_cast<void (*)(const void*)>(dlsym(library, "halfwarp_cudart_connect"));
  if (!connect) return fail("it has no halfwarp_cudart_connect");
  connect(loader.table("driver"));
  return handle = library;
}

// Returns null without an error if the translation lacks the function.
void* find_translated(const driver::loader_api& loader, const char* name,
                      const char* per_thread) noexcept {
  void* const handle = translation(loader);
  char variant[256];
  std::snprintf(variant, sizeof variant, "%s%s", name, per_thread ? per_thread : "");
  void* const address = handle ? dlsym(handle, variant) : nullptr;
  return address || !handle ? address : dlsym(handle, name);
}

}  // namespace
}  // namespace halfwarp::runtime

using namespace halfwarp::runtime;

void* runtime_find(const halfwarp::driver::loader_api* loader, const char* name,
                   const char* per_thread) {
  const entry* const entry_of_name = find_entry(name);
  if (entry_of_name && entry_of_name->is_own) return entry_of_name->function;
  const char* const backend = loader->backend();
  if (backend && std::strcmp(backend, "emulator") == 0) {
    return find_translated(*loader, name, per_thread);
  }
  if (!entry_of_name) return nullptr;
  return per_thread && entry_of_name->per_thread ? entry_of_name->per_thread
                                                 : entry_of_name->function;
}
