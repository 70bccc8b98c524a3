// SPDX-License-Identifier: Apache-2.0
// Streams that an object of Python owns.
#pragma once

#include <Python.h>

#include "core/stream.hpp"

namespace halfwarp::python {

// Wraps a stream and keeps its owner alive as long as the handle; None for one without an owner.
[[nodiscard]] core::stream_handle stream_owned_by(CUstream raw, PyObject* owner);

}  // namespace halfwarp::python
