// SPDX-License-Identifier: Apache-2.0
// Messages of argument errors: converters say what was expected, their callers add where.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace halfwarp::bindings {

// TypeError "expected <what>, got <type>"; false.
bool raise_expected(const char* what, PyObject* got);

// Puts text (as PyUnicode_FromFormat takes it) before the message of the error that is set; false.
// An error that is not of the kinds that converters raise comes from code of the user, such as an
// `__index__`, and stays as it is.
bool add_context(const char* format, ...);

}  // namespace halfwarp::bindings
