// SPDX-License-Identifier: Apache-2.0
// Changes of tensor maps by kernels.
#include <cstddef>
#include <cstring>
#include <optional>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/bulk_start.hpp"
#include "emulator/exec/async/tensor_map.hpp"
#include "emulator/exec/each_lane.hpp"

namespace halfwarp::emulator::exec {
namespace {

using memory::tensor_map;

// Maps a type number of PTX to the number that cuda.h gives the type.
constexpr std::uint8_t element_types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};

// The bytes of a map that a field occupies, and their new value.
struct field_bytes {
  std::uint32_t offset, size;
  std::uint64_t value;
};

// Returns nothing for a dimension or value that no map has.
std::optional<field_bytes> bytes_of(map_field field, std::uint32_t i, std::uint64_t value) {
  const auto field_if = [&](bool valid, std::uint32_t offset, std::uint32_t size) {
    return valid ? std::optional{field_bytes{offset + i * size, size, value}} : std::nullopt;
  };
  const bool is_per_dimension = field >= map_field::box_dim;
  if (is_per_dimension && i >= (field == map_field::global_stride ? 4u : 5u)) return std::nullopt;
  switch (field) {
    case map_field::global_address:
      return field_if(value % 16 == 0, offsetof(tensor_map, address), 8);
    case map_field::rank:
      value += 1;
      return field_if(value <= 5, offsetof(tensor_map, rank), 1);
    case map_field::elemtype:
      if (value >= std::size(element_types)) return std::nullopt;
      value = element_types[value];
      return field_if(true, offsetof(tensor_map, data_type), 1);
    case map_field::interleave_layout:
      return field_if(value <= CU_TENSOR_MAP_INTERLEAVE_32B, offsetof(tensor_map, interleave), 1);
    case map_field::swizzle_mode:
      return field_if(value <= CU_TENSOR_MAP_SWIZZLE_128B, offsetof(tensor_map, swizzle), 1);
    case map_field::fill_mode:
      return field_if(value <= 1, offsetof(tensor_map, fill), 1);
    case map_field::box_dim:
      return field_if(value >= 1 && value <= 256, offsetof(tensor_map, box), 2);
    case map_field::global_dim:
      return field_if(value >= 1, offsetof(tensor_map, extents), 8);
    case map_field::global_stride:
      return field_if(value % 16 == 0, offsetof(tensor_map, strides), 8);
    case map_field::element_stride:
      return field_if(value >= 1 && value <= 8, offsetof(tensor_map, element_strides), 1);
  }
  return std::nullopt;
}

}  // namespace

// Only the field's bytes are accessed: the map need not be complete before a copy uses it.
void run_replace_map(warp& w, const instruction& instr) {
  const auto field = static_cast<map_field>(instr.target);
  for_each_lane(w.active, [&](int lane) {
    const std::uint64_t value = w.at<std::uint64_t>(instr.operand[1])[lane];
    const auto bytes = bytes_of(field, w.at<std::uint32_t>(instr.operand[2])[lane], value);
    if (!bytes) {
      raise_copy(w, instr, lane, report::fault_kind::unmapped,
                 "no tensor map has the value " + std::to_string(value) + " in this field",
                 "see tensormap.replace in the PTX manual for the values of each field");
    }
    const std::uint64_t address = w.at<std::uint64_t>(instr.operand[4])[lane] + bytes->offset;
    std::memcpy(locate_bytes(w, instr, lane, address, {report::access_kind::store, bytes->size}),
                &bytes->value, bytes->size);
  });
}

// All lanes give the same addresses.
void run_publish_map(warp& w, const instruction& instr) {
  const int lane = __builtin_ctz(w.active);
  const auto place = [&](int n, report::access_kind kind) {
    return locate_bytes(w, instr, lane, w.at<std::uint64_t>(instr.operand[n])[lane],
                        {kind, sizeof(tensor_map)});
  };
  std::memcpy(place(4, report::access_kind::store), place(1, report::access_kind::load),
              sizeof(tensor_map));
}

}  // namespace halfwarp::emulator::exec
