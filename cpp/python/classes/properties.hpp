// SPDX-License-Identifier: Apache-2.0
// Deletion of properties of extension classes.
#pragma once

#include <Python.h>

namespace halfwarp::python {

// Makes `del object.property` raise AttributeError, as for a property written in Python; Cython's
// setters raise NotImplementedError. Skips classes that were already changed.
int refuse_deletions(PyObject* type) noexcept;

}  // namespace halfwarp::python
