// SPDX-License-Identifier: Apache-2.0
// Streams that a Python object owns.
#pragma once

#include <Python.h>

#include "core/stream.hpp"

namespace halfwarp::python {

// Wraps a stream and retains its owner; None for a stream without an owner.
[[nodiscard]] core::stream_handle stream_owned_by(CUstream raw, PyObject* owner);

}  // namespace halfwarp::python
