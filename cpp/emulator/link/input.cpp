// SPDX-License-Identifier: Apache-2.0
// Finds the PTX in the inputs of a linker.
#include "emulator/link/input.hpp"

#include "emulator/image/host_code.hpp"

namespace halfwarp::emulator::link {

std::optional<image::image_error> add_input(std::vector<ptx_input>& inputs, std::string_view name,
                                            image::bytes data, std::uint32_t architecture,
                                            image::cubin_registry& registry) {
  auto images = image::fat_binaries_in(data);
  if (images.empty()) images.push_back(data);
  for (const image::bytes bytes : images) {
    auto result = image::find_ptx(bytes, architecture, registry);
    if (!result) return std::move(result.error);
    inputs.push_back({std::string{name}, std::move(result.source->text)});
  }
  return std::nullopt;
}

}  // namespace halfwarp::emulator::link
