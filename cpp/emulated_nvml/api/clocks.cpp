// SPDX-License-Identifier: Apache-2.0
// Clocks, performance states and utilization.
#include "emulated_nvml/api/answers.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

struct clock_domain {
  sensor current;
  unsigned least, most;
};

constexpr clock_domain domains[] = {
    {sensor::graphics_clock, rated::least_graphics_clock, rated::graphics_clock},
    {sensor::sm_clock, rated::least_graphics_clock, rated::graphics_clock},
    {sensor::memory_clock, rated::memory_clock, rated::memory_clock},
    {sensor::video_clock, rated::least_video_clock, rated::video_clock},
};
static_assert(sizeof domains / sizeof *domains == NVML_CLOCK_COUNT);

bool is_clock(nvmlClockType_t type) noexcept { return is_among(type, NVML_CLOCK_COUNT); }

// The one state that the board has.
bool is_state(nvmlPstates_t state) noexcept { return state == NVML_PSTATE_0; }

}  // namespace

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                    unsigned* clock) noexcept {
  return is_clock(type) ? give_sensor(clock, device, domains[type].current)
                        : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t, nvmlClockType_t type,
                                       unsigned* clock) noexcept {
  return is_clock(type) ? give(clock, domains[type].most) : NVML_ERROR_INVALID_ARGUMENT;
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
                                              nvmlPstates_t state, unsigned* least,
                                              unsigned* most) noexcept {
  if (!is_clock(type) || !least || !most) return NVML_ERROR_INVALID_ARGUMENT;
  if (!is_state(state)) return NVML_ERROR_NOT_SUPPORTED;
  *least = domains[type].least;
  *most = domains[type].most;
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

nvmlReturn_t nvmlDeviceGetAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t* now,
                                                   nvmlEnableState_t* usual) noexcept {
  const nvmlReturn_t code = give_sensor(now, device, sensor::auto_boost);
  return code == NVML_SUCCESS ? give(usual, NVML_FEATURE_ENABLED) : code;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device,
                                                    unsigned long long* reasons) noexcept {
  return give_sensor(reasons, device, sensor::clock_event_reasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t,
                                                      unsigned long long* reasons) noexcept {
  return give(reasons, nvmlClocksEventReasonAll);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* state) noexcept {
  return give_sensor(state, device, sensor::performance_state);
}

nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t* state) noexcept {
  return api::nvmlDeviceGetPerformanceState(device, state);
}

// `size` is in bytes. What is left over is filled with "unknown".
nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t, nvmlPstates_t* states,
                                                     unsigned size) noexcept {
  const unsigned room = size / sizeof *states;
  if (!states) return NVML_ERROR_INVALID_ARGUMENT;
  if (!room) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < room; ++i) states[i] = i ? NVML_PSTATE_UNKNOWN : NVML_PSTATE_0;
  return NVML_SUCCESS;
}

// Of the graphics engine and of the frame buffer, the first two of eight.
nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device,
                                             nvmlGpuDynamicPstatesInfo_t* info) noexcept {
  nvmlGpuDynamicPstatesInfo_t found{};
  found.utilization[0] = {1, device->sensors.get(sensor::gpu_utilization), 80, 30};
  found.utilization[1] = {1, device->sensors.get(sensor::memory_utilization), 80, 30};
  return give(info, found);
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                           nvmlUtilization_t* utilization) noexcept {
  return give(utilization, nvmlUtilization_t{device->sensors.get(sensor::gpu_utilization),
                                             device->sensors.get(sensor::memory_utilization)});
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned* percent,
                                             unsigned* period) noexcept {
  const nvmlReturn_t code = give_sensor(percent, device, sensor::encoder_utilization);
  return code == NVML_SUCCESS ? give(period, 100000) : code;
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned* percent,
                                             unsigned* period) noexcept {
  const nvmlReturn_t code = give_sensor(percent, device, sensor::decoder_utilization);
  return code == NVML_SUCCESS ? give(period, 100000) : code;
}

}  // namespace halfwarp::emulated_nvml::api
