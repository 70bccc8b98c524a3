// SPDX-License-Identifier: Apache-2.0
// Reports programs and libraries that contain NVIDIA's runtime or code without PTX.
#pragma once

#include <cuda.h>

#include <string>

namespace halfwarp::emulator::report {

// Writes a line on stderr if the table is one without which NVIDIA's runtime does not start. The
// line names the object that calls the driver, once per object, and a remedy.
void foreign_runtime(const CUuuid& table) noexcept;

// Writes a line on stderr if a library of NVIDIA loads code without PTX, once per library. The line
// names the kernel unless it is empty. Other callers report the error themselves.
void code_without_ptx(const std::string& kernel) noexcept;

}  // namespace halfwarp::emulator::report
