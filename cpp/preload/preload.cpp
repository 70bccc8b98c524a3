// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: hands functions of NVRTC and nvJitLink to the emulated driver, which puts its own
// in their place. A program finds them by dlsym, or is linked with them; both ways lead through
// here. All other look-ups are passed on as they are.
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "emulator/control/load_emulator.hpp"

namespace {

using lookup = void*(void*, const char*) noexcept;
using replacement = void*(const char*, void*);

lookup* real_lookup;
replacement* in_place_of;
[[gnu::tls_model(
    "initial-exec")]] __thread bool is_asking;  // the emulated driver looks up functions itself

// By its oldest version, which newer C libraries have as well.
lookup* dlsym_of_system() noexcept {
  lookup* found = __atomic_load_n(&real_lookup, __ATOMIC_RELAXED);
  if (found) return found;
#ifdef __x86_64__
  constexpr const char* oldest = "GLIBC_2.2.5";
#else
  constexpr const char* oldest = "GLIBC_2.17";
#endif
  found = reinterpret_cast<lookup*>(dlvsym(RTLD_NEXT, "dlsym", oldest));
  __atomic_store_n(&real_lookup, found, __ATOMIC_RELAXED);
  return found;
}

bool begins(const char* text, const char* with) noexcept {
  return strncmp(text, with, strlen(with)) == 0;
}

bool is_followed(const char* name) noexcept {
  return begins(name, "nvrtc") || begins(name, "nvJitLink") || begins(name, "__nvJitLink");
}

// Null where another driver is in use, or there is none.
replacement* find_replacement() noexcept {
  if (auto* const known = __atomic_load_n(&in_place_of, __ATOMIC_ACQUIRE)) return known;
  static bool is_missing = false;
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver && !__atomic_load_n(&is_missing, __ATOMIC_RELAXED)) {
    driver = halfwarp::load_emulator(reinterpret_cast<const void*>(&find_replacement),
                                     "what was preloaded");
    __atomic_store_n(&is_missing, !driver, __ATOMIC_RELAXED);  // which was said once
  }
  if (!driver) return nullptr;
  auto* const found =
      reinterpret_cast<replacement*>(dlsym_of_system()(driver, "halfwarp_emulator_in_place_of"));
  __atomic_store_n(&in_place_of, found, __ATOMIC_RELEASE);
  return found;
}

void* followed(const char* name, void* real) noexcept {
  if (!real || is_asking) return real;
  is_asking = true;
  auto* const replace = find_replacement();
  void* const result = replace ? replace(name, real) : real;
  dlerror();  // what failed on the way is no business of the program
  is_asking = false;
  return result;
}

bool is_own(const void* address) noexcept {
  Dl_info of, self;
  return dladdr(address, &of) && dladdr(reinterpret_cast<const void*>(&is_own), &self) &&
         of.dli_fbase == self.dli_fbase;
}

void* find_in(const char* path, const char* name) noexcept {
  void* const object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!object) return nullptr;
  void* const found = dlsym_of_system()(object, name);
  dlclose(object);
  return found && !is_own(found) ? found : nullptr;
}

struct search {
  const char* name;
  void* found;
};

int look_into(dl_phdr_info* object, size_t, void* wanted) noexcept {
  auto& of = *static_cast<search*>(wanted);
  const char* const slash = strrchr(object->dlpi_name, '/');
  const char* const file = slash ? slash + 1 : object->dlpi_name;
  const char* const library = begins(of.name, "nvrtc") ? "libnvrtc.so" : "libnvJitLink.so";
  if (begins(file, library)) of.found = find_in(object->dlpi_name, of.name);
  return of.found != nullptr;
}

// What a program that is linked with a function would have come to: that of the process, else that
// of the libraries of the object that calls. Where it passed the address on to another object, the
// one that is loaded.
void* find_linked(const char* name, const void* caller) noexcept {
  if (void* const found = dlsym_of_system()(RTLD_NEXT, name)) return found;
  Dl_info of;
  link_map* object = nullptr;
  const bool is_known =
      dladdr1(caller, &of, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0;
  void* const own = is_known && *object->l_name ? find_in(object->l_name, name) : nullptr;
  if (own) return own;
  search any{name, nullptr};
  dl_iterate_phdr(&look_into, &any);
  return any.found;
}

[[gnu::noinline]] void* find_followed(void* handle, const char* name, const void* caller) noexcept {
  void* found = dlsym_of_system()(handle, name);
  if (found && is_own(found)) {
    found = find_linked(name, caller);
    if (!found) return dlsym_of_system()(RTLD_NEXT, name);  // which leaves the error to dlerror()
  }
  return followed(name, found);
}

// Where there is no library; nobody can have linked with it.
int internal_error_of_nvrtc() { return 11; }
int internal_error_of_nvjitlink() { return 6; }

}  // namespace

extern "C" {

// Where a call of one of the functions below goes on. The name is that of the entry.
[[gnu::visibility("hidden"), gnu::used]] void* preload_target(const void* entry,
                                                              const void* caller) noexcept {
  Dl_info of;
  const char* const name = dladdr(entry, &of) && of.dli_sname ? of.dli_sname : "";
  if (void* const target = followed(name, find_linked(name, caller))) return target;
  return reinterpret_cast<void*>(begins(name, "nvrtc") ? &internal_error_of_nvrtc
                                                       : &internal_error_of_nvjitlink);
}

// What is no business of ours ends in a jump, so that the system sees who calls: RTLD_NEXT counts
// from there.
[[gnu::visibility("default"), gnu::optimize("O2")]] void* dlsym(void* handle,
                                                                const char* name) noexcept {
  if (!is_followed(name)) return dlsym_of_system()(handle, name);
  return find_followed(handle, name, __builtin_return_address(0));
}

}  // extern "C"
