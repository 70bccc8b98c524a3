// SPDX-License-Identifier: Apache-2.0
// An emulated device: its identity, attributes, primary context and pools.
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "emulator/device/attributes.hpp"

namespace halfwarp::emulator {

class context;
class memory_pool;

inline constexpr const char* device_name = "Emulated CUDA device (CPU)";

CUuuid device_uuid(const architecture& kind, int number) noexcept;

// Guarded by the driver's lock, except for its constant members.
class device {
 public:
  // `number` identifies the device in the machine; `ordinal` counts the visible devices.
  device(int ordinal, int number, const architecture& kind, std::uint64_t memory_bytes,
         int multiprocessors = default_multiprocessors);
  device(const device&) = delete;  // contexts refer to it
  device& operator=(const device&) = delete;

  int ordinal() const noexcept { return ordinal_; }
  int number() const noexcept { return number_; }  // also of the PCI bus
  const architecture& kind() const noexcept { return kind_; }
  const attribute_values& attributes() const noexcept { return attributes_; }
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }
  CUuuid uuid() const noexcept;
  std::string pci_bus_id() const;

  // Memory that graphs allocate: mapped by executable graphs, or cached until it is trimmed.
  // Drivers count both as used and as reserved.
  struct {
    std::uint64_t mapped = 0, cached = 0, used_high = 0, reserved_high = 0;
  } graph_memory;

  std::shared_ptr<context> primary;  // created at the first retain; its handle never changes
  unsigned primary_retains = 0;
  unsigned primary_flags = 0;
  std::shared_ptr<memory_pool> default_pool, default_managed_pool;
  std::shared_ptr<memory_pool> current_pool, current_managed_pool;  // null: the default pool

 private:
  int ordinal_;
  const architecture& kind_;
  attribute_values attributes_;
  std::uint64_t memory_bytes_;
  int number_;
};

}  // namespace halfwarp::emulator
