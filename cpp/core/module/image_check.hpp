// SPDX-License-Identifier: Apache-2.0
// Compares the headers of an image with its length before a library reads it.
#pragma once

#include <string>
#include <string_view>

namespace halfwarp::core {

// Returns why an ELF file or a fat binary is damaged; empty for sound headers and for other images.
// Drivers and linkers follow the offsets in the headers, mostly without knowing the length.
[[nodiscard]] std::string image_problem(std::string_view image);

}  // namespace halfwarp::core
