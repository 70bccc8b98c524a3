// SPDX-License-Identifier: Apache-2.0
// Sensors and settings of an emulated board: consistent fictitious values, which a test can set by
// name.
#pragma once

#include "headers/nvml.h"

namespace halfwarp::emulated_nvml {

enum class sensor : unsigned {
  temperature,
  memory_temperature,
  power,
  power_limit,
  gpu_utilization,
  memory_utilization,
  encoder_utilization,
  decoder_utilization,
  graphics_clock,
  sm_clock,
  memory_clock,
  video_clock,
  performance_state,
  clock_event_reasons,
  fans,
  fan_speed,
  fan_target,
  fan_policy,
  pcie_rx,
  pcie_tx,
  pcie_replays,
  persistence_mode,
  auto_boost,
  display_connected,
  display_active,
  c2c,
  addressing_mode,
  nvlinks,
  nvlink_version,
  repair_pending,
  end,
};

struct sensor_kind {
  const char* name;
  long long initial, min_value, max_value;
};

// The units are degrees Celsius, milliwatts, percent, MHz and KB/s; enumerators are NVML's.
inline constexpr sensor_kind sensor_kinds[] = {
    {"temperature", 41, -100, 300},
    {"memory_temperature", 45, -100, 300},
    {"power", 75000, 0, 10000000},
    {"power_limit", 700000, 1000, 10000000},
    {"gpu_utilization", 0, 0, 100},
    {"memory_utilization", 0, 0, 100},
    {"encoder_utilization", 0, 0, 100},
    {"decoder_utilization", 0, 0, 100},
    {"graphics_clock", 345, 0, 100000},
    {"sm_clock", 345, 0, 100000},
    {"memory_clock", 1000, 0, 100000},
    {"video_clock", 765, 0, 100000},
    {"performance_state", NVML_PSTATE_0, NVML_PSTATE_0, NVML_PSTATE_UNKNOWN},
    {"clock_event_reasons", nvmlClocksEventReasonGpuIdle, 0, 1LL << 62},
    {"fans", 1, 0, 8},
    {"fan_speed", 30, 0, 100},
    {"fan_target", 30, 0, 100},
    {"fan_policy", NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW, 0, 1LL << 31},
    {"pcie_rx", 0, 0, 1LL << 32},
    {"pcie_tx", 0, 0, 1LL << 32},
    {"pcie_replays", 0, 0, 1LL << 31},
    {"persistence_mode", NVML_FEATURE_ENABLED, 0, 1},
    {"auto_boost", NVML_FEATURE_ENABLED, 0, 1},
    {"display_connected", NVML_FEATURE_DISABLED, 0, 1},
    {"display_active", NVML_FEATURE_DISABLED, 0, 1},
    {"c2c", 0, 0, 1},
    {"addressing_mode", NVML_DEVICE_ADDRESSING_MODE_HMM, 0, 1LL << 31},
    {"nvlinks", 0, 0, NVML_NVLINK_MAX_LINKS},
    {"nvlink_version", 6, 0, 1LL << 31},
    {"repair_pending", 0, 0, 1},
};

inline constexpr unsigned sensor_count = static_cast<unsigned>(sensor::end);
static_assert(sizeof sensor_kinds / sizeof *sensor_kinds == sensor_count);

// Constant limits of the board.
namespace rated {
inline constexpr unsigned graphics_clock = 1980, memory_clock = 1000, video_clock = 1545;  // MHz
inline constexpr unsigned min_graphics_clock = 345, min_video_clock = 765;
// Degrees Celsius.
inline constexpr unsigned shutdown = 95, slowdown = 90, memory_max = 100, max_temperature = 87;
inline constexpr unsigned min_power = 200000, max_power = 700000;  // mW
inline constexpr unsigned rotations_per_percent = 40;              // per minute
}  // namespace rated

class sensor_values {
 public:
  sensor_values() noexcept { reset(); }

  long long operator[](sensor id) const noexcept { return values_[static_cast<unsigned>(id)]; }
  template <class Number = unsigned>
  Number get(sensor id) const noexcept {
    return static_cast<Number>((*this)[id]);
  }
  void set(sensor id, long long value) noexcept { values_[static_cast<unsigned>(id)] = value; }
  void reset() noexcept {
    for (unsigned i = 0; i < sensor_count; ++i) values_[i] = sensor_kinds[i].initial;
  }

 private:
  long long values_[sensor_count];
};

}  // namespace halfwarp::emulated_nvml
