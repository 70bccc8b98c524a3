// SPDX-License-Identifier: Apache-2.0
// Waiting for what happens to devices. Here it happens when a test says so.
#include "emulated_nvml/process/event_sets.hpp"

#include "emulated_nvml/api/answers.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

template <class Set>
nvmlReturn_t make(Set* set, bool is_of_system) noexcept {
  if (!set) return NVML_ERROR_INVALID_ARGUMENT;
  event_set* const made = make_event_set(is_of_system);
  if (!made) return NVML_ERROR_INSUFFICIENT_RESOURCES;
  *set = reinterpret_cast<Set>(made);
  return NVML_SUCCESS;
}

nvmlReturn_t free_set(const void* handle, bool is_of_system) noexcept {
  event_set* const set = find_event_set(handle, is_of_system);
  if (!set) return NVML_ERROR_INVALID_ARGUMENT;
  free_event_set(set);
  return NVML_SUCCESS;
}

// A device's number as NVML packs it: domain, bus and slot.
unsigned packed_id(nvmlDevice_t device) noexcept {
  return device->facts.pci_domain << 16 | device->facts.pci_bus << 8;
}

}  // namespace

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) noexcept { return make(set, false); }

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) noexcept { return free_set(set, false); }

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t, unsigned long long* types) noexcept {
  return give(types, nvmlEventTypeAll);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                      nvmlEventSet_t set) noexcept {
  event_set* const found = find_event_set(set, false);
  if (!found) return NVML_ERROR_INVALID_ARGUMENT;
  if (types & ~static_cast<unsigned long long>(nvmlEventTypeAll)) return NVML_ERROR_NOT_SUPPORTED;
  found->wanted[index_of_device(device)] |= types;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data,
                                 unsigned milliseconds) noexcept {
  event_set* const found = find_event_set(set, false);
  if (!found || !data) return NVML_ERROR_INVALID_ARGUMENT;
  event came;
  unsigned taken = 0;
  const nvmlReturn_t code = take(found, &came, 1, milliseconds, &taken);
  if (code != NVML_SUCCESS) return code;
  constexpr unsigned whole_board = 0xFFFFFFFF;
  *data = {came.device, came.type, came.data, whole_board, whole_board};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  return code == NVML_SUCCESS ? make(&request->set, true) : code;
}

nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  return code == NVML_SUCCESS ? free_set(request->set, true) : code;
}

nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  if (code != NVML_SUCCESS) return code;
  event_set* const found = find_event_set(request->set, true);
  constexpr unsigned long long all =
      nvmlSystemEventTypeGpuDriverUnbind | nvmlSystemEventTypeGpuDriverBind;
  if (!found || request->eventTypes & ~all) return NVML_ERROR_INVALID_ARGUMENT;
  found->wanted[0] |= request->eventTypes;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  if (code != NVML_SUCCESS) return code;
  event_set* const found = find_event_set(request->set, true);
  if (!found || !request->data || !request->dataSize) return NVML_ERROR_INVALID_ARGUMENT;
  event came[16];
  const unsigned room = request->dataSize < 16 ? request->dataSize : 16;
  unsigned taken = 0;
  const nvmlReturn_t result = take(found, came, room, request->timeoutms, &taken);
  if (result != NVML_SUCCESS) return result;
  for (unsigned i = 0; i < taken; ++i) request->data[i] = {came[i].type, packed_id(came[i].device)};
  request->numEvent = taken;
  return NVML_SUCCESS;
}

}  // namespace halfwarp::emulated_nvml::api
