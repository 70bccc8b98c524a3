// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace halfwarp::emulator::image {

// Returns the text of which modules execute a substitute, by the substitute; null if it is none.
std::shared_ptr<const std::string> original_ptx(std::string_view substitute);

}  // namespace halfwarp::emulator::image
