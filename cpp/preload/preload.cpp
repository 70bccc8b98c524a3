// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: passes functions of NVRTC and nvJitLink to the emulated driver, which returns
// replacements. A program finds them by dlsym or is linked with them; this library intercepts both.
// All other look-ups are passed on unchanged. A runtime library or NCCL that a program opens by its
// path is replaced by the emulated one, which the dynamic linker finds by its name.
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "emulator/control/load_emulator.hpp"

namespace {

using lookup = void*(void*, const char*) noexcept;
using opener = void*(const char*, int) noexcept;
using replacement = void*(const char*, void*);

constexpr const char* replaced_names[] = {"libcudart.so.12", "libcudart.so.13", "libnccl.so.2"};

lookup* real_lookup;
opener* real_opener;
replacement* replacement_source;
[[gnu::tls_model("initial-exec")]] __thread bool is_resolving;  // the emulator calls dlsym itself

// Returns the system's dlsym by its oldest version, which newer C libraries still have.
lookup* dlsym_of_system() noexcept {
  lookup* result = __atomic_load_n(&real_lookup, __ATOMIC_RELAXED);
  if (result) return result;
#ifdef __x86_64__
  constexpr const char* oldest = "GLIBC_2.2.5";
#else
  constexpr const char* oldest = "GLIBC_2.17";
#endif
  result = reinterpret_cast<lookup*>(dlvsym(RTLD_NEXT, "dlsym", oldest));
  __atomic_store_n(&real_lookup, result, __ATOMIC_RELAXED);
  return result;
}

opener* dlopen_of_system() noexcept {
  opener* result = __atomic_load_n(&real_opener, __ATOMIC_RELAXED);
  if (result) return result;
  result = reinterpret_cast<opener*>(dlsym_of_system()(RTLD_NEXT, "dlopen"));
  __atomic_store_n(&real_opener, result, __ATOMIC_RELAXED);
  return result;
}

bool starts_with(const char* text, const char* prefix) noexcept {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

// Returns the name of the emulated library for the path of a runtime library or NCCL, whose file
// may have a longer version; else the path.
const char* without_path_of_replaced(const char* file) noexcept {
  const char* const slash = file ? strrchr(file, '/') : nullptr;
  for (const char* const name : replaced_names) {
    if (!slash || !starts_with(slash + 1, name)) continue;
    const char next = slash[1 + strlen(name)];
    if (next == '.' || next == 0) return name;
  }
  return file;
}

bool is_intercepted(const char* name) noexcept {
  return starts_with(name, "nvrtc") || starts_with(name, "nvJitLink") ||
         starts_with(name, "__nvJitLink");
}

// Returns the emulator's replacement function; null if another driver or none is in use.
replacement* find_replacement() noexcept {
  if (auto* const cached = __atomic_load_n(&replacement_source, __ATOMIC_ACQUIRE)) return cached;
  static bool is_missing = false;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver && !__atomic_load_n(&is_missing, __ATOMIC_RELAXED)) {
    driver = halfwarp::load_emulator(reinterpret_cast<const void*>(&find_replacement),
                                     "the preloaded library");
    __atomic_store_n(&is_missing, !driver, __ATOMIC_RELAXED);  // reported once
  }
  if (!driver) return nullptr;
  auto* const source_function =
      reinterpret_cast<replacement*>(dlsym_of_system()(driver, "halfwarp_emulator_in_place_of"));
  __atomic_store_n(&replacement_source, source_function, __ATOMIC_RELEASE);
  return source_function;
}

void* intercept(const char* name, void* real) noexcept {
  if (!real || is_resolving) return real;
  is_resolving = true;
  auto* const replace = find_replacement();
  void* const result = replace ? replace(name, real) : real;
  dlerror();  // discards errors of the look-ups above
  is_resolving = false;
  return result;
}

bool is_own(const void* address) noexcept {
  Dl_info info, self;
  return dladdr(address, &info) && dladdr(reinterpret_cast<const void*>(&is_own), &self) &&
         info.dli_fbase == self.dli_fbase;
}

void* find_in(const char* path, const char* name) noexcept {
  void* const object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!object) return nullptr;
  void* const result = dlsym_of_system()(object, name);
  dlclose(object);
  return result && !is_own(result) ? result : nullptr;
}

struct search {
  const char* name;
  void* match;
};

int search_object(dl_phdr_info* object, size_t, void* data) noexcept {
  auto& query = *static_cast<search*>(data);
  const char* const slash = strrchr(object->dlpi_name, '/');
  const char* const file = slash ? slash + 1 : object->dlpi_name;
  const char* const library = starts_with(query.name, "nvrtc") ? "libnvrtc.so" : "libnvJitLink.so";
  if (starts_with(file, library)) query.match = find_in(object->dlpi_name, query.name);
  return query.match != nullptr;
}

// Resolves `name` as the dynamic linker would for `caller`: the global scope, then the caller's
// libraries. Then tries any loaded copy, since the address may have been passed to another object.
void* find_linked(const char* name, const void* caller) noexcept {
  if (void* const match = dlsym_of_system()(RTLD_NEXT, name)) return match;
  Dl_info info;
  link_map* object = nullptr;
  const bool is_known =
      dladdr1(caller, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0;
  void* const local = is_known && *object->l_name ? find_in(object->l_name, name) : nullptr;
  if (local) return local;
  search any{name, nullptr};
  dl_iterate_phdr(&search_object, &any);
  return any.match;
}

[[gnu::noinline]] void* find_intercepted(void* handle, const char* name,
                                         const void* caller) noexcept {
  void* match = dlsym_of_system()(handle, name);
  if (match && is_own(match)) {
    match = find_linked(name, caller);
    if (!match) return dlsym_of_system()(RTLD_NEXT, name);  // sets the error of dlerror()
  }
  return intercept(name, match);
}

// The results if the library is not loaded; no program can have linked with it then.
int internal_error_of_nvrtc() { return 11; }
int internal_error_of_nvjitlink() { return 6; }

}  // namespace

extern "C" {

// Returns the target of a call of an entry function. The symbol of the entry is the name.
[[gnu::visibility("hidden"), gnu::used]] void* preload_target(const void* entry,
                                                              const void* caller) noexcept {
  Dl_info info;
  const char* const name = dladdr(entry, &info) && info.dli_sname ? info.dli_sname : "";
  if (void* const target = intercept(name, find_linked(name, caller))) return target;
  return reinterpret_cast<void*>(starts_with(name, "nvrtc") ? &internal_error_of_nvrtc
                                                            : &internal_error_of_nvjitlink);
}

// Passes other names on with a jump, so that the system sees the true caller, from which RTLD_NEXT
// searches.
[[gnu::visibility("default"), gnu::optimize("O2")]] void* dlsym(void* handle,
                                                                const char* name) noexcept {
  if (!is_intercepted(name)) return dlsym_of_system()(handle, name);
  return find_intercepted(handle, name, __builtin_return_address(0));
}

// Jumps as well, since the system searches the paths of the true caller.
[[gnu::visibility("default"), gnu::optimize("O2")]] void* dlopen(const char* file,
                                                                 int mode) noexcept {
  return dlopen_of_system()(without_path_of_replaced(file), mode);
}

}  // extern "C"
