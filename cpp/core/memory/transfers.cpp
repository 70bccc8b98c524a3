// SPDX-License-Identifier: Apache-2.0
#include "core/memory/transfers.hpp"

namespace halfwarp::core {
namespace {

constexpr CUdevice nowhere = -1;

// The device whose memory this is; nowhere for what the host can see, and for no memory.
CUdevice device_of(CUdeviceptr pointer) noexcept {
  unsigned kind = 0;
  int is_managed = 0;
  CUdevice device = nowhere;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* answers[] = {&kind, &is_managed, &device};
  const CUresult code =
      driver::try_call(driver::table->cuPointerGetAttributes, 3u, asked, answers, pointer);
  const bool is_of_device = code == CUDA_SUCCESS && kind == CU_MEMORYTYPE_DEVICE && !is_managed;
  return is_of_device ? device : nowhere;
}

// In doubt it is: a capture may not survive what is refused in it.
bool is_capturing(const stream_ref& stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult code = driver::try_call(driver::table->cuStreamIsCapturing, stream.raw(), &status);
  return code != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Of memory of one device and no other: drivers ask whether the current context has access to it,
// and that of its own device has, whichever the stream is of. A default stream would be another one
// there.
CUresult copy_from_its_context(CUdevice device, const stream_ref& stream, CUdeviceptr to,
                               CUdeviceptr from, std::size_t size) {
  if (is_default_stream(stream.raw())) return CUDA_ERROR_INVALID_VALUE;
  const context_handle own = retain_primary_context(device);
  const current_scope entered{own.raw()};
  return driver::try_call(driver::table->cuMemcpyAsync, to, from, size, stream.raw());
}

// The one copy that asks for no access from one device to memory of the other.
CUresult copy_between(CUdevice target, CUdevice source, const stream_ref& stream, CUdeviceptr to,
                      CUdeviceptr from, std::size_t size) {
  const context_handle there = retain_primary_context(target);
  const context_handle here = retain_primary_context(source);
  return driver::try_call(driver::table->cuMemcpyPeerAsync, to, there.raw(), from, here.raw(), size,
                          stream.raw());
}

// A copy that neither the current context nor the stream's may make, in the way that the devices
// of its memory allow; not in a graph.
CUresult copy_by_devices(const stream_ref& stream, CUdeviceptr to, CUdeviceptr from,
                         std::size_t size) noexcept {
  const CUdevice target = device_of(to), source = device_of(from);
  const bool are_two = target != source && target != nowhere && source != nowhere;
  const CUdevice only = target == nowhere ? source : target;
  if (only == nowhere || is_capturing(stream)) return CUDA_ERROR_INVALID_VALUE;
  try {
    return are_two ? copy_between(target, source, stream, to, from, size)
                   : copy_from_its_context(only, stream, to, from, size);
  } catch (const driver::driver_error&) {
    return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

CUresult copy_in_order(const stream_ref& stream, CUdeviceptr to, CUdeviceptr from,
                       std::size_t size) noexcept {
  const CUresult code = submit_in_order(stream, [=](CUstream raw) {
    return driver::try_call(driver::table->cuMemcpyAsync, to, from, size, raw);
  });
  if (code != CUDA_ERROR_INVALID_VALUE) [[likely]]
    return code;
  return copy_by_devices(stream, to, from, size) == CUDA_SUCCESS ? CUDA_SUCCESS : code;
}

}  // namespace halfwarp::core
