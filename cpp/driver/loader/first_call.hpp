// SPDX-License-Identifier: Apache-2.0
// What a slot holds until its library is open: open it, fill the table, then make the call.
#pragma once

#include "driver/loader/resolve.hpp"
#include "driver/loader/symbol.hpp"

namespace halfwarp::driver {

// What a caller gets when there is nothing to call; a Python error is set then. These are the
// values at which the exception clauses of cydriver and cynvrtc look for one.
template <class Result>
constexpr Result nothing_to_call() noexcept;
template <>
constexpr CUresult nothing_to_call() noexcept {
  return CUDA_ERROR_NOT_FOUND;
}
template <>
constexpr nvrtcResult nothing_to_call() noexcept {
  return NVRTC_ERROR_INVALID_INPUT;
}
template <>
constexpr const char* nothing_to_call() noexcept {
  return nullptr;
}

template <library_id library, unsigned slot, class Function>
struct first_call;

template <library_id library, unsigned slot, class Result, class... Params>
struct first_call<library, slot, Result (*)(Params...)> {
  static Result run(Params... arguments) noexcept {
    void* const function = resolve(library, slot);
    if (!function) return nothing_to_call<Result>();
    return reinterpret_cast<Result (*)(Params...)>(function)(arguments...);
  }
};

}  // namespace halfwarp::driver
