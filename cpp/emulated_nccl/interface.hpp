// SPDX-License-Identifier: Apache-2.0
// The types of the C interface of NCCL 2.32, as far as the emulation uses them.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace halfwarp::emulated_nccl {

inline constexpr int version = 23203;

enum class result : int {
  success,
  cuda_error,
  system_error,
  internal_error,
  invalid_argument,
  invalid_usage,
  remote_error,
  in_progress,
  timeout,
};

enum class data_type : int {
  int8,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3,
  float8e5m2,
};
inline constexpr int type_count = 12;

// The first handle of an operation that the program creates.
enum class reduction : int { sum, prod, max, min, avg, first_created };

enum class scalar_residence : int { device, host_immediate };

inline constexpr int undefined_int = INT_MIN;
inline constexpr unsigned magic = 0xcafebeef;
inline constexpr unsigned simulation_magic = 0x74685283;
inline constexpr int no_color = -1;

struct unique_id {
  char bytes[128];
};

// The first fields of a configuration. Older and newer versions have them in the same place.
struct config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

// The first fields of the configuration of one collective.
struct collective_config {
  std::size_t size;
  unsigned magic;
  unsigned version;
};

struct simulation {
  std::size_t size;
  unsigned magic;
  unsigned version;
  float estimated_time;
};

}  // namespace halfwarp::emulated_nccl
