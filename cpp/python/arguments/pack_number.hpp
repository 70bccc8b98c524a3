// SPDX-License-Identifier: Apache-2.0
// Packs Python numbers in the width and kind of a parameter.
#pragma once

#include "python/arguments/conversion.hpp"
#include "python/arguments/target.hpp"

namespace halfwarp::python {

// Return 0, or -1 with an exception set and nothing stored.
int pack_integer(PyObject* value, const target& to) noexcept;
int pack_boolean(PyObject* value, const target& to) noexcept;
int pack_real(PyObject* value, const target& to) noexcept;
int pack_complex(PyObject* value, const target& to) noexcept;

// Packs an integer of fixed width unchanged, or narrowed if the parameter is a narrower integer
// that can hold it. `value` is for error messages.
int pack_fixed_integer(PyObject* value, const void* bytes, std::size_t size, integer_kind kind,
                       const target& to) noexcept;

}  // namespace halfwarp::python
