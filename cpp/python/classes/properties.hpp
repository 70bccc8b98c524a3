// SPDX-License-Identifier: Apache-2.0
// Properties of extension classes that can be set, and what deleting one answers.
#pragma once

#include <Python.h>

namespace halfwarp::python {

// Lets `del object.property` raise AttributeError, as for a property written in Python; Cython's
// own setters raise NotImplementedError. Does nothing for a class that has it already.
int refuse_deletions(PyObject* type) noexcept;

}  // namespace halfwarp::python
