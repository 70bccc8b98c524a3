// SPDX-License-Identifier: Apache-2.0
// A memory pool: its allocations, cached memory and access rights.
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

inline constexpr std::uint64_t pool_segment = 2 << 20;  // unit of a pool's reserved memory

// Guarded by the driver's lock.
class memory_pool : public object {
 public:
  static constexpr object_kind kind_of = object_kind::memory_pool;

  // `home`: the device whose memory is charged; the first one for host and managed pools.
  // `file`: the file that holds the memory of a shareable pool.
  memory_pool(const CUmemPoolProps& properties, int home,
              std::shared_ptr<memory::shared_file> file = nullptr, bool is_imported = false);

  const CUmemPoolProps& properties() const noexcept { return properties_; }
  int home() const noexcept { return home_; }
  bool is_device_pool() const noexcept;
  bool is_imported() const noexcept { return is_imported_; }
  const std::shared_ptr<memory::shared_file>& file() const noexcept { return file_; }

  // Returns the address of a new allocation, or nothing if the memory is exhausted.
  std::optional<memory::address> allocate(memory::address_space& space, std::uint64_t bytes,
                                          std::uint64_t context, std::uint64_t stream);
  // Returns an address for an allocation of another process, or nothing if there is no space.
  std::optional<memory::address> import(memory::address_space& space, std::uint64_t offset,
                                        std::uint64_t bytes);
  void deallocate(std::uint64_t bytes) noexcept;
  // Releases unused segments to the device until at most `keep` bytes are reserved.
  void trim(std::uint64_t keep) noexcept;
  // Releases unused segments above the release threshold, as a synchronization does.
  void trim_to_threshold() noexcept { trim(threshold); }

  CUmemAccess_flags access_from(const CUmemLocation& location) const noexcept;
  void set_access(memory::address_space& space, int device, CUmemAccess_flags flags);

  // The attributes of cuda.h.
  bool follows_event_dependencies = true, allows_opportunistic = true,
       allows_internal_dependencies = true;
  std::uint64_t threshold = 0;
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  std::uint64_t live = 0;  // allocations
  bool is_destroyed = false;
  bool was_exported = false;  // required before an allocation of the pool can be exported

 private:
  memory::allocation_request request_for(std::uint64_t bytes) const;
  bool has_own_access() const noexcept;
  void grant_access(memory::address_space& space, memory::address base) const;

  CUmemPoolProps properties_;
  int home_;
  std::shared_ptr<memory::shared_file> file_;
  bool is_imported_;
  std::uint32_t accessible_from_;  // one bit per device
};

}  // namespace halfwarp::emulator
