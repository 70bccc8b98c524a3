// SPDX-License-Identifier: Apache-2.0
// Recognizes cubins, finds their sections and computes their size.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "emulator/image/bytes.hpp"

namespace halfwarp::emulator::image {

bool is_elf(bytes data) noexcept;
bool is_cubin(bytes data) noexcept;  // a 64-bit ELF file for CUDA devices

// For a file of unknown length. `header` has elf_header_bytes. `sections` is the section header
// table at the location that find_section_table returns. The end ignores sections of types that
// only CUDA defines: some occupy no bytes, and callers that know the length do not check them.
inline constexpr std::size_t elf_header_bytes = 64;
struct section_table {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
section_table find_section_table(bytes header) noexcept;
std::uint64_t end_of_file(bytes header, bytes sections) noexcept;

// Checks whether the headers refer to bytes beyond the end of the file. Ignores sections of types
// that only CUDA defines, since some occupy no bytes.
bool is_truncated(bytes file) noexcept;

// Removes bytes after the last byte that the headers refer to. Returns a damaged file unchanged.
bytes without_padding(bytes file) noexcept;

// Returns the content of a section; nullopt if it is missing or outside the file.
std::optional<bytes> find_section(bytes cubin, std::string_view name) noexcept;

struct named_section {
  std::string_view name;
  bytes content;
};

// Returns the sections whose names start with `prefix`, in file order.
std::vector<named_section> find_sections(bytes cubin, std::string_view prefix);

// Returns 90 for a cubin of sm_90, or 0 if unknown.
std::uint32_t cubin_architecture(bytes cubin) noexcept;

}  // namespace halfwarp::emulator::image
