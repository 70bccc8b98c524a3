// SPDX-License-Identifier: Apache-2.0
// Functions of compilers and linkers that go through functions of ours where a program calls them.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

namespace halfwarp::emulator::control {

// A name as a library exports it: __nvJitLinkCreate_13_0 is nvJitLinkCreate of one release.
struct exported_name {
  std::string_view before, name, behind;
};

exported_name parsed(std::string_view exported) noexcept;

// Whether a function is one of this library, so that nothing has to take its place.
bool is_ours(const void* function) noexcept;

// Guards what is known of programs and links; a fork waits for it, so that the child can go on.
std::mutex& following();

// Takes the place of a function in one of the releases that are open.
using taker = void*(std::size_t release) noexcept;

struct followed_function {
  const char* name;
  taker* ours;  // null for one that is only called from here
};

// The real functions of each release that is open: several may be at once.
class followed_library {
 public:
  static constexpr std::size_t most_releases = 4, most_functions = 7;

  explicit constexpr followed_library(std::span<const followed_function> functions)
      : functions_{functions} {}

  // A struct of pointers to functions, in the order of the list.
  template <class Functions>
  const Functions& release(std::size_t which) const noexcept {
    return reinterpret_cast<const Functions&>(releases_[which]);
  }

  // `given`, or what takes its place in its release. All functions must be there.
  void* in_place_of(std::string_view exported, void* given);

 private:
  void* find_all(const void* beside, const exported_name& as, void** found) const;
  std::size_t place_of(void* const* found, bool& is_new);

  std::span<const followed_function> functions_;
  alignas(void*) std::byte releases_[most_releases][most_functions * sizeof(void*)] = {};
  std::size_t used_ = 0;
};

// Of a body, a function for each release, with the C function's own parameters.
template <auto& Library, auto Body>
struct for_releases;

template <auto& Library, class Functions, class... Parameters,
          int (*Body)(const Functions&, Parameters...) noexcept>
struct for_releases<Library, Body> {
  template <std::size_t Release>
  static int call(Parameters... parameters) noexcept {
    return Body(Library.template release<Functions>(Release), parameters...);
  }

  static void* of(std::size_t release) noexcept {
    static constexpr auto all = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array{&call<I>...};
    }(std::make_index_sequence<followed_library::most_releases>{});
    return reinterpret_cast<void*>(all[release]);
  }
};

}  // namespace halfwarp::emulator::control
