// SPDX-License-Identifier: Apache-2.0
// Encodes tensor maps with the driver.
#include "views/tensor_maps/encode.hpp"

#include "driver/call.hpp"

namespace halfwarp::views {
namespace {

using driver::table;
using driver::try_call;

void* address_of(std::uint64_t number) noexcept { return reinterpret_cast<void*>(number); }

CUresult encode_tiled(const map_request& r, tensor_map& result) noexcept {
  return try_call(
      table->cuTensorMapEncodeTiled, &result.native, static_cast<CUtensorMapDataType>(r.data_type),
      r.rank, address_of(r.address), r.extents, r.strides, r.box, r.element_strides,
      static_cast<CUtensorMapInterleave>(r.interleave), static_cast<CUtensorMapSwizzle>(r.swizzle),
      static_cast<CUtensorMapL2promotion>(r.promotion),
      static_cast<CUtensorMapFloatOOBfill>(r.fill));
}

CUresult encode_im2col(const map_request& r, tensor_map& result) noexcept {
  return try_call(
      table->cuTensorMapEncodeIm2col, &result.native, static_cast<CUtensorMapDataType>(r.data_type),
      r.rank, address_of(r.address), r.extents, r.strides, r.lower, r.upper, r.channels, r.pixels,
      r.element_strides, static_cast<CUtensorMapInterleave>(r.interleave),
      static_cast<CUtensorMapSwizzle>(r.swizzle), static_cast<CUtensorMapL2promotion>(r.promotion),
      static_cast<CUtensorMapFloatOOBfill>(r.fill));
}

CUresult encode_im2col_wide(const map_request& r, tensor_map& result) noexcept {
  return try_call(table->cuTensorMapEncodeIm2colWide, &result.native,
                  static_cast<CUtensorMapDataType>(r.data_type), r.rank, address_of(r.address),
                  r.extents, r.strides, r.lower[0], r.upper[0], r.channels, r.pixels,
                  r.element_strides, static_cast<CUtensorMapInterleave>(r.interleave),
                  static_cast<CUtensorMapIm2ColWideMode>(r.mode),
                  static_cast<CUtensorMapSwizzle>(r.swizzle),
                  static_cast<CUtensorMapL2promotion>(r.promotion),
                  static_cast<CUtensorMapFloatOOBfill>(r.fill));
}

struct encoder {
  const char* function;
  CUresult (*call)(const map_request&, tensor_map&) noexcept;
};

constexpr encoder encoders[] = {
    {"cuTensorMapEncodeTiled", encode_tiled},
    {"cuTensorMapEncodeIm2col", encode_im2col},
    {"cuTensorMapEncodeIm2colWide", encode_im2col_wide},
};

}  // namespace

CUresult encode(const map_request& request, tensor_map& result, const char** function) noexcept {
  const encoder& selected = encoders[static_cast<int>(request.kind)];
  *function = selected.function;
  return selected.call(request, result);
}

CUresult replace_address(tensor_map& map, std::uint64_t address) noexcept {
  return try_call(table->cuTensorMapReplaceAddress, &map.native, address_of(address));
}

}  // namespace halfwarp::views
