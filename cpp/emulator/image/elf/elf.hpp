// SPDX-License-Identifier: Apache-2.0
// The little of ELF that a cubin needs: is it one, which sections has it, how long is it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

bool is_elf(bytes data) noexcept;
bool is_cubin(bytes data) noexcept;  // an ELF file of 64 bits for the CUDA machine

// For a file whose length is not known. `header` has elf_header_bytes; `sections` is the table of
// section headers, which lies where find_section_table says.
inline constexpr std::size_t elf_header_bytes = 64;
struct section_table {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
section_table find_section_table(bytes header) noexcept;
std::uint64_t end_of_file(bytes header, bytes sections) noexcept;

// Without what follows the last byte that the headers name; as it is when they are damaged.
bytes without_padding(bytes file) noexcept;

// Content of a section; none when there is no such section or it lies outside the file.
std::optional<bytes> find_section(bytes cubin, std::string_view name) noexcept;

// Of those whose names begin so, in their order.
std::vector<bytes> find_sections(bytes cubin, std::string_view beginning);

// 90 for a cubin of sm_90; 0 when it does not say.
std::uint32_t cubin_architecture(bytes cubin) noexcept;

}  // namespace halfwarp::emulator::image
