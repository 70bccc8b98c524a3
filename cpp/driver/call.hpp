// SPDX-License-Identifier: Apache-2.0
// The driver table of this extension, and the conversion of a driver's status to an exception.
#pragma once

#include <type_traits>

#include "driver/driver_table.hpp"
#include "driver/loader_api.hpp"

namespace halfwarp::driver {

// Set when the extension is imported, from the capsule HALFWARP_LOADER_CAPSULE.
inline const loader_api* loader = nullptr;
inline const driver_table* table = nullptr;

inline void attach(const loader_api* api) noexcept {
  loader = api;
  table = reinterpret_cast<const driver_table*>(api->table("driver"));
}

// The failure of a driver function. A handler that converts it must retain a Python error that is
// already set: without a driver, the loader has raised one.
struct driver_error {
  CUresult code;
  const char* function;  // public name, as in "cuMemAllocAsync"; never null
};

[[noreturn]] __attribute__((cold, noinline)) inline void fail(CUresult code, const void* function) {
  throw driver_error{code, loader->name_of(HALFWARP_DRIVER, function)};
}

// driver::call(driver::table->cuEventSynchronize, event) throws unless the driver returns success.
// The parameter types are the function's own, so arguments convert as in a direct call.
template <class... Params>
inline void call(CUresult (*function)(Params...), std::type_identity_t<Params>... arguments) {
  if (const CUresult code = function(arguments...); code != CUDA_SUCCESS) [[unlikely]] {
    fail(code, reinterpret_cast<const void*>(function));
  }
}

// Like `call` for destructors and clean-up: returns the status, which the caller may ignore.
template <class... Params>
inline CUresult try_call(CUresult (*function)(Params...),
                         std::type_identity_t<Params>... arguments) noexcept {
  return function(arguments...);
}

}  // namespace halfwarp::driver
