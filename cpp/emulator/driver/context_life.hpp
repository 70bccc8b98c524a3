// SPDX-License-Identifier: Apache-2.0
// Creation, reset and destruction of contexts.
#pragma once

#include "emulator/driver/driver.hpp"
#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {

// Waits for the work of a context, then destroys its objects and frees its memory. Pool memory
// stays, since pools belong to the device. The context stays usable and has a new id.
void empty_context(driver& d, driver_guard& guard, context& target);

// Empties a context and marks it destroyed.
void end_context(driver& d, driver_guard& guard, context& target);

// Waits for the work of a green context, then removes it from its primary context, which retains
// its objects. The streams of the green context become unusable.
void end_green_context(driver& d, driver_guard& guard, const std::shared_ptr<context>& target);

// Returns the primary context of a device; creates it, or reopens it after a release or a reset.
std::shared_ptr<context> open_primary(driver& d, device& owner);

// Implements `emulation.reset()`: empties and repairs every primary context, destroys the contexts
// of cuCtxCreate, and clears pools and faults. Objects of the package stay.
void reset_contexts(driver& d, driver_guard& guard);

// Waits for the work of all contexts and prints their device output.
void synchronize_contexts(driver& d, driver_guard& guard);

// Clears the last fault and the errors of broken contexts, which retain their objects. Returns
// whether a context was broken. No device can do this; it lets tests continue after a fault.
bool repair_contexts(driver& d, driver_guard& guard);

}  // namespace halfwarp::emulator
