// SPDX-License-Identifier: Apache-2.0
// Hands out the runtime's functions: the static library's, or on the emulator the translation's.
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
  const auto found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const entry& candidate, std::string_view wanted) { return candidate.name < wanted; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

void* fail(const char* detail) noexcept {
  PyErr_Format(PyExc_RuntimeError,
               "the runtime API on the emulator cannot be opened: %s; it is part of halfwarp and "
               "lies beside cuda/bindings: reinstall the package",
               detail ? detail : "unknown reason");
  return nullptr;
}

// The translation lies beside this extension, whatever the search paths say.
void* open_translation() noexcept {
  Dl_info self;
  char path[4096];
  if (!dladdr(reinterpret_cast<const void*>(&open_translation), &self)) return nullptr;
  const char* const slash = std::strrchr(self.dli_fname, '/');
  const int folder = slash ? static_cast<int>(slash - self.dli_fname) + 1 : 0;
  std::snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, translation_file);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Opened once, and told then which driver to stand on. Called with the GIL.
void* translation(const driver::loader_api& loader) noexcept {
  static void* handle = nullptr;
  if (handle) return handle;
  void* const opened = open_translation();
  if (!opened) return fail(dlerror());
  const auto connect =
      reinterpret_cast<void (*)(const void*)>(dlsym(opened, "halfwarp_cudart_connect"));
  if (!connect) return fail("it has no halfwarp_cudart_connect");
  connect(loader.table("driver"));
  return handle = opened;
}

// Null and no error when the translation has no such function.
void* find_translated(const driver::loader_api& loader, const char* name,
                      const char* per_thread) noexcept {
  void* const handle = translation(loader);
  char variant[256];
  std::snprintf(variant, sizeof variant, "%s%s", name, per_thread ? per_thread : "");
  void* const found = handle ? dlsym(handle, variant) : nullptr;
  return found || !handle ? found : dlsym(handle, name);
}

}  // namespace
}  // namespace halfwarp::runtime

using namespace halfwarp::runtime;

void* runtime_find(const halfwarp::driver::loader_api* loader, const char* name,
                   const char* per_thread) {
  const entry* const found = find_entry(name);
  if (found && found->is_own) return found->function;
  const char* const backend = loader->backend();
  if (backend && std::strcmp(backend, "emulator") == 0) {
    return find_translated(*loader, name, per_thread);
  }
  if (!found) return nullptr;
  return per_thread && found->per_thread ? found->per_thread : found->function;
}
