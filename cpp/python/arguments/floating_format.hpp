// SPDX-License-Identifier: Apache-2.0
// Encodes a double in the floating-point formats of kernel parameters.
#pragma once

#include <cstddef>

#include "core/module/kernel_signature.hpp"

namespace halfwarp::python {

// Writes a number, rounded once to the nearest value, ties to even. Returns its size in bytes, or 0
// if the format has no such value: it overflows, or has no infinity, NaN or sign.
[[nodiscard]] std::size_t encode_floating(double number, core::parameter_kind kind,
                                          char* bytes) noexcept;

// Returns the value of an encoded number.
[[nodiscard]] double decode_floating(const char* bytes, core::parameter_kind kind) noexcept;

}  // namespace halfwarp::python
