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

// Parts of an exported symbol: release 13.0 exports nvJitLinkCreate as __nvJitLinkCreate_13_0.
struct exported_name {
  std::string_view prefix, name, suffix;
};

exported_name parse_exported_name(std::string_view exported) noexcept;

// Returns whether the emulator itself defines the function. Such a function is not intercepted.
bool is_ours(const void* function) noexcept;

// Guards the records of programs and links. A fork acquires the mutex first, so a child process
// starts with consistent records and an unlocked mutex.
std::mutex& interception_lock();

// Returns the replacement of one function for the open release with index `release`.
using replacement_for = void*(std::size_t release) noexcept;

struct intercepted_function {
  const char* name;
  replacement_for* replacement;  // null if the function is called but not intercepted
};

// Holds the original functions of each open release. A process may open several releases.
class intercepted_library {
 public:
  static constexpr std::size_t most_releases = 4, most_functions = 9;

  explicit constexpr intercepted_library(std::span<const intercepted_function> functions)
      : functions_{functions} {}

  // Returns the original functions of a release. `Functions` is a struct of function pointers in
  // the order of `functions_`.
  template <class Functions>
  const Functions& release(std::size_t index) const noexcept {
    return reinterpret_cast<const Functions&>(releases_[index]);
  }

  // Returns the replacement of the exported function `real`. Returns `real` if the function is not
  // intercepted, if its release lacks a function, or if too many releases are open.
  void* replacement_of(std::string_view exported, void* real);

 private:
  void* resolve_all(const void* real, const exported_name& name, void** addresses) const;
  std::size_t index_of(void* const* addresses, bool& is_new);

  std::span<const intercepted_function> functions_;
  alignas(void*) std::byte releases_[most_releases][most_functions * sizeof(void*)] = {};
  std::size_t used_ = 0;
};

// Instantiates `Body` once for each release. Each instance has the signature of the C function.
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
