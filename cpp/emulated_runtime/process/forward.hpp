// SPDX-License-Identifier: Apache-2.0
// Forwards the arguments of a runtime call to the equivalent driver function.
#pragma once

#include <bit>
#include <type_traits>

#include "emulated_runtime/process/connection.hpp"
#include "emulated_runtime/process/equivalents.hpp"
#include "emulated_runtime/process/errors.hpp"

namespace halfwarp::emulated_runtime {

template <class T>
concept is_complete = requires { sizeof(T); };

// Returns whether memory that holds `From` can be accessed as `To`.
template <class From, class To>
constexpr bool can_alias() {
  using from = std::remove_cv_t<From>;
  using to = std::remove_cv_t<To>;
  if constexpr (std::is_same_v<from, to>) {
    return true;
  } else if constexpr (are_equivalent<from, to>) {
    if constexpr (is_complete<from> && is_complete<to>) static_assert(sizeof(from) == sizeof(to));
    return true;
  } else if constexpr (std::is_pointer_v<from> && std::is_pointer_v<to>) {
    return can_alias<std::remove_pointer_t<from>, std::remove_pointer_t<to>>();
  } else if constexpr (std::is_same_v<from, void*>) {
    return std::is_same_v<to, CUdeviceptr>;
  } else if constexpr (std::is_integral_v<from> && std::is_integral_v<to>) {
    return sizeof(from) == sizeof(to) && std::is_signed_v<from> == std::is_signed_v<to>;
  } else {
    return false;
  }
}

// Converts an argument to the parameter type. A pair of types without a rule does not compile.
template <class To, class From>
To as_driver(From value) noexcept {
  if constexpr (std::is_convertible_v<From, To> && !std::is_enum_v<From>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, CUdeviceptr>) {
    static_assert(std::is_void_v<std::remove_pointer_t<From>>);
    return reinterpret_cast<CUdeviceptr>(value);
  } else if constexpr (std::is_pointer_v<From>) {
    static_assert(can_alias<From, To>());
    return reinterpret_cast<To>(value);
  } else {
    static_assert(can_alias<From, To>());
    return std::bit_cast<To>(value);
  }
}

template <class... Params, class... Arguments>
cudaError_t forward(CUresult (*function)(Params...), Arguments... arguments) noexcept {
  static_assert(sizeof...(Params) == sizeof...(Arguments));
  return from_driver(function(as_driver<Params>(arguments)...));
}

}  // namespace halfwarp::emulated_runtime
