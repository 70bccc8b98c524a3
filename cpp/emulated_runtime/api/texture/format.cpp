// SPDX-License-Identifier: Apache-2.0
// Converts between the runtime's channel descriptors and the driver's formats.
#include "emulated_runtime/api/texture/format.hpp"

#include "emulated_runtime/process/forward.hpp"

namespace halfwarp::emulated_runtime::api {
namespace {

enum class element : bool { is_whole, is_part_of_a_block };

struct row {
  CUarray_format format;
  cudaChannelFormatKind kind;
  int bits;  // width of the first channel
  element size = element::is_whole;
};

constexpr auto in_block = element::is_part_of_a_block;

constexpr row rows[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, cudaChannelFormatKindUnsigned, 8},
    {CU_AD_FORMAT_UNSIGNED_INT16, cudaChannelFormatKindUnsigned, 16},
    {CU_AD_FORMAT_UNSIGNED_INT32, cudaChannelFormatKindUnsigned, 32},
    {CU_AD_FORMAT_SIGNED_INT8, cudaChannelFormatKindSigned, 8},
    {CU_AD_FORMAT_SIGNED_INT16, cudaChannelFormatKindSigned, 16},
    {CU_AD_FORMAT_SIGNED_INT32, cudaChannelFormatKindSigned, 32},
    {CU_AD_FORMAT_HALF, cudaChannelFormatKindFloat, 16},
    {CU_AD_FORMAT_FLOAT, cudaChannelFormatKindFloat, 32},
    {CU_AD_FORMAT_UNORM_INT8X1, cudaChannelFormatKindUnsignedNormalized8X1, 8},
    {CU_AD_FORMAT_UNORM_INT8X2, cudaChannelFormatKindUnsignedNormalized8X2, 8},
    {CU_AD_FORMAT_UNORM_INT8X4, cudaChannelFormatKindUnsignedNormalized8X4, 8},
    {CU_AD_FORMAT_UNORM_INT16X1, cudaChannelFormatKindUnsignedNormalized16X1, 16},
    {CU_AD_FORMAT_UNORM_INT16X2, cudaChannelFormatKindUnsignedNormalized16X2, 16},
    {CU_AD_FORMAT_UNORM_INT16X4, cudaChannelFormatKindUnsignedNormalized16X4, 16},
    {CU_AD_FORMAT_SNORM_INT8X1, cudaChannelFormatKindSignedNormalized8X1, 8},
    {CU_AD_FORMAT_SNORM_INT8X2, cudaChannelFormatKindSignedNormalized8X2, 8},
    {CU_AD_FORMAT_SNORM_INT8X4, cudaChannelFormatKindSignedNormalized8X4, 8},
    {CU_AD_FORMAT_SNORM_INT16X1, cudaChannelFormatKindSignedNormalized16X1, 16},
    {CU_AD_FORMAT_SNORM_INT16X2, cudaChannelFormatKindSignedNormalized16X2, 16},
    {CU_AD_FORMAT_SNORM_INT16X4, cudaChannelFormatKindSignedNormalized16X4, 16},
    {CU_AD_FORMAT_UNORM_INT_101010_2, cudaChannelFormatKindUnsignedNormalized1010102, 10},
    {CU_AD_FORMAT_NV12, cudaChannelFormatKindNV12, 8, in_block},
    {CU_AD_FORMAT_BC1_UNORM, cudaChannelFormatKindUnsignedBlockCompressed1, 8, in_block},
    {CU_AD_FORMAT_BC1_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed1SRGB, 8, in_block},
    {CU_AD_FORMAT_BC2_UNORM, cudaChannelFormatKindUnsignedBlockCompressed2, 8, in_block},
    {CU_AD_FORMAT_BC2_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed2SRGB, 8, in_block},
    {CU_AD_FORMAT_BC3_UNORM, cudaChannelFormatKindUnsignedBlockCompressed3, 8, in_block},
    {CU_AD_FORMAT_BC3_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed3SRGB, 8, in_block},
    {CU_AD_FORMAT_BC4_UNORM, cudaChannelFormatKindUnsignedBlockCompressed4, 8, in_block},
    {CU_AD_FORMAT_BC4_SNORM, cudaChannelFormatKindSignedBlockCompressed4, 8, in_block},
    {CU_AD_FORMAT_BC5_UNORM, cudaChannelFormatKindUnsignedBlockCompressed5, 8, in_block},
    {CU_AD_FORMAT_BC5_SNORM, cudaChannelFormatKindSignedBlockCompressed5, 8, in_block},
    {CU_AD_FORMAT_BC6H_UF16, cudaChannelFormatKindUnsignedBlockCompressed6H, 16, in_block},
    {CU_AD_FORMAT_BC6H_SF16, cudaChannelFormatKindSignedBlockCompressed6H, 16, in_block},
    {CU_AD_FORMAT_BC7_UNORM, cudaChannelFormatKindUnsignedBlockCompressed7, 8, in_block},
    {CU_AD_FORMAT_BC7_UNORM_SRGB, cudaChannelFormatKindUnsignedBlockCompressed7SRGB, 8, in_block},
    {CU_AD_FORMAT_UINT8_PACKED_422, cudaChannelFormatKindUnsigned8Packed422, 8, in_block},
    {CU_AD_FORMAT_UINT8_PACKED_444, cudaChannelFormatKindUnsigned8Packed444, 8, in_block},
    {CU_AD_FORMAT_UINT8_SEMIPLANAR_420, cudaChannelFormatKindUnsigned8SemiPlanar420, 8, in_block},
    {CU_AD_FORMAT_UINT16_SEMIPLANAR_420, cudaChannelFormatKindUnsigned16SemiPlanar420, 16,
     in_block},
    {CU_AD_FORMAT_UINT8_SEMIPLANAR_422, cudaChannelFormatKindUnsigned8SemiPlanar422, 8, in_block},
    {CU_AD_FORMAT_UINT16_SEMIPLANAR_422, cudaChannelFormatKindUnsigned16SemiPlanar422, 16,
     in_block},
    {CU_AD_FORMAT_UINT8_SEMIPLANAR_444, cudaChannelFormatKindUnsigned8SemiPlanar444, 8, in_block},
    {CU_AD_FORMAT_UINT16_SEMIPLANAR_444, cudaChannelFormatKindUnsigned16SemiPlanar444, 16,
     in_block},
    {CU_AD_FORMAT_UINT8_PLANAR_420, cudaChannelFormatKindUnsigned8Planar420, 8, in_block},
    {CU_AD_FORMAT_UINT16_PLANAR_420, cudaChannelFormatKindUnsigned16Planar420, 16, in_block},
    {CU_AD_FORMAT_UINT8_PLANAR_422, cudaChannelFormatKindUnsigned8Planar422, 8, in_block},
    {CU_AD_FORMAT_UINT16_PLANAR_422, cudaChannelFormatKindUnsigned16Planar422, 16, in_block},
    {CU_AD_FORMAT_UINT8_PLANAR_444, cudaChannelFormatKindUnsigned8Planar444, 8, in_block},
    {CU_AD_FORMAT_UINT16_PLANAR_444, cudaChannelFormatKindUnsigned16Planar444, 16, in_block},
};

const row* find_row(CUarray_format format) {
  for (const auto& each : rows) {
    if (each.format == format) return &each;
  }
  return nullptr;
}

constexpr int alpha_bits = 2;  // of UNORM_INT_101010_2, whose channels differ in width

int bits_of_channel(const row& format_row, unsigned channel) {
  return format_row.format == CU_AD_FORMAT_UNORM_INT_101010_2 && channel == 3 ? alpha_bits
                                                                              : format_row.bits;
}

// Returns whether the widths match the format: its channels from the first on, then zeros.
bool matches(const row& each, const int (&widths)[4], unsigned channels) {
  for (unsigned i = 0; i < 4; ++i) {
    if (widths[i] != (i < channels ? bits_of_channel(each, i) : 0)) return false;
  }
  return true;
}

}  // namespace

