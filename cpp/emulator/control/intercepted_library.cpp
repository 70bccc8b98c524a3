// SPDX-License-Identifier: Apache-2.0
// Groups the functions of an open library by release, under one lock.
#include "emulator/control/intercepted_library.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "emulator/image/registry.hpp"

namespace halfwarp::emulator::control {
namespace {

const void* start_of_object(const void* function) noexcept {
  Dl_info info{};
  return dladdr(function, &info) ? info.dli_fbase : nullptr;
}

std::mutex* create_lock() {
  static std::mutex lock;
  const auto before = [] {
    lock.lock();
    image::compiled_cubins().lock();
    image::ptx_substitutes().lock();
  };
  const auto after = [] {
    image::ptx_substitutes().unlock();
    image::compiled_cubins().unlock();
    lock.unlock();
  };
  pthread_atfork(before, after, after);
  return &lock;
}

}  // namespace

exported_name parse_exported_name(std::string_view exported) noexcept {
  constexpr std::string_view mark = "__";
  if (!exported.starts_with(mark)) return {"", exported, ""};
  const std::string_view remainder = exported.substr(mark.size());
  const std::size_t end = remainder.find('_');
  if (end == std::string_view::npos) return {"", exported, ""};
  return {mark, remainder.substr(0, end), remainder.substr(end)};
}

bool is_ours(const void* function) noexcept {
  return start_of_object(function) == start_of_object(reinterpret_cast<const void*>(&is_ours));
}

// An intercepted library stays open: its functions are called later, and its address would differ
// after another dlopen.
void* intercepted_library::replacement_of(std::string_view exported, void* real) {
  const exported_name name = parse_exported_name(exported);
  const auto entry = std::ranges::find(functions_, name.name, &intercepted_function::name);
  void* addresses[most_functions] = {};
  if (entry == functions_.end() || entry->replacement == nullptr) return real;
  void* const library = resolve_all(real, name, addresses);
  if (library == nullptr) return real;
  bool is_new = false;
  const std::size_t release = index_of(addresses, is_new);
  if (!is_new) dlclose(library);
  return release < most_releases ? entry->replacement(release) : real;
}

// Resolves all functions for the release of `name` in the object that defines `real`. Returns that
// object with one more reference, or null if a function is missing.
void* intercepted_library::resolve_all(const void* real, const exported_name& name,
                                       void** addresses) const {
  Dl_info info{};
  void* const library =
      dladdr(real, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return nullptr;
  bool is_complete = true;
  for (const intercepted_function& each : functions_) {
    const std::string exported = std::string{name.prefix} + each.name + std::string{name.suffix};
    *addresses = dlsym(library, exported.c_str());
    is_complete &= *addresses != nullptr && !is_ours(*addresses);
    ++addresses;
  }
  if (is_complete) return library;
  dlclose(library);
  return nullptr;
}

std::size_t intercepted_library::index_of(void* const* addresses, bool& is_new) {
  const std::lock_guard guard{interception_lock()};
  std::size_t index = 0;
  while (index < used_ && std::memcmp(releases_[index], addresses, sizeof(releases_[index])) != 0) {
    ++index;
  }
  is_new = index == used_ && index < most_releases;
  if (is_new) std::memcpy(releases_[used_++], addresses, sizeof(releases_[index]));
  return index;
}

std::mutex& interception_lock() {
  static std::mutex* const lock = create_lock();
  return *lock;
}

}  // namespace halfwarp::emulator::control
