// SPDX-License-Identifier: Apache-2.0
// Functions of compilers and linkers whose calls are intercepted.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

namespace halfwarp::emulator::control {

// The parts of an exported name: __nvJitLinkCreate_13_0 is nvJitLinkCreate of one release.
struct exported_name {
  std::string_view prefix, name, suffix;
};

exported_name parse_exported_name(std::string_view exported) noexcept;

// Returns whether this library defines the function, which then needs no replacement.
bool is_ours(const void* function) noexcept;

// Guards the records of programs and links. A fork waits for it, so the child process can use it.
std::mutex& interception_lock();

// Returns the replacement of a function for one of the open releases.
using replacement_for = void*(std::size_t release) noexcept;

struct intercepted_function {
  const char* name;
  replacement_for* replacement;  // null for a function that is only called from here
};

// The real functions of each open release; several may be open at once.
class intercepted_library {
 public:
  static constexpr std::size_t most_releases = 4, most_functions = 7;

  explicit constexpr intercepted_library(std::span<const intercepted_function> functions)
      : functions_{functions} {}

  // Returns a struct of pointers to functions, in the order of the list.
  template <class Functions>
  const Functions& release(std::size_t index) const noexcept {
    return reinterpret_cast<const Functions&>(releases_[index]);
  }

  // Returns the replacement of `real` for its release, or `real` if the release lacks a function.
  void* replacement_of(std::string_view exported, void* real);

 private:
  void* resolve_all(const void* real, const exported_name& name, void** addresses) const;
  std::size_t index_of(void* const* addresses, bool& is_new);

  std::span<const intercepted_function> functions_;
  alignas(void*) std::byte releases_[most_releases][most_functions * sizeof(void*)] = {};
  std::size_t used_ = 0;
};

// Instantiates a body once for each release, with the parameters of the C function.
template <auto& Library, auto Body>
struct for_releases;

template <auto& Library, class Functions, class... Parameters,
          int (*Body)(const Functions&, Parameters...) noexcept>
struct for_releases<Library, Body> {
  template <std::size_t Release>
  static int call(Parameters... parameters) noexcept {
    return Body(Library.template release<Functions>(Release), parameters...);
  }

  static void* get(std::size_t release) noexcept {
    static constexpr auto all = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::array{&call<I>...};
    }(std::make_index_sequence<intercepted_library::most_releases>{});
    return reinterpret_cast<void*>(all[release]);
  }
};

}  // namespace halfwarp::emulator::control
