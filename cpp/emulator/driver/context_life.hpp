// SPDX-License-Identifier: Apache-2.0
// How contexts begin and end.
#pragma once

#include "emulator/driver/driver.hpp"
#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {

// Waits for the work of a context, then removes everything that was made in it. Its memory is
// released; that of pools stays, since they belong to the device. It goes on as another one, with
// another life.
void empty_context(driver& d, driver_guard& guard, context& target);

// The same, and the context is no more.
void end_context(driver& d, driver_guard& guard, context& target);

// Waits for the work of a green context, then takes it from its primary context, where what was
// made in it stays; its streams can do nothing any more.
void end_green_context(driver& d, driver_guard& guard, const std::shared_ptr<context>& target);

// The primary context of a device, usable: made, or taken up again after a release or a reset.
std::shared_ptr<context> open_primary(driver& d, device& of);

// `emulation.reset()`: every context empty and whole again, those made by cuCtxCreate gone, the
// pools empty, faults forgotten. What the package owns stays.
void reset_contexts(driver& d, driver_guard& guard);

// Waits for the work of all contexts.
void settle_contexts(driver& d, driver_guard& guard);

// The last fault forgotten, and broken contexts usable again with all that is in them; whether
// there was one. No device can do that: it is for tests that go on after a fault.
bool repair_contexts(driver& d, driver_guard& guard);

}  // namespace halfwarp::emulator
