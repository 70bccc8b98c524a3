// SPDX-License-Identifier: Apache-2.0
// What a program hands to cuModuleLoadData and cuLibraryLoadData, and the PTX text in it.
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

// Of a cubin: the text, a NUL in place of each line break.
inline constexpr std::string_view ptx_section = ".nv_debug_ptx_txt";

enum class origin : std::uint8_t { ptx_text, debug_section, registered, fat_binary };

struct ptx_source {
  std::string text;
  origin from = origin::ptx_text;
  register_counts registers;  // of the machine code beside the text
};

enum class failure : std::uint8_t {
  invalid_image,    // CUDA_ERROR_INVALID_IMAGE: neither PTX, cubin nor fat binary, or damaged
  no_binary,        // CUDA_ERROR_NO_BINARY_FOR_GPU: machine code without PTX
  no_decompressor,  // CUDA_ERROR_NOT_SUPPORTED: packed in a way that is not read
  out_of_memory,
};

struct image_error {
  failure reason = failure::invalid_image;
  std::string message;  // what it is, why it does not load, what to do
};

struct image_result {
  std::optional<ptx_source> source;
  image_error error;  // meaningful without a source

  explicit operator bool() const noexcept { return source.has_value(); }
};

// The bytes of an image that comes as a bare pointer, as its own headers tell; text ends before its
// NUL. Follows the wrapper that nvcc puts around an embedded fat binary. Reads only what the
// headers name, which must be there.
bytes view_of(const void* data) noexcept;

// `architecture` is that of the device, 90 for 9.0: of a fat binary, the newest PTX that is not
// newer is taken.
image_result find_ptx(bytes data, std::uint32_t architecture, cubin_registry& registry) noexcept;

}  // namespace halfwarp::emulator::image
