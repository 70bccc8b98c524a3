// SPDX-License-Identifier: Apache-2.0
// Docstrings of functions, composed on first use: a table of all texts has each name four times.
#pragma once

#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Returns the text signature, what the function does, its outputs and its parameters. Definitions
// of functions refer to it until the process ends. Returns null after an error.
const char* documentation_of(const library& lib, const method_record& record);

}  // namespace halfwarp::bindings
