// SPDX-License-Identifier: Apache-2.0
// How cpp/core gives the interpreter's lock back around driver calls that may wait.
#pragma once

namespace halfwarp::python {

// Call once, when the extension is imported.
void attach_interpreter_lock() noexcept;

}  // namespace halfwarp::python
