// SPDX-License-Identifier: Apache-2.0
// The record of one range of addresses that a program may use.
#pragma once

#include <cstdint>
#include <string>

namespace halfwarp::emulator::memory {

// An address as a kernel sees it; convert it with address_space::view before a dereference.
using address = std::uint64_t;

enum class allocation_kind : std::uint8_t {
  device,       // cuMemAlloc
  pool,         // cuMemAllocAsync, cuMemAllocFromPoolAsync
  variable,     // .global or .const variable of a loaded module
  heap,         // malloc and new in a kernel
  mapped,       // cuMemMap with memory on a device
  pinned,       // cuMemAllocHost, cuMemHostAlloc
  managed,      // cuMemAllocManaged
  mapped_host,  // cuMemMap with memory on the host
  registered,   // cuMemHostRegister: host memory of the caller
};

// Returns true for kinds whose addresses host code may dereference.
constexpr bool is_host_visible(allocation_kind kind) noexcept {
  return kind >= allocation_kind::pinned;
}

inline constexpr std::uint32_t every_device = ~0u;

enum class mapping_access : std::uint8_t { none, read, read_write };

struct allocation {
  address base = 0;
  std::uint64_t size = 0;  // exact, as requested
  allocation_kind kind = allocation_kind::device;
  bool is_live = true;
  bool is_read_only = false;          // for kernels: .const variables
  bool is_internal = false;           // owned by the library and left out of leak reports
  bool is_shared = false;             // backed by a file that several processes map
  bool is_imported = false;           // ... and another process allocated them
  bool is_reserved = false;           // graph memory: the addresses stay reserved without memory
  int device;                         // owner; for host memory the current device at creation
  std::uint32_t accessible_from = 0;  // one bit per device with access
  std::uint32_t read_only_from = 0;   // one bit per device with read access only
  mapping_access host_access = mapping_access::none;  // for mapped memory
  std::uint64_t file_offset = 0;                      // for shared memory
  std::uint64_t sequence = 0;                         // order of creation, never repeats
  std::uint64_t context = 0, pool = 0, stream = 0;    // ids from the caller; 0 means none
  std::uint64_t freed_stream = 0;                     // stream id of a stream-ordered free
  std::string name;                                   // name of a variable, else empty
  std::string created_at, freed_at;                   // call sites when traced, else empty

  constexpr address end() const noexcept { return base + size; }
  constexpr bool contains(address first, std::uint64_t bytes) const noexcept {
    return first >= base && bytes <= size && first - base <= size - bytes;
  }
};

}  // namespace halfwarp::emulator::memory
