// SPDX-License-Identifier: Apache-2.0
// Properties of a kernel that a launch needs, queried from the driver once.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/module/kernel_signature.hpp"

namespace halfwarp::core {

// Kinds of value that a single store can pack for a parameter. The launch path tests them as bits.
enum accepts : std::uint16_t {
  accepts_integer = 1,  // a Python int that fits 31 bits, as 4 or 8 bytes
  accepts_natural = 2,  // the same, unless it is negative
  accepts_wide = 4,     // a Python int as 8 bytes: negative with accepts_integer only,
  accepts_high = 8,     // and from 2^63 with this only
  accepts_double = 16,
  accepts_single = 32,
  accepts_address = 64,  // of a Buffer; numbers are not addresses of a structure
  accepts_8_bytes = 128,
  accepts_4_bytes = 256,
};

struct parameter {
  std::uint32_t size = 0;  // in bytes; 0: unknown
  parameter_kind kind = parameter_kind::unknown;
  std::uint16_t accepts = accepts_integer | accepts_natural | accepts_wide | accepts_high |
                          accepts_double | accepts_address | accepts_8_bytes | accepts_4_bytes;
};

inline constexpr parameter unknown_parameter{};

[[nodiscard]] parameter make_parameter(std::uint32_t size, parameter_kind kind) noexcept;

// The parameters of a kernel in the driver's layout, with descriptions from symbol and PTX.
struct parameter_layout {
  bool is_known = false;  // false if the driver is older than 12.4, which disables checks
  std::string symbol;     // empty if unknown
  std::uint32_t number;   // of the kernel's name, see kernel_names.hpp
  std::vector<parameter> parameters;
  std::vector<std::uint32_t> offsets;
  parameter_descriptions descriptions;  // one per parameter
};

// Shared by all wrappers of a kernel. All members are thread-safe.
class launch_plan {
 public:
  // `symbol` may be empty; load_layout() then queries it.
  launch_plan(CUkernel kernel, std::string symbol, parameter_descriptions from_ptx);
  ~launch_plan();
  launch_plan(const launch_plan&) = delete;  // launches hold its address
  launch_plan& operator=(const launch_plan&) = delete;

  [[nodiscard]] CUkernel kernel() const noexcept { return kernel_; }

  // Null until load_layout() succeeded.
  [[nodiscard]] const parameter_layout* layout() const noexcept {
    return layout_.load(std::memory_order_acquire);
  }
  // Queries the driver. Throws driver_error, for instance if no context is current.
  const parameter_layout& load_layout();

  // Returns the name for messages, without parameters: "kernel" if there is none.
  [[nodiscard]] std::string readable_name() const;

  // Dynamic shared memory in bytes that every device supports by default.
  [[nodiscard]] unsigned default_shared_memory() const noexcept {
    return default_shared_memory_.load(std::memory_order_relaxed);
  }
  // Raises the device's limit to at least `bytes` of dynamic shared memory if possible. Returns the
  // limit of this kernel; a launch that needs more would fail.
  unsigned grant_shared_memory(CUdevice device, unsigned bytes);
  // Call after the kernel's limit was set on a device: later launches query each device.
  void invalidate_shared_memory(CUdevice device) noexcept;

 private:
  static constexpr std::size_t cached_devices = 32;

  std::unique_ptr<parameter_layout> query_layout() const;
  void add_descriptions(parameter_layout& layout) const;

  const CUkernel kernel_;
  const std::string symbol_;
  const parameter_descriptions from_ptx_;
  std::atomic<const parameter_layout*> layout_{nullptr};
  std::atomic<unsigned> default_shared_memory_{0};
  std::atomic<bool> has_custom_limits_{false};
  std::array<std::atomic<unsigned>, cached_devices> granted_{};
};

}  // namespace halfwarp::core