cudaError_t to_format(const cudaChannelFormatDesc& desc, element_format* out) {
  const int widths[] = {desc.x, desc.y, desc.z, desc.w};
  unsigned channels = 0;
  while (channels < 4 && widths[channels] != 0) ++channels;
  for (const auto& each : rows) {
    if (each.kind != desc.f || channels == 0 || !matches(each, widths, channels)) continue;
    *out = {each.format, channels};
    return cudaSuccess;
  }
  return cudaErrorInvalidChannelDescriptor;
}

cudaError_t to_descriptor(const element_format& format, cudaChannelFormatDesc* out) {
  const row* const format_row = find_row(format.format);
  if (!format_row || format.channels > 4) return cudaErrorInvalidChannelDescriptor;
  int widths[4] = {};
  for (unsigned i = 0; i < format.channels; ++i) widths[i] = bits_of_channel(*format_row, i);
  *out = {widths[0], widths[1], widths[2], widths[3], format_row->kind};
  return cudaSuccess;
}

cudaError_t describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* out) {
  if (!array) return cudaErrorInvalidResourceHandle;
  return forward(table->cuArray3DGetDescriptor, out, const_cast<cudaArray_t>(array));
}

cudaError_t bytes_of_element(cudaArray_const_t array, size_t* bytes) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  if (const cudaError_t code = describe(array, &descriptor)) return code;
  const row* const format_row = find_row(descriptor.Format);
  if (!format_row || format_row->size != element::is_whole)
    return cudaErrorInvalidChannelDescriptor;
  size_t bits = 0;
  for (unsigned i = 0; i < descriptor.NumChannels; ++i) {
    bits += static_cast<size_t>(bits_of_channel(*format_row, i));
  }
  *bytes = bits / 8;
  return cudaSuccess;
}

}  // namespace halfwarp::emulated_runtime::api
