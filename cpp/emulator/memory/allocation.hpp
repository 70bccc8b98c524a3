// SPDX-License-Identifier: Apache-2.0
// What the emulator remembers about one range of addresses that a program may use.
#pragma once

#include <cstdint>
#include <string>

namespace halfwarp::emulator::memory {

using address =
    std::uint64_t;  // as a kernel sees it; never dereferenced without address_space::view

enum class allocation_kind : std::uint8_t {
  device,       // cuMemAlloc
  pool,         // cuMemAllocAsync and relatives
  variable,     // .global or .const variable of a loaded module
  mapped,       // cuMemMap, of memory on a device
  pinned,       // cuMemAllocHost, cuMemHostAlloc
  managed,      // cuMemAllocManaged
  mapped_host,  // cuMemMap, of memory on the host
  registered,   // cuMemHostRegister: memory of the caller at the caller's address
};

// True for the kinds whose address host code may dereference.
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
  bool is_read_only = false;  // to kernels: .const variables
  bool is_internal = false;   // owned by the library itself, left out of leak reports
  bool is_shared = false;     // its bytes lie in a file of their own, which processes share
  bool is_imported = false;   // ... and another process allocated them
  bool is_reserved = false;   // of a graph: the addresses stay its own while nothing is there
  int device;                 // owner; of pinned, managed, registered: the current one when made
  std::uint32_t accessible_from = 0;                  // one bit per device that may access it
  std::uint32_t read_only_from = 0;                   // of those, the devices that may only read
  mapping_access host_access = mapping_access::none;  // of mapped memory
  std::uint64_t file_offset = 0;                      // of shared memory
  std::uint64_t sequence = 0;                         // order of creation, never repeats
  std::uint64_t context = 0, pool = 0, stream = 0;    // ids of the caller, 0 = none
  std::uint64_t freed_stream = 0;                     // stream id of a stream-ordered free
  std::string name;                                   // of a variable, else empty
  std::string created_at, freed_at;                   // call sites when traced, else empty

  constexpr address end() const noexcept { return base + size; }
  constexpr bool contains(address first, std::uint64_t bytes) const noexcept {
    return first >= base && bytes <= size && first - base <= size - bytes;
  }
};

}  // namespace halfwarp::emulator::memory
