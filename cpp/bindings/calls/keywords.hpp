// SPDX-License-Identifier: Apache-2.0
// Python's calling rules: keywords, missing and superfluous arguments, and the name of a bad one.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Puts the arguments of a call in the order of the record; nullptr where an optional one is
// missing.
bool bind_arguments(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords, PyObject** bound);

}  // namespace halfwarp::bindings
