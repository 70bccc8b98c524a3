// SPDX-License-Identifier: Apache-2.0
// Device enumeration and attributes.
#include "emulator/device/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "emulator/api/call.hpp"

namespace halfwarp::emulator::api {
namespace {

void copy_text(std::string_view text, char* into, int size) {
  require_outputs(into);
  require(size > 0, CUDA_ERROR_INVALID_VALUE, "the buffer for a text must hold at least one byte");
  const auto length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

}  // namespace

CUresult cuDeviceGetCount(int* count) noexcept {
  return run_locked([&](call& c) {
    require_outputs(count);
    *count = static_cast<int>(c.d.devices.size());
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) noexcept {
  return run_locked([&](call& c) {
    require_outputs(device);
    *device = c.device_of(ordinal).ordinal();
  });
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    c.device_of(dev);
    copy_text(device_name, name, len);
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(uuid);
    *uuid = c.device_of(dev).uuid();
  });
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(bytes);
    *bytes = c.device_of(dev).memory_bytes();
  });
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pi);
    const auto value = c.device_of(dev).attributes().find(attrib);
    require(value.has_value(), CUDA_ERROR_INVALID_VALUE, "cuda.h has no such device attribute");
    *pi = *value;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(major, minor);
    const auto& kind = c.device_of(dev).kind();
    *major = kind.major;
    *minor = kind.minor;
  });
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev) noexcept {
  return run_locked([&](call& c) { copy_text(c.device_of(dev).pci_bus_id(), pciBusId, len); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dev, pciBusId);
    unsigned domain = 0, bus = 0, slot = 0;
    const bool is_read = std::sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) == 3;
    const auto match = std::ranges::find(c.d.devices, static_cast<int>(bus),
                                         [](const auto& each) { return each->number(); });
    require(is_read && domain == static_cast<unsigned>(pci_domain) && slot == 0 &&
                match != c.d.devices.end(),
            CUDA_ERROR_INVALID_DEVICE, "no emulated device has this PCI bus id");
    *dev = (*match)->ordinal();
  });
}

CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(canAccessPeer);
    *canAccessPeer = &c.device_of(dev) != &c.device_of(peerDev);
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    require(&c.device_of(srcDevice) != &c.device_of(dstDevice), CUDA_ERROR_INVALID_DEVICE,
            "a device cannot be its own peer");
    switch (attrib) {
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = 1;
        return;
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
        *value = 0;
        return;
      default:
        refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such peer attribute");
    }
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pi);
    c.device_of(dev);
    *pi = 0;
  });
}

}  // namespace halfwarp::emulator::api
