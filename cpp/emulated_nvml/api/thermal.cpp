// SPDX-License-Identifier: Apache-2.0
// Temperatures, fans and power.
#include "emulated_nvml/api/answers.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

bool has_fan(nvmlDevice_t device, unsigned fan) noexcept {
  return fan < device->sensors.get(sensor::fans);
}

nvmlReturn_t give_of_fan(nvmlDevice_t device, unsigned fan, unsigned* out, sensor which) noexcept {
  return has_fan(device, fan) ? give_sensor(out, device, which) : NVML_ERROR_INVALID_ARGUMENT;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device,
                                       nvmlTemperature_t* temperature) noexcept {
  const nvmlReturn_t code = check_version(temperature, 1);
  if (code != NVML_SUCCESS) return code;
  if (temperature->sensorType != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
  return give_sensor(&temperature->temperature, device, sensor::temperature);
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t, nvmlTemperatureThresholds_t which,
                                               unsigned* temperature) noexcept {
  switch (which) {
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN:
      return give(temperature, rated::shutdown);
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
      return give(temperature, rated::slowdown);
    case NVML_TEMPERATURE_THRESHOLD_MEM_MAX:
      return give(temperature, rated::memory_most);
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX:
      return give(temperature, rated::most);
    default:
      return is_among(which, NVML_TEMPERATURE_THRESHOLD_COUNT) ? NVML_ERROR_NOT_SUPPORTED
                                                               : NVML_ERROR_INVALID_ARGUMENT;
  }
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device,
                                            nvmlMarginTemperature_t* margin) noexcept {
  const nvmlReturn_t code = check_version(margin, 1);
  if (code != NVML_SUCCESS) return code;
  return give(&margin->marginTemperature,
              static_cast<long long>(rated::most) - device->sensors[sensor::temperature]);
}

nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned target,
                                          nvmlGpuThermalSettings_t* settings) noexcept {
  const bool is_of_gpu = target == NVML_THERMAL_TARGET_GPU || target == NVML_THERMAL_TARGET_ALL;
  nvmlGpuThermalSettings_t found{};
  found.count = is_of_gpu ? 1 : 0;
  if (is_of_gpu) {
    found.sensor[0] = {NVML_THERMAL_CONTROLLER_GPU_INTERNAL, -40, static_cast<int>(rated::shutdown),
                       device->sensors.get<int>(sensor::temperature), NVML_THERMAL_TARGET_GPU};
  }
  return give(settings, found);
}

nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned* count) noexcept {
  return give_sensor(count, device, sensor::fans);
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned* speed) noexcept {
  return give_of_fan(device, 0, speed, sensor::fan_speed);
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned fan, unsigned* speed) noexcept {
  return give_of_fan(device, fan, speed, sensor::fan_speed);
}

nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned fan,
                                         unsigned* speed) noexcept {
  return give_of_fan(device, fan, speed, sensor::fan_target);
}

nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t* speed) noexcept {
  const nvmlReturn_t code = check_version(speed, 1);
  if (code != NVML_SUCCESS) return code;
  if (!has_fan(device, speed->fan)) return NVML_ERROR_INVALID_ARGUMENT;
  return give(&speed->speed, device->sensors[sensor::fan_speed] * rated::rotations_per_percent);
}

nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t, unsigned* least, unsigned* most) noexcept {
  const nvmlReturn_t code = give(least, 0);
  return code == NVML_SUCCESS ? give(most, 100) : code;
}

nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned fan,
                                              nvmlFanControlPolicy_t* policy) noexcept {
  return give_of_fan(device, fan, policy, sensor::fan_policy);
}

nvmlReturn_t nvmlDeviceSetFanControlPolicy(nvmlDevice_t device, unsigned fan,
                                           nvmlFanControlPolicy_t policy) noexcept {
  if (!has_fan(device, fan) || !is_among(policy, NVML_FAN_POLICY_MANUAL + 1))
    return NVML_ERROR_INVALID_ARGUMENT;
  device->sensors.set(sensor::fan_policy, policy);
  return NVML_SUCCESS;
}

// At once what is asked for. All fans of a board turn alike.
nvmlReturn_t nvmlDeviceSetFanSpeed_v2(nvmlDevice_t device, unsigned fan, unsigned speed) noexcept {
  if (!has_fan(device, fan) || speed > 100) return NVML_ERROR_INVALID_ARGUMENT;
  device->sensors.set(sensor::fan_policy, NVML_FAN_POLICY_MANUAL);
  device->sensors.set(sensor::fan_speed, speed);
  device->sensors.set(sensor::fan_target, speed);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetDefaultFanSpeed_v2(nvmlDevice_t device, unsigned fan) noexcept {
  const auto usual = sensor_kinds[static_cast<unsigned>(sensor::fan_speed)].initial;
  const nvmlReturn_t code =
      api::nvmlDeviceSetFanSpeed_v2(device, fan, static_cast<unsigned>(usual));
  if (code != NVML_SUCCESS) return code;
  return api::nvmlDeviceSetFanControlPolicy(device, fan, NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW);
}

nvmlReturn_t nvmlDeviceGetCoolerInfo(nvmlDevice_t device, nvmlCoolerInfo_t* info) noexcept {
  const nvmlReturn_t code = check_version(info, 1);
  if (code != NVML_SUCCESS) return code;
  if (!has_fan(device, info->index)) return NVML_ERROR_INVALID_ARGUMENT;
  info->signalType = NVML_THERMAL_COOLER_SIGNAL_VARIABLE;
  info->target = NVML_THERMAL_COOLER_TARGET_GPU;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* power) noexcept {
  return give_sensor(power, device, sensor::power);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned* limit) noexcept {
  return give_sensor(limit, device, sensor::power_limit);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* limit) noexcept {
  return give_sensor(limit, device, sensor::power_limit);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t, unsigned* limit) noexcept {
  return give(limit, rated::most_power);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t, unsigned* least,
                                                          unsigned* most) noexcept {
  const nvmlReturn_t code = give(least, rated::least_power);
  return code == NVML_SUCCESS ? give(most, rated::most_power) : code;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long* energy) noexcept {
  return give(energy, energy_of(device));
}

}  // namespace halfwarp::emulated_nvml::api
