// SPDX-License-Identifier: Apache-2.0
// Finds device code in the objects and libraries of a host compiler.
#pragma once

#include <vector>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

// Returns the fat binaries in an ELF object or in the members of an archive, in file order.
std::vector<bytes> fat_binaries_in(bytes object_or_archive);

}  // namespace halfwarp::emulator::image
