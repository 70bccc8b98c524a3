// SPDX-License-Identifier: Apache-2.0
// Clocks, performance states and utilization.
#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

struct clock_domain {
  sensor current_clock;
  unsigned min_clock, max_clock;
};

constexpr clock_domain domains[] = {
    {sensor::graphics_clock, rated::min_graphics_clock, rated::graphics_clock},
    {sensor::sm_clock, rated::min_graphics_clock, rated::graphics_clock},
    {sensor::memory_clock, rated::memory_clock, rated::memory_clock},
    {sensor::video_clock, rated::min_video_clock, rated::video_clock},
};
static_assert(sizeof domains / sizeof *domains == NVML_CLOCK_COUNT);

bool is_clock(nvmlClockType_t type) noexcept { return is_among(type, NVML_CLOCK_COUNT); }

// Returns whether the state is P0, the only state of the board.
bool is_state(nvmlPstates_t state) noexcept { return state == NVML_PSTATE_0; }

}  // namespace

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned* clock) noexcept {
  return is_clock(type) ? write_sensor(clock, device, domains[type].current_clock)
                        : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t, nvmlClockType_t type,
                                       unsigned* clock) noexcept {
  return is_clock(type) ? write_value(clock, domains[type].max_clock) : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t type,
                                                unsigned* clock) noexcept {
  return api::nvmlDeviceGetMaxClockInfo(device, type, clock);
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t type, nvmlClockId_t id,
                                unsigned* clock) noexcept {
  switch (id) {
    case NVML_CLOCK_ID_CURRENT:
      return api::nvmlDeviceGetClockInfo(device, type, clock);
    case NVML_CLOCK_ID_CUSTOMER_BOOST_MAX:
      return api::nvmlDeviceGetMaxClockInfo(device, type, clock);
    default:
      return is_among(id, NVML_CLOCK_ID_COUNT) ? NVML_ERROR_NOT_SUPPORTED
                                               : NVML_ERROR_INVALID_ARGUMENT;
  }
}

nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t, nvmlClockType_t type,
                                              nvmlPstates_t state, unsigned* min_clock,
                                              unsigned* max_clock) noexcept {
  if (!is_clock(type) || !min_clock || !max_clock) return NVML_ERROR_INVALID_ARGUMENT;
  if (!is_state(state)) return NVML_ERROR_NOT_SUPPORTED;
  *min_clock = domains[type].min_clock;
  *max_clock = domains[type].max_clock;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockOffsets(nvmlDevice_t, nvmlClockOffset_t* info) noexcept {
  const nvmlReturn_t code = check_version(info, 1);
  if (code != NVML_SUCCESS) return code;
  if (!is_clock(info->type)) return NVML_ERROR_INVALID_ARGUMENT;
  if (!is_state(info->pstate)) return NVML_ERROR_NOT_SUPPORTED;
  info->clockOffsetMHz = 0;
  info->minClockOffsetMHz = -200;
  info->maxClockOffsetMHz = 200;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t* current,
                                                   nvmlEnableState_t* default_state) noexcept {
  const nvmlReturn_t code = write_sensor(current, device, sensor::auto_boost);
  return code == NVML_SUCCESS ? write_value(default_state, NVML_FEATURE_ENABLED) : code;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                    unsigned long long* reasons) noexcept {
  return write_sensor(reasons, device, sensor::clock_event_reasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t,
                                                      unsigned long long* reasons) noexcept {
  return write_value(reasons, nvmlClocksEventReasonAll);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* state) noexcept {
  return write_sensor(state, device, sensor::performance_state);
}

nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t* state) noexcept {
  return api::nvmlDeviceGetPerformanceState(device, state);
}

// `size` is in bytes. Unused elements are set to NVML_PSTATE_UNKNOWN.
nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t, nvmlPstates_t* states,
                                                     unsigned size) noexcept {
  const unsigned capacity = size / sizeof *states;
  if (!states) return NVML_ERROR_INVALID_ARGUMENT;
  if (!capacity) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < capacity; ++i) states[i] = i ? NVML_PSTATE_UNKNOWN : NVML_PSTATE_0;
  return NVML_SUCCESS;
}

// Fills the graphics engine and the frame buffer, the first two of eight domains.
nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device,
                                             nvmlGpuDynamicPstatesInfo_t* info) noexcept {
  nvmlGpuDynamicPstatesInfo_t info_result{};
  info_result.utilization[0] = {1, device->sensors.get(sensor::gpu_utilization), 80, 30};
  info_result.utilization[1] = {1, device->sensors.get(sensor::memory_utilization), 80, 30};
  return write_value(info, info_result);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                           nvmlUtilization_t* utilization) noexcept {
  return write_value(utilization,
                     nvmlUtilization_t{device->sensors.get(sensor::gpu_utilization),
                                       device->sensors.get(sensor::memory_utilization)});
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* percent,
                                             unsigned* period) noexcept {
  const nvmlReturn_t code = write_sensor(percent, device, sensor::encoder_utilization);
  return code == NVML_SUCCESS ? write_value(period, 100000) : code;
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* percent,
                                             unsigned* period) noexcept {
  const nvmlReturn_t code = write_sensor(percent, device, sensor::decoder_utilization);
  return code == NVML_SUCCESS ? write_value(period, 100000) : code;
}

}  // namespace halfwarp::emulated_nvml::api
