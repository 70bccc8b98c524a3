// SPDX-License-Identifier: Apache-2.0
// The attributes of an emulated device.
#pragma once

#include <cuda.h>

#include <array>
#include <optional>
#include <span>

namespace halfwarp::emulator {

inline constexpr int pci_domain = 0xE000;  // used by no real machine

// The values that differ between compute capabilities; sizes are in bytes.
struct architecture {
  int major, minor;
  int threads_per_multiprocessor, blocks_per_multiprocessor;
  int shared_per_multiprocessor, shared_optin, reserved_shared;
  int single_to_double;  // throughput ratio
  int has_clusters;
  int l2_bytes;
};

std::span<const architecture> all_architectures() noexcept;
const architecture* find_architecture(int major, int minor) noexcept;  // null if not emulated

class attribute_values {
 public:
  void set(CUdevice_attribute attribute, int value) { values_[attribute] = value; }
  int operator[](CUdevice_attribute attribute) const { return values_[attribute]; }
  // Returns nothing for a number that cuda.h does not define.
  std::optional<int> find(int attribute) const {
    if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return std::nullopt;
    return values_[attribute];
  }

 private:
  std::array<int, CU_DEVICE_ATTRIBUTE_MAX> values_{};
};

inline constexpr int default_multiprocessors = 4;

attribute_values attributes_of(const architecture& kind, int ordinal,
                               int multiprocessors = default_multiprocessors);

}  // namespace halfwarp::emulator
