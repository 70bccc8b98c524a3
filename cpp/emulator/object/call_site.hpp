// SPDX-License-Identifier: Apache-2.0
// Where in the user's program the current driver call was made, when sites are traced.
#pragma once

#include <string>

namespace halfwarp::emulator {

// The library knows no Python: the package installs a function that writes the innermost frame of
// the user, "file.py:12", and returns its length. It may take the interpreter's lock, so it is
// asked before the driver's lock is taken.
using call_site_source = int (*)(char* text, int size);

void set_call_site_source(call_site_source source) noexcept;

void note_call_site();           // asks the source; for the gate
const std::string& call_site();  // of the call that this thread is in, or empty

}  // namespace halfwarp::emulator
