// SPDX-License-Identifier: Apache-2.0
// Reads the parameter layouts of the kernels in a code image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::null_driver {

struct parameter {
  std::uint32_t offset = 0, size = 0;  // bytes
};

struct kernel_layout {
  std::string name;
  std::vector<parameter> parameters;
};

// Reads PTX text or the .nv.info sections of a cubin. Returns an empty list for another image.
std::vector<kernel_layout> read_kernels(image::bytes image);

}  // namespace halfwarp::emulator::null_driver
