// SPDX-License-Identifier: Apache-2.0
// Images passed to cuModuleLoadData and cuLibraryLoadData, and the PTX text in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/image/bytes.hpp"
#include "emulator/image/elf/register_counts.hpp"
#include "emulator/image/registry.hpp"

namespace halfwarp::emulator::image {

// Section of a cubin with the PTX text, which has a NUL instead of each line break.
inline constexpr std::string_view ptx_section = ".nv_debug_ptx_txt";

enum class origin : std::uint8_t { ptx_text, debug_section, registered, fat_binary };

struct ptx_source {
  std::string text;
  origin from = origin::ptx_text;
  register_counts registers;  // of the machine code in the same image
};

enum class failure : std::uint8_t {
  invalid_image,    // CUDA_ERROR_INVALID_IMAGE: neither PTX, cubin nor fat binary, or damaged
  no_binary,        // CUDA_ERROR_NO_BINARY_FOR_GPU: machine code without PTX
  no_decompressor,  // CUDA_ERROR_NOT_SUPPORTED: unsupported compression
  out_of_memory,
};

struct image_error {
  failure reason = failure::invalid_image;
  std::string message;  // states the image kind, the problem and a remedy
  std::string kernel;   // the first of an image of machine code, if known
};

struct image_result {
  std::optional<ptx_source> source;
  image_error error;  // valid without a source

  explicit operator bool() const noexcept { return source.has_value(); }
};

// Returns the bytes of an image at a bare pointer. The size comes from the image's headers; text
// ends before its NUL. Follows the wrapper that nvcc generates for an embedded fat binary. The view
// ends where the memory ends, even if the headers refer to more.
bytes view_of(const void* data) noexcept;

// Finds the PTX of an image. `architecture` is the device's, 90 for 9.0. From a fat binary, selects
// the newest PTX that is not newer than the device.
image_result find_ptx(bytes data, std::uint32_t architecture, cubin_registry& registry) noexcept;

}  // namespace halfwarp::emulator::image
