// SPDX-License-Identifier: Apache-2.0
// Connections of devices: PCI Express, NVLink and topology.
#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

constexpr unsigned generation = 5, width = 16;
constexpr unsigned device_id = 0xE001'10DE,
                   board_id = 0x0001'10DE;        // vendor id in the lower 16 bits
constexpr unsigned megabytes_per_second = 32000;  // per lane of PCIe 5.0

bool has_link(nvmlDevice_t device, unsigned link) noexcept {
  return link < device->sensors.get(sensor::nvlinks);
}

nvmlReturn_t check_link(nvmlDevice_t device, unsigned link) noexcept {
  if (link >= NVML_NVLINK_MAX_LINKS) return NVML_ERROR_INVALID_ARGUMENT;
  return has_link(device, link) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) noexcept {
  nvmlPciInfo_t result{};
  strcpy(result.busIdLegacy, device->bus_id + 4);  // the legacy form has a four-digit domain
  strcpy(result.busId, device->bus_id);
  result.domain = device->facts.pci_domain;
  result.bus = device->facts.pci_bus;
  result.pciDeviceId = device_id;
  result.pciSubSystemId = board_id;
  return write_value(info, result);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* info) noexcept {
  const nvmlReturn_t code = check_version(info, 1);
  if (code != NVML_SUCCESS) return code;
  nvmlPciInfoExt_t result{};
  result.version = info->version;
  strcpy(result.busId, device->bus_id);
  result.domain = device->facts.pci_domain;
  result.bus = device->facts.pci_bus;
  result.pciDeviceId = device_id;
  result.pciSubSystemId = board_id;
  result.baseClass = 3;  // display controller
  result.subClass = 2;   // 3D controller without a display
  return write_value(info, result);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t, unsigned* out) noexcept {
  return write_value(out, generation);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned* out) noexcept {
  return write_value(out, generation);
}

nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t, unsigned* out) noexcept {
  return write_value(out, generation);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned* out) noexcept {
  return write_value(out, width);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned* out) noexcept {
  return write_value(out, width);
}

nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t, unsigned* out) noexcept {
  return write_value(out, megabytes_per_second);
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned* out) noexcept {
  switch (counter) {
    case NVML_PCIE_UTIL_TX_BYTES:
      return write_sensor(out, device, sensor::pcie_tx);
    case NVML_PCIE_UTIL_RX_BYTES:
      return write_sensor(out, device, sensor::pcie_rx);
    default:
      return NVML_ERROR_INVALID_ARGUMENT;
  }
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* out) noexcept {
  return write_sensor(out, device, sensor::pcie_replays);
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                      nvmlEnableState_t* state) noexcept {
  const nvmlReturn_t code = check_link(device, link);
  return code == NVML_SUCCESS ? write_value(state, NVML_FEATURE_ENABLED) : code;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link,
                                        unsigned* version) noexcept {
  const nvmlReturn_t code = check_link(device, link);
  return code == NVML_SUCCESS ? write_sensor(version, device, sensor::nvlink_version) : code;
}

// All devices share one host bridge, and no two devices share a board.
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second,
                                                 nvmlGpuTopologyLevel_t* level) noexcept {
  if (!is_device(second)) return NVML_ERROR_INVALID_ARGUMENT;
  return write_value(level, first == second ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_HOSTBRIDGE);
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
                                              unsigned* count, nvmlDevice_t* list) noexcept {
  const bool is_hostbridge = level == NVML_TOPOLOGY_HOSTBRIDGE;
  const unsigned own_index = index_of_device(device);
  return write_list(count, list, is_hostbridge ? device_count - 1 : 0,
                    [&](unsigned i) { return &devices[i < own_index ? i : i + 1]; });
}

nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned, unsigned* count, nvmlDevice_t* list) noexcept {
  return write_list(count, list, device_count, [](unsigned i) { return &devices[i]; });
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second,
                                    nvmlGpuP2PCapsIndex_t index,
                                    nvmlGpuP2PStatus_t* status) noexcept {
  if (!is_device(second) || !is_among(index, NVML_P2P_CAPS_INDEX_UNKNOWN)) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  const bool is_supported = first != second && index != NVML_P2P_CAPS_INDEX_NVLINK;
  return write_value(status, is_supported ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED);
}

}  // namespace halfwarp::emulated_nvml::api
