// SPDX-License-Identifier: Apache-2.0
// How devices are connected: PCI Express, NVLink, and which is near to which.
#include "emulated_nvml/api/answers.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

constexpr unsigned generation = 5, width = 16;
constexpr unsigned device_id = 0xE001'10DE, board_id = 0x0001'10DE;  // the maker in the lower half
constexpr unsigned megabytes_per_second = 32000;                     // of one lane of 5.0, MT/s

bool has_link(nvmlDevice_t device, unsigned link) noexcept {
  return link < device->sensors.get(sensor::nvlinks);
}

nvmlReturn_t why_no_link(nvmlDevice_t device, unsigned link) noexcept {
  if (link >= NVML_NVLINK_MAX_LINKS) return NVML_ERROR_INVALID_ARGUMENT;
  return has_link(device, link) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* info) noexcept {
  nvmlPciInfo_t found{};
  strcpy(found.busIdLegacy, device->bus_id + 4);  // with a domain of four digits
  strcpy(found.busId, device->bus_id);
  found.domain = device->facts.pci_domain;
  found.bus = device->facts.pci_bus;
  found.pciDeviceId = device_id;
  found.pciSubSystemId = board_id;
  return give(info, found);
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* info) noexcept {
  const nvmlReturn_t code = check_version(info, 1);
  if (code != NVML_SUCCESS) return code;
  nvmlPciInfoExt_t found{};
  found.version = info->version;
  strcpy(found.busId, device->bus_id);
  found.domain = device->facts.pci_domain;
  found.bus = device->facts.pci_bus;
  found.pciDeviceId = device_id;
  found.pciSubSystemId = board_id;
  found.baseClass = 3;  // a display controller,
  found.subClass = 2;   // of the kind without a display
  return give(info, found);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t, unsigned* out) noexcept {
  return give(out, generation);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t, unsigned* out) noexcept {
  return give(out, generation);
}

nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t, unsigned* out) noexcept {
  return give(out, generation);
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned* out) noexcept {
  return give(out, width);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t, unsigned* out) noexcept {
  return give(out, width);
}

nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t, unsigned* out) noexcept {
  return give(out, megabytes_per_second);
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned* out) noexcept {
  switch (counter) {
    case NVML_PCIE_UTIL_TX_BYTES:
      return give_sensor(out, device, sensor::pcie_tx);
    case NVML_PCIE_UTIL_RX_BYTES:
      return give_sensor(out, device, sensor::pcie_rx);
    default:
      return NVML_ERROR_INVALID_ARGUMENT;
  }
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned* out) noexcept {
  return give_sensor(out, device, sensor::pcie_replays);
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                      nvmlEnableState_t* state) noexcept {
  const nvmlReturn_t code = why_no_link(device, link);
  return code == NVML_SUCCESS ? give(state, NVML_FEATURE_ENABLED) : code;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link,
                                        unsigned* version) noexcept {
  const nvmlReturn_t code = why_no_link(device, link);
  return code == NVML_SUCCESS ? give_sensor(version, device, sensor::nvlink_version) : code;
}

// All devices are at one processor, each at a slot of its own.
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second,
                                                 nvmlGpuTopologyLevel_t* level) noexcept {
  if (!is_device(second)) return NVML_ERROR_INVALID_ARGUMENT;
  return give(level, first == second ? NVML_TOPOLOGY_INTERNAL : NVML_TOPOLOGY_HOSTBRIDGE);
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level,
                                              unsigned* count, nvmlDevice_t* list) noexcept {
  const bool are_near = level == NVML_TOPOLOGY_HOSTBRIDGE;
  const unsigned own = index_of_device(device);
  return give_list(count, list, are_near ? device_count - 1 : 0,
                   [&](unsigned i) { return &devices[i < own ? i : i + 1]; });
}

nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned, unsigned* count, nvmlDevice_t* list) noexcept {
  return give_list(count, list, device_count, [](unsigned i) { return &devices[i]; });
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second,
                                    nvmlGpuP2PCapsIndex_t index,
                                    nvmlGpuP2PStatus_t* status) noexcept {
  if (!is_device(second) || !is_among(index, NVML_P2P_CAPS_INDEX_UNKNOWN)) {
    return NVML_ERROR_INVALID_ARGUMENT;
  }
  const bool is_there = first != second && index != NVML_P2P_CAPS_INDEX_NVLINK;
  return give(status, is_there ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED);
}

}  // namespace halfwarp::emulated_nvml::api
