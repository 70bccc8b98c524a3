// SPDX-License-Identifier: Apache-2.0
// Resizes the storage of registers and constants.
#include "emulator/exec/code.hpp"

namespace halfwarp::emulator::exec {

void lane_storage::resize(std::size_t bytes) {
  lines_.resize((bytes + sizeof(line) - 1) / sizeof(line));
}

}  // namespace halfwarp::emulator::exec
