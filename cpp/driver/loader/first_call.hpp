// SPDX-License-Identifier: Apache-2.0
// The initial function of a slot: opens the library, fills the table and makes the call.
#pragma once

#include <type_traits>

#include "driver/loader/resolve.hpp"
#include "driver/loader/symbol.hpp"

namespace halfwarp::driver {

// `Nothing` defines the result of a call if there is no function.
template <library_id library, unsigned slot, class Function, class Nothing>
struct first_call;

template <library_id library, unsigned slot, class Nothing, class Result, class... Params>
struct first_call<library, slot, Result (*)(Params...), Nothing> {
  static Result run(Params... arguments) noexcept {
    void* const function = resolve(library, slot);
    if (!function) return Nothing::template value<Result>();
    return reinterpret_cast<Result (*)(Params...)>(function)(arguments...);
  }
};

}  // namespace halfwarp::driver
