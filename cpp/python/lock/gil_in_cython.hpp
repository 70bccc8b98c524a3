// SPDX-License-Identifier: Apache-2.0
// For Cython sources only: makes `with nogil`, `with gil` and `except +` acquire the GIL with the
// functions of gil.hpp. Otherwise acquiring it in an exception handler after finalization would
// crash the process.
#pragma once

#include "python/lock/gil.hpp"

#define PyGILState_Ensure ::halfwarp::python::acquire_gil
#define PyEval_RestoreThread ::halfwarp::python::reacquire_gil
