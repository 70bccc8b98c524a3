// SPDX-License-Identifier: Apache-2.0
// The parameter layouts of the kernels in a code image: what the null driver knows of code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halfwarp::emulator::null_driver {

struct parameter {
  std::uint32_t offset = 0, size = 0;  // bytes
};

struct kernel_layout {
  std::string name;
  std::vector<parameter> parameters;
};

// PTX text, or a cubin (its .nv.info sections). Empty when the image is neither.
std::vector<kernel_layout> read_kernels(const void* image);

}  // namespace halfwarp::emulator::null_driver
