// SPDX-License-Identifier: Apache-2.0
// Temperatures, fans and power.
#include "emulated_nvml/api/results.hpp"

namespace halfwarp::emulated_nvml::api {
namespace {

bool has_fan(nvmlDevice_t device, unsigned fan) noexcept {
  return fan < device->sensors.get(sensor::fans);
}

nvmlReturn_t write_fan_sensor(nvmlDevice_t device, unsigned fan, unsigned* out,
                              sensor id) noexcept {
  return has_fan(device, fan) ? write_sensor(out, device, id) : NVML_ERROR_INVALID_ARGUMENT;
}

}  // namespace

nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device,
                                       nvmlTemperature_t* temperature) noexcept {
  const nvmlReturn_t code = check_version(temperature, 1);
  if (code != NVML_SUCCESS) return code;
  if (temperature->sensorType != NVML_TEMPERATURE_GPU) return NVML_ERROR_INVALID_ARGUMENT;
  return write_sensor(&temperature->temperature, device, sensor::temperature);
}

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t, nvmlTemperatureThresholds_t threshold,
                                               unsigned* temperature) noexcept {
  switch (threshold) {
    case NVML_TEMPERATURE_THRESHOLD_SHUTDOWN:
      return write_value(temperature, rated::shutdown);
    case NVML_TEMPERATURE_THRESHOLD_SLOWDOWN:
      return write_value(temperature, rated::slowdown);
    case NVML_TEMPERATURE_THRESHOLD_MEM_MAX:
      return write_value(temperature, rated::memory_max);
    case NVML_TEMPERATURE_THRESHOLD_GPU_MAX:
      return write_value(temperature, rated::max_temperature);
    default:
      return is_among(threshold, NVML_TEMPERATURE_THRESHOLD_COUNT) ? NVML_ERROR_NOT_SUPPORTED
                                                                   : NVML_ERROR_INVALID_ARGUMENT;
  }
}

nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device,
                                            nvmlMarginTemperature_t* margin) noexcept {
  const nvmlReturn_t code = check_version(margin, 1);
  if (code != NVML_SUCCESS) return code;
  return write_value(&margin->marginTemperature, static_cast<long long>(rated::max_temperature) -
                                                     device->sensors[sensor::temperature]);
}

nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned target,
                                          nvmlGpuThermalSettings_t* settings) noexcept {
  const bool has_gpu = target == NVML_THERMAL_TARGET_GPU || target == NVML_THERMAL_TARGET_ALL;
  nvmlGpuThermalSettings_t result{};
  result.count = has_gpu ? 1 : 0;
  if (has_gpu) {
    result.sensor[0] = {NVML_THERMAL_CONTROLLER_GPU_INTERNAL, -40,
                        static_cast<int>(rated::shutdown),
                        device->sensors.get<int>(sensor::temperature), NVML_THERMAL_TARGET_GPU};
  }
  return write_value(settings, result);
}

nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned* count) noexcept {
  return write_sensor(count, device, sensor::fans);
}

nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned* speed) noexcept {
  return write_fan_sensor(device, 0, speed, sensor::fan_speed);
}

nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned fan, unsigned* speed) noexcept {
  return write_fan_sensor(device, fan, speed, sensor::fan_speed);
}

nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned fan,
                                         unsigned* speed) noexcept {
  return write_fan_sensor(device, fan, speed, sensor::fan_target);
}

nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t* speed) noexcept {
  const nvmlReturn_t code = check_version(speed, 1);
  if (code != NVML_SUCCESS) return code;
  if (!has_fan(device, speed->fan)) return NVML_ERROR_INVALID_ARGUMENT;
  return write_value(&speed->speed,
                     device->sensors[sensor::fan_speed] * rated::rotations_per_percent);
}

nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t, unsigned* min_value,
                                         unsigned* max_value) noexcept {
  const nvmlReturn_t code = write_value(min_value, 0);
  return code == NVML_SUCCESS ? write_value(max_value, 100) : code;
}

nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned fan,
                                              nvmlFanControlPolicy_t* policy) noexcept {
  return write_fan_sensor(device, fan, policy, sensor::fan_policy);
}

nvmlReturn_t nvmlDeviceSetFanControlPolicy(nvmlDevice_t device, unsigned fan,
                                           nvmlFanControlPolicy_t policy) noexcept {
  if (!has_fan(device, fan) || !is_among(policy, NVML_FAN_POLICY_MANUAL + 1))
    return NVML_ERROR_INVALID_ARGUMENT;
  device->sensors.set(sensor::fan_policy, policy);
  return NVML_SUCCESS;
}

// Sets the speed immediately. All fans of a board run at the same speed.
nvmlReturn_t nvmlDeviceSetFanSpeed_v2(nvmlDevice_t device, unsigned fan, unsigned speed) noexcept {
  if (!has_fan(device, fan) || speed > 100) return NVML_ERROR_INVALID_ARGUMENT;
  device->sensors.set(sensor::fan_policy, NVML_FAN_POLICY_MANUAL);
  device->sensors.set(sensor::fan_speed, speed);
  device->sensors.set(sensor::fan_target, speed);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetDefaultFanSpeed_v2(nvmlDevice_t device, unsigned fan) noexcept {
  const auto default_speed = sensor_kinds[static_cast<unsigned>(sensor::fan_speed)].initial;
  const nvmlReturn_t code =
      api::nvmlDeviceSetFanSpeed_v2(device, fan, static_cast<unsigned>(default_speed));
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
  return write_sensor(power, device, sensor::power);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned* limit) noexcept {
  return write_sensor(limit, device, sensor::power_limit);
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* limit) noexcept {
  return write_sensor(limit, device, sensor::power_limit);
}

nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t, unsigned* limit) noexcept {
  return write_value(limit, rated::max_power);
}

nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t, unsigned* min_value,
                                                          unsigned* max_value) noexcept {
  const nvmlReturn_t code = write_value(min_value, rated::min_power);
  return code == NVML_SUCCESS ? write_value(max_value, rated::max_power) : code;
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                 unsigned long long* energy) noexcept {
  return write_value(energy, energy_of(device));
}

}  // namespace halfwarp::emulated_nvml::api
