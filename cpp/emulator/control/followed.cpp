// SPDX-License-Identifier: Apache-2.0
// Which functions of an open library belong together, and the lock over what is followed.
#include "emulator/control/followed.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "emulator/image/registry.hpp"

namespace halfwarp::emulator::control {
namespace {

const void* start_of_object(const void* function) noexcept {
  Dl_info of{};
  return dladdr(function, &of) ? of.dli_fbase : nullptr;
}

std::mutex* make_lock() {
  static std::mutex lock;
  const auto before = [] {
    lock.lock();
    image::known_cubins().hold();
  };
  const auto after = [] {
    image::known_cubins().let_go();
    lock.unlock();
  };
  pthread_atfork(before, after, after);
  return &lock;
}

}  // namespace

exported_name parsed(std::string_view exported) noexcept {
  constexpr std::string_view mark = "__";
  if (!exported.starts_with(mark)) return {"", exported, ""};
  const std::string_view rest = exported.substr(mark.size());
  const std::size_t end = rest.find('_');
  if (end == std::string_view::npos) return {"", exported, ""};
  return {mark, rest.substr(0, end), rest.substr(end)};
}

bool is_ours(const void* function) noexcept {
  return start_of_object(function) == start_of_object(reinterpret_cast<const void*>(&is_ours));
}

// A library that is followed stays open: its functions are called later, and one that is opened
// anew may lie elsewhere each time.
void* followed_library::in_place_of(std::string_view exported, void* given) {
  const exported_name as = parsed(exported);
  const auto function = std::ranges::find(functions_, as.name, &followed_function::name);
  void* found[most_functions] = {};
  if (function == functions_.end() || function->ours == nullptr) return given;
  void* const library = find_all(given, as, found);
  if (library == nullptr) return given;
  bool is_new = false;
  const std::size_t release = place_of(found, is_new);
  if (!is_new) dlclose(library);
  return release < most_releases ? function->ours(release) : given;
}

// As the object that has one of them exports them for the same release. That object, opened once
// more; null where one of them is not there.
void* followed_library::find_all(const void* beside, const exported_name& as, void** found) const {
  Dl_info of{};
  void* const library =
      dladdr(beside, &of) ? dlopen(of.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (library == nullptr) return nullptr;
  bool is_complete = true;
  for (const followed_function& each : functions_) {
    const std::string exported = std::string{as.before} + each.name + std::string{as.behind};
    *found = dlsym(library, exported.c_str());
    is_complete &= *found != nullptr && !is_ours(*found);
    ++found;
  }
  if (is_complete) return library;
  dlclose(library);
  return nullptr;
}

std::size_t followed_library::place_of(void* const* found, bool& is_new) {
  const std::lock_guard guard{following()};
  std::size_t which = 0;
  while (which < used_ && std::memcmp(releases_[which], found, sizeof(releases_[which])) != 0) {
    ++which;
  }
  is_new = which == used_ && which < most_releases;
  if (is_new) std::memcpy(releases_[used_++], found, sizeof(releases_[which]));
  return which;
}

std::mutex& following() {
  static std::mutex* const lock = make_lock();
  return *lock;
}

}  // namespace halfwarp::emulator::control
