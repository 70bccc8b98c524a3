// SPDX-License-Identifier: Apache-2.0
// What a launch must know about a kernel, asked of the driver once and kept beside its handle.
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

// What may be stored for a parameter with one instruction, tested as bits on the launch path.
enum accepts : std::uint8_t {
  accepts_integer = 1,  // a Python int that fits 31 bits, as 4 or 8 bytes
  accepts_double = 2,
  accepts_single = 4,
  accepts_address = 8,
  accepts_8_bytes = 16,
  accepts_4_bytes = 32,
};

struct parameter {
  std::uint32_t size = 0;  // in bytes; 0: not known
  parameter_kind kind = parameter_kind::unknown;
  std::uint8_t accepts =
      accepts_integer | accepts_double | accepts_address | accepts_8_bytes | accepts_4_bytes;
};

inline constexpr parameter unknown_parameter{};

[[nodiscard]] parameter make_parameter(std::uint32_t size, parameter_kind kind) noexcept;

// The parameters of a kernel as the driver lays them out, with what is known beyond that.
struct parameter_layout {
  bool is_known = false;  // false: the driver is older than 12.4 and nothing can be checked
  std::string symbol;     // empty when it cannot be had
  std::uint32_t number;   // of the kernel's name, see kernel_names.hpp
  std::vector<parameter> parameters;
  std::vector<std::uint32_t> offsets;
  parameter_descriptions descriptions;  // as many as parameters
};

// Shared by all wrappers of one kernel; every member may be called from several threads at once.
class launch_plan {
 public:
  // `symbol` may be empty: then the driver is asked, with the layout.
  launch_plan(CUkernel kernel, std::string symbol, parameter_descriptions from_ptx);
  ~launch_plan();
  launch_plan(const launch_plan&) = delete;  // launches hold its address
  launch_plan& operator=(const launch_plan&) = delete;

  [[nodiscard]] CUkernel kernel() const noexcept { return kernel_; }

  // Null until load_layout() succeeded.
  [[nodiscard]] const parameter_layout* layout() const noexcept {
    return layout_.load(std::memory_order_acquire);
  }
  // Asks the driver. Throws driver_error, for instance when no context is current.
  const parameter_layout& load_layout();

  // The name to show, without parameters: "kernel" when there is none.
  [[nodiscard]] std::string readable_name() const;

  // Dynamic shared memory in bytes that every device grants without being asked.
  [[nodiscard]] unsigned unasked_shared_memory() const noexcept {
    return unasked_shared_memory_.load(std::memory_order_relaxed);
  }
  // Makes the device accept `bytes` of dynamic shared memory if it can, and returns the most it
  // grants this kernel: less than `bytes` means that the launch would fail.
  unsigned grant_shared_memory(CUdevice device, unsigned bytes);
  // After somebody set the kernel's limit on a device: from now on each device is asked.
  void forget_shared_memory(CUdevice device) noexcept;

 private:
  static constexpr std::size_t remembered_devices = 32;

  std::unique_ptr<parameter_layout> ask_layout() const;
  void add_descriptions(parameter_layout& layout) const;

  const CUkernel kernel_;
  const std::string symbol_;
  const parameter_descriptions from_ptx_;
  std::atomic<const parameter_layout*> layout_{nullptr};
  std::atomic<unsigned> unasked_shared_memory_{0};
  std::atomic<bool> has_limits_of_its_own_{false};
  std::array<std::atomic<unsigned>, remembered_devices> granted_{};
};

}  // namespace halfwarp::core
