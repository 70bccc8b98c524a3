// SPDX-License-Identifier: Apache-2.0
// A pool of memory: what it holds, what it keeps, where it may be used.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "emulator/memory/address_space.hpp"
#include "emulator/memory/shared_file.hpp"
#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

inline constexpr std::uint64_t pool_segment = 2 << 20;  // what a pool takes from its device at once

// Guarded by the driver's lock.
class memory_pool : public object {
 public:
  static constexpr object_kind kind_of = object_kind::memory_pool;

  // `home`: device that the memory is counted for; for host and managed pools the first one.
  // `file`: what its memory lies in, when other processes may have it too.
  memory_pool(const CUmemPoolProps& properties, int home,
              std::shared_ptr<memory::shared_file> file = nullptr, bool is_imported = false);

  const CUmemPoolProps& properties() const noexcept { return properties_; }
  int home() const noexcept { return home_; }
  bool is_device_pool() const noexcept;
  bool is_imported() const noexcept { return is_imported_; }
  const std::shared_ptr<memory::shared_file>& file() const noexcept { return file_; }

  // An address for an allocation in a stream; nothing when the memory is used up.
  std::optional<memory::address> allocate(memory::address_space& space, std::uint64_t bytes,
                                          std::uint64_t context, std::uint64_t stream);
  // An address for what another process allocated there; nothing when none can be had.
  std::optional<memory::address> import(memory::address_space& space, std::uint64_t offset,
                                        std::uint64_t bytes);
  void deallocate(std::uint64_t bytes) noexcept;
  // Gives unused segments back to the device, down to so many bytes.
  void trim(std::uint64_t keep) noexcept;
  // The same at a synchronisation, when the threshold says what may be kept.
  void trim_to_threshold() noexcept { trim(threshold); }

  CUmemAccess_flags access_from(const CUmemLocation& where) const noexcept;
  void set_access(memory::address_space& space, int device, CUmemAccess_flags flags);

  // The attributes, by their names in cuda.h.
  bool follows_event_dependencies = true, allows_opportunistic = true,
       allows_internal_dependencies = true;
  std::uint64_t threshold = 0;
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  std::uint64_t live = 0;  // allocations
  bool is_destroyed = false;
  bool was_exported = false;  // by this process: before it, no memory of the pool is

 private:
  memory::allocation_request request_for(std::uint64_t bytes) const;
  bool has_access_of_its_own() const noexcept;
  void grant_access(memory::address_space& space, memory::address to) const;

  CUmemPoolProps properties_;
  int home_;
  std::shared_ptr<memory::shared_file> file_;
  bool is_imported_;
  std::uint32_t accessible_from_;  // one bit per device
};

}  // namespace halfwarp::emulator
