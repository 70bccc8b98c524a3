// SPDX-License-Identifier: Apache-2.0
// The identity of an emulated device.
#include "emulator/device/device.hpp"

#include <cstdio>
#include <cstring>

namespace halfwarp::emulator {

device::device(int ordinal, const architecture& kind, std::uint64_t memory_bytes,
               int multiprocessors)
    : ordinal_{ordinal},
      kind_{kind},
      attributes_{attributes_of(kind, ordinal, multiprocessors)},
      memory_bytes_{memory_bytes} {}

CUuuid device::uuid() const noexcept {
  CUuuid id{};
  std::memcpy(id.bytes, "EMULATED", 8);
  id.bytes[8] = static_cast<char>(kind_.major);
  id.bytes[9] = static_cast<char>(kind_.minor);
  id.bytes[15] = static_cast<char>(ordinal_);
  return id;
}

std::string device::pci_bus_id() const {
  char text[24];
  std::snprintf(text, sizeof text, "%04X:%02X:00.0", pci_domain, ordinal_);
  return text;
}

}  // namespace halfwarp::emulator
