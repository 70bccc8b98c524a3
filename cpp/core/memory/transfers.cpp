// SPDX-License-Identifier: Apache-2.0
// Copies in stream order, with fallbacks for memory that the current context cannot access.
#include "core/memory/transfers.hpp"

namespace halfwarp::core {
namespace {

constexpr CUdevice no_device = -1;

// Returns the device that owns the memory; no_device for host and managed memory.
CUdevice device_of(CUdeviceptr pointer) noexcept {
  unsigned kind = 0;
  int is_managed = 0;
  CUdevice device = no_device;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&kind, &is_managed, &device};
  const CUresult code =
      driver::try_call(driver::table->cuPointerGetAttributes, 3u, attributes, values, pointer);
  const bool is_of_device = code == CUDA_SUCCESS && kind == CU_MEMORYTYPE_DEVICE && !is_managed;
  return is_of_device ? device : no_device;
}

// Returns true in doubt: a rejected call could invalidate the capture.
bool is_capturing(const stream_ref& stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult code = driver::try_call(driver::table->cuStreamIsCapturing, stream.raw(), &status);
  return code != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Copies within one device under that device's primary context, which can always access the memory;
// the driver checks the current context, not the stream's. Not for a default stream, which would
// denote another stream there.
CUresult copy_in_device_context(CUdevice device, const stream_ref& stream, CUdeviceptr to,
                                CUdeviceptr from, std::size_t size) {
  if (is_default_stream(stream.raw())) return CUDA_ERROR_INVALID_VALUE;
  const context_handle primary = retain_primary_context(device);
  const current_scope entered{primary.raw()};
  return driver::try_call(driver::table->cuMemcpyAsync, to, from, size, stream.raw());
}

// Copies between two devices with cuMemcpyPeerAsync, which needs no peer access.
CUresult copy_between(CUdevice target, CUdevice source, const stream_ref& stream, CUdeviceptr to,
                      CUdeviceptr from, std::size_t size) {
  const context_handle target_context = retain_primary_context(target);
  const context_handle source_context = retain_primary_context(source);
  return driver::try_call(driver::table->cuMemcpyPeerAsync, to, target_context.raw(), from,
                          source_context.raw(), size, stream.raw());
}

// Copies under contexts of the devices that own the memory. Fails during a capture.
CUresult copy_by_devices(const stream_ref& stream, CUdeviceptr to, CUdeviceptr from,
                         std::size_t size) noexcept {
  const CUdevice target = device_of(to), source = device_of(from);
  const bool are_two = target != source && target != no_device && source != no_device;
  const CUdevice only = target == no_device ? source : target;
  if (only == no_device || is_capturing(stream)) return CUDA_ERROR_INVALID_VALUE;
  try {
    return are_two ? copy_between(target, source, stream, to, from, size)
                   : copy_in_device_context(only, stream, to, from, size);
  } catch (const driver::driver_error&) {
    return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult copy_in_order(const stream_ref& stream, CUdeviceptr to, CUdeviceptr from,
                       std::size_t size) noexcept {
  const gil_release_if_held released;
  const CUresult code = submit_in_order(stream, [=](CUstream raw) {
    return driver::try_call(driver::table->cuMemcpyAsync, to, from, size, raw);
  });
  if (code != CUDA_ERROR_INVALID_VALUE) [[likely]]
    return code;
  return copy_by_devices(stream, to, from, size) == CUDA_SUCCESS ? CUDA_SUCCESS : code;
}

}  // namespace halfwarp::core
