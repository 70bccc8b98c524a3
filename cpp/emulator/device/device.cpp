// SPDX-License-Identifier: Apache-2.0
// The identity of an emulated device.
#include "emulator/device/device.hpp"

#include <cstdio>
#include <cstring>

namespace halfwarp::emulator {

CUuuid device_uuid(const architecture& kind, int number) noexcept {
  CUuuid id{};
  std::memcpy(id.bytes, "EMULATED", 8);
  id.bytes[8] = static_cast<char>(kind.major);
  id.bytes[9] = static_cast<char>(kind.minor);
  id.bytes[15] = static_cast<char>(number);
  return id;
}

device::device(int ordinal, int number, const architecture& kind, std::uint64_t memory_bytes,
               int multiprocessors)
    : ordinal_{ordinal},
      kind_{kind},
      attributes_{attributes_of(kind, number, multiprocessors)},
      memory_bytes_{memory_bytes},
      number_{number} {}

CUuuid device::uuid() const noexcept { return device_uuid(kind_, number_); }

std::string device::pci_bus_id() const {
  char text[24];
  std::snprintf(text, sizeof text, "%04X:%02X:00.0", pci_domain, number_);
  return text;
}

}  // namespace halfwarp::emulator
