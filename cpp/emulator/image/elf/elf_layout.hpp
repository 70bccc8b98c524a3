// SPDX-License-Identifier: Apache-2.0
// Offsets of the fields in 64-bit ELF headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halfwarp::emulator::image::elf_layout {

// Offsets within the file header.
inline constexpr std::size_t class_at = 4, abi_version_at = 8, kind_at = 16, machine_at = 18,
                             version_at = 20, segments_at = 32, sections_at = 40, flags_at = 48,
                             header_size_at = 52, segment_size_at = 54, segment_count_at = 56,
                             section_size_at = 58, section_count_at = 60, names_at = 62;
inline constexpr std::uint16_t machine_cuda = 190;

// Offsets within a section header.
inline constexpr std::size_t header_bytes = 64, name_at = 0, type_at = 4, offset_at = 24,
                             size_at = 32, alignment_at = 48;
inline constexpr std::uint32_t type_progbits = 1, type_strings = 3, type_nobits = 8,
                               first_processor_type = 0x70000000;

}  // namespace halfwarp::emulator::image::elf_layout
