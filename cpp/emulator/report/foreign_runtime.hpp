// SPDX-License-Identifier: Apache-2.0
// Reports programs that contain NVIDIA's runtime library.
#pragma once

#include <cuda.h>

namespace halfwarp::emulator::report {

// Writes a line on stderr if the table is one without which NVIDIA's runtime does not start. The
// line names the object that calls the driver, once per object, and a remedy.
void foreign_runtime(const CUuuid& table) noexcept;

}  // namespace halfwarp::emulator::report
