// SPDX-License-Identifier: Apache-2.0
// Launch checks that depend on the device: cooperative grids, clusters, shared memory.
#include <string>

#include "core/stream.hpp"
#include "python/errors.hpp"
#include "python/launch/launch.hpp"
#include "python/launch/launch_config.hpp"

namespace halfwarp::python {
namespace {

int device_attribute(CUdevice_attribute attribute, CUdevice device) {
  int value = 0;
  driver::call(driver::table->cuDeviceGetAttribute, &value, attribute, device);
  return value;
}

int check_shared_memory(unsigned bytes, CUdevice device, core::launch_plan& plan) {
  const unsigned granted = plan.grant_shared_memory(device, bytes);
  if (bytes <= granted) return 0;
  PyErr_Format(
      PyExc_ValueError,
      "shmem_size of %u bytes exceeds the %u bytes of dynamic shared memory that device %d "
      "grants %s()",
      bytes, granted, device, plan.readable_name().c_str());
  return failed;
}

// Returns how many blocks the stream's part of its device can hold at once. The driver computes it
// for the current context.
long long resident_blocks(const core::launch_plan& plan, const core::stream_ref& stream,
                          CUdevice device, int block_size, unsigned shared) {
  const core::gil_release_if_held released;
  const core::context_handle context = core::context_of(stream);
  const core::current_scope scope{context.raw()};
  int blocks = 0;
  driver::call(driver::table->cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
               reinterpret_cast<CUfunction>(plan.kernel()), block_size, shared);
  const long long multiprocessors = context.facts().multiprocessors;
  return blocks * (multiprocessors != 0
                       ? multiprocessors
                       : device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
}

// All blocks of a cooperative grid must be resident at once.
int check_cooperative_grid(const CUlaunchConfig& native, const core::stream_ref& stream,
                           CUdevice device, const core::launch_plan& plan) {
  const int block = static_cast<int>(native.blockDimX * native.blockDimY * native.blockDimZ);
  const long long limit = resident_blocks(plan, stream, device, block, native.sharedMemBytes);
  const long double blocks = static_cast<long double>(native.gridDimX) * native.gridDimY *
                             native.gridDimZ;  // may exceed 64 bits
  if (blocks <= static_cast<long double>(limit)) return 0;
  PyErr_Format(PyExc_ValueError,
               "cooperative grid (%u, %u, %u) exceeds the limit of %lld blocks that device %d can "
               "hold at once for %s(); use a smaller grid",
               native.gridDimX, native.gridDimY, native.gridDimZ, limit, device,
               plan.readable_name().c_str());
  return failed;
}

}  // namespace

CUdevice device_of(const core::stream_ref& stream) {
  if (stream.facts().device >= 0) return stream.facts().device;
  CUdevice device = 0;
  if (core::is_default_stream(stream.raw())) {
    driver::call(driver::table->cuCtxGetDevice, &device);
    return device;
  }
  return core::context_of(stream).facts().device;
}

int check_device_limits(const config_fields& config, const CUlaunchConfig& launched,
                        const core::stream_ref& stream, core::launch_plan& plan) noexcept {
  const unsigned shared = launched.sharedMemBytes;
  const bool is_cooperative = config.is_cooperative;
  const bool is_plain = !is_cooperative && config.is_device_checked;
  if (is_plain && shared <= plan.default_shared_memory()) return 0;
  try {
    const CUdevice device = device_of(stream);
    if (!config.is_device_checked && check_device_supports(config, device) < 0) return failed;
    if (shared > plan.default_shared_memory() && check_shared_memory(shared, device, plan) < 0) {
      return failed;
    }
    return is_cooperative ? check_cooperative_grid(launched, stream, device, plan) : 0;
  } catch (...) {
    translate_exception();
    return failed;
  }
}

}  // namespace halfwarp::python
