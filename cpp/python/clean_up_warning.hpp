// SPDX-License-Identifier: Apache-2.0
// Warnings of driver objects that could not be destroyed.
#pragma once

#include <Python.h>

namespace halfwarp::python {

// Lets such failures become warnings of this class, which must live as long as the process.
void warn_of_clean_up(PyObject* warning_class) noexcept;

}  // namespace halfwarp::python
