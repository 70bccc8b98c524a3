// SPDX-License-Identifier: Apache-2.0
// Event sets. Events occur when a test posts them.
#include "emulated_nvml/process/event_sets.hpp"

#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

template <class Set>
nvmlReturn_t create_set(Set* set, bool is_of_system) noexcept {
  if (!set) return NVML_ERROR_INVALID_ARGUMENT;
  event_set* const created = create_event_set(is_of_system);
  if (!created) return NVML_ERROR_INSUFFICIENT_RESOURCES;
  *set = reinterpret_cast<Set>(created);
  return NVML_SUCCESS;
}

nvmlReturn_t free_set(const void* handle, bool is_of_system) noexcept {
  event_set* const set = find_event_set(handle, is_of_system);
  if (!set) return NVML_ERROR_INVALID_ARGUMENT;
  free_event_set(set);
  return NVML_SUCCESS;
}

// Returns the number of a device as NVML packs it: domain, bus and slot.
unsigned packed_id(nvmlDevice_t device) noexcept {
  return device->facts.pci_domain << 16 | device->facts.pci_bus << 8;
}

}  // namespace

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set) noexcept { return create_set(set, false); }

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) noexcept { return free_set(set, false); }

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t, unsigned long long* types) noexcept {
  return write_value(types, nvmlEventTypeAll);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types,
                                      nvmlEventSet_t set) noexcept {
  event_set* const target = find_event_set(set, false);
  if (!target) return NVML_ERROR_INVALID_ARGUMENT;
  if (types & ~static_cast<unsigned long long>(nvmlEventTypeAll)) return NVML_ERROR_NOT_SUPPORTED;
  target->types[index_of_device(device)] |= types;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data,
                                 unsigned milliseconds) noexcept {
  event_set* const target = find_event_set(set, false);
  if (!target || !data) return NVML_ERROR_INVALID_ARGUMENT;
  event received;
  unsigned received_count = 0;
  const nvmlReturn_t code = wait_for_events(target, &received, 1, milliseconds, &received_count);
  if (code != NVML_SUCCESS) return code;
  constexpr unsigned whole_board = 0xFFFFFFFF;
  *data = {received.device, received.type, received.data, whole_board, whole_board};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  return code == NVML_SUCCESS ? create_set(&request->set, true) : code;
}

nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  return code == NVML_SUCCESS ? free_set(request->set, true) : code;
}

nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  if (code != NVML_SUCCESS) return code;
  event_set* const target = find_event_set(request->set, true);
  constexpr unsigned long long all =
      nvmlSystemEventTypeGpuDriverUnbind | nvmlSystemEventTypeGpuDriverBind;
  if (!target || request->eventTypes & ~all) return NVML_ERROR_INVALID_ARGUMENT;
  target->types[0] |= request->eventTypes;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t* request) noexcept {
  const nvmlReturn_t code = check_version(request, 1);
  if (code != NVML_SUCCESS) return code;
  event_set* const target = find_event_set(request->set, true);
  if (!target || !request->data || !request->dataSize) return NVML_ERROR_INVALID_ARGUMENT;
  event received[16];
  const unsigned capacity = request->dataSize < 16 ? request->dataSize : 16;
  unsigned received_count = 0;
  const nvmlReturn_t result =
      wait_for_events(target, received, capacity, request->timeoutms, &received_count);
  if (result != NVML_SUCCESS) return result;
  for (unsigned i = 0; i < received_count; ++i)
    request->data[i] = {received[i].type, packed_id(received[i].device)};
  request->numEvent = received_count;
  return NVML_SUCCESS;
}

}  // namespace halfwarp::emulated_nvml::api
