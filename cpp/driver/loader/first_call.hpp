// SPDX-License-Identifier: Apache-2.0
// What a slot holds until its library is open: open it, fill the table, then make the call.
#pragma once

#include <type_traits>

#include "driver/loader/resolve.hpp"
#include "driver/loader/symbol.hpp"

namespace halfwarp::driver {

// `Nothing` says what a caller gets when there is nothing to call.
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
