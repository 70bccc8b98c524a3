// SPDX-License-Identifier: Apache-2.0
// Changes of tensor maps by kernels.
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/bulk_start.hpp"
#include "emulator/memory/tensor_map.hpp"

namespace halfwarp::emulator::exec {
namespace {

using memory::tensor_map;

// Maps a type number of PTX to the number that cuda.h gives the type.
constexpr std::uint8_t element_types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};

// Returns false for a dimension or value that no map has.
bool set_field(tensor_map& map, map_field field, std::uint32_t i, std::uint64_t value) {
  const bool is_per_dimension = field >= map_field::box_dim;
  if (is_per_dimension && i >= (field == map_field::global_stride ? 4u : 5u)) return false;
  const auto byte = static_cast<std::uint8_t>(value);
  switch (field) {
    case map_field::global_address:
      map.address = value;
      return value % 16 == 0;
    case map_field::rank:
      map.rank = static_cast<std::uint8_t>(value + 1);
      return value < 5;
    case map_field::elemtype:
      if (value >= std::size(element_types)) return false;
      map.data_type = element_types[value];
      return true;
    case map_field::interleave_layout:
      map.interleave = byte;
      return value <= CU_TENSOR_MAP_INTERLEAVE_32B;
    case map_field::swizzle_mode:
      map.swizzle = byte;
      return value <= CU_TENSOR_MAP_SWIZZLE_128B;
    case map_field::fill_mode:
      map.fill = byte;
      return value <= 1;
    case map_field::box_dim:
      map.box[i] = static_cast<std::uint16_t>(value);
      return value >= 1 && value <= 256;
    case map_field::global_dim:
      map.extents[i] = value;
      return value >= 1;
    case map_field::global_stride:
      map.strides[i] = value;
      return value % 16 == 0;
    case map_field::element_stride:
      map.element_strides[i] = byte;
      return value >= 1 && value <= 8;
  }
  return false;
}

}  // namespace

void run_replace_map(warp& w, const instruction& instr) {
  const auto field = static_cast<map_field>(instr.target);
  for (lane_mask lanes = w.active; lanes; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    std::byte* const bytes =
        locate_bytes(w, instr, lane, w.at<std::uint64_t>(instr.operand[4])[lane],
                     {report::access_kind::store, sizeof(tensor_map)});
    tensor_map map;
    std::memcpy(&map, bytes, sizeof map);
    const std::uint64_t value = w.at<std::uint64_t>(instr.operand[1])[lane];
    const std::uint32_t i = w.at<std::uint32_t>(instr.operand[2])[lane];
    if (map.signature != tensor_map::valid_signature || !set_field(map, field, i, value)) {
      raise_copy(w, instr, lane, report::fault_kind::unmapped,
                 "the value " + std::to_string(value) +
                     " is none of this field of a tensor map, "
                     "or there is no map",
                 "change a map that cuTensorMapEncodeTiled encoded, field by field");
    }
    std::memcpy(bytes, &map, sizeof map);
  }
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
