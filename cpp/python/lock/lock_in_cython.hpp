// SPDX-License-Identifier: Apache-2.0
// For Cython's sources alone: what they make of `with nogil`, `with gil` and `except +` takes the
// lock as our C++ does. Taken in the handler of an exception, an interpreter that has ended would
// otherwise end the process.
#pragma once

#include "python/lock/interpreter_lock.hpp"

#define PyGILState_Ensure ::halfwarp::python::take_lock
#define PyEval_RestoreThread ::halfwarp::python::take_lock_again
