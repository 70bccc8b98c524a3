// SPDX-License-Identifier: Apache-2.0
// Whether a thread may keep the GIL during a driver call that can wait.
#pragma once

namespace halfwarp::interpreter {

// Returns whether no other thread can need the GIL before the caller returns from the driver: the
// caller is the only Python thread, the driver has no function that may need the GIL, and all
// native code of the process is known. False in doubt. Needs the GIL. See docs/design/gil.md.
[[nodiscard]] bool is_lone_thread() noexcept;

// Call before the driver gets a function that may need the GIL; ends lone threads for good.
void expect_callbacks() noexcept;

}  // namespace halfwarp::interpreter
