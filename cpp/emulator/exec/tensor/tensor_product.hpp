// SPDX-License-Identifier: Apache-2.0
// Starts tcgen05.mma. The handlers pass a product of tiles for the host.
#pragma once

#include "emulator/exec/matrix/warpgroup.hpp"

namespace halfwarp::emulator::exec {

// `fast` may be null.
void start_tensor_product(warp& w, const instruction& instr, fast_multiply fast);

}  // namespace halfwarp::emulator::exec
