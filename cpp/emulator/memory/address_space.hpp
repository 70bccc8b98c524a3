// SPDX-License-Identifier: Apache-2.0
// The addresses that emulated kernels and copies may access: arenas, allocations, range checks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "emulator/memory/allocation.hpp"

namespace halfwarp::emulator::memory {

inline constexpr std::uint64_t arena_bytes = 64ull << 30;      // addresses per device
inline constexpr std::uint64_t alignment = 512;                // minimum of an allocation
inline constexpr std::uint64_t red_zone_bytes = 512;           // minimum on either side
inline constexpr std::uint64_t quarantine_bytes = 256u << 20;  // freed memory that stays unused ...
inline constexpr std::size_t quarantine_blocks = 1024;         // ... and its maximum of blocks
inline constexpr std::uint64_t window_bytes = 4ull << 30;      // size of each generic window

class arena;
class shared_file;
class virtual_region;
class written_bytes;

inline constexpr int host_access = -1;  // in place of a device ordinal

// Physical memory to be mapped at an address.
struct mapping_request {
  std::uint64_t size = 0;
  int file = -1;
  std::shared_ptr<void> content;  // owner of the file
  bool is_on_device = true;
  int device = 0;
  std::string created_at;
};

struct address_space_options {
  int devices = 1;
  std::uint64_t device_capacity = 2ull << 30;  // bytes per device
  std::uint64_t seed = 0;                      // selects the pattern of fresh memory
  bool tracks_writes = false;                  // records which bytes were written
  bool varies_red_zones = false;               // by the seed, up to 64 KiB
};

struct allocation_request {
  std::uint64_t size = 0;
  allocation_kind kind = allocation_kind::device;
  int device = 0;
  std::uint64_t alignment = memory::alignment;  // a power of two; at least 512 is used
  bool is_read_only = false;
  bool is_internal = false;
  std::uint64_t context = 0, pool = 0, stream = 0;
  std::string name, created_at;
  std::shared_ptr<shared_file> backing;        // null: private memory of this process
  std::optional<std::uint64_t> imported_from;  // offset of the exporting process in `backing`
};

enum class free_status : std::uint8_t {
  done,
  unknown,        // no live or freed record is at that address
  not_the_base,   // inside a live allocation, or an allocation of another kind
  already_freed,  // double free; the record holds the call site of the first free
};

struct free_result {
  free_status status = free_status::unknown;
  std::optional<allocation> record;  // the state before the call, for the report
};

struct free_site {
  std::uint64_t stream = 0;  // id of the stream of a stream-ordered free
  std::string site;          // call site when traced
};

struct usage {
  std::uint64_t capacity = 0, used = 0, high_water = 0;
  std::size_t live = 0;  // allocations
};

enum class range_problem : std::uint8_t {
  unmapped,       // outside of every allocation
  out_of_bounds,  // extends beyond an allocation, or lies near one
  use_after_free,
  wrong_device,  // belongs to another device without peer access
  host_memory,   // plain host memory that was not pinned or registered
  read_only,
};

struct range_fault {
  range_problem problem = range_problem::unmapped;
  address first_bad = 0;              // first inaccessible byte of the range
  std::optional<allocation> nearest;  // closest record, live or freed
};

// A range that a device may access without another check while the generation is unchanged.
struct access_range {
  address first = 0, last = 0;    // the end is exclusive
  std::uint64_t view_offset = 0;  // from an address to its byte in this process, modulo 2^64
};

// The 32-bit word that fills fresh memory: a NaN as f16, bf16, f32 and f64, and never zero.
std::uint32_t fresh_pattern(std::uint64_t seed, std::uint64_t sequence) noexcept;

// Owns all arenas. Thread-safe: kernels look up allocations while the host allocates and frees.
class address_space {
 public:
  explicit address_space(const address_space_options& options);
  ~address_space();
  address_space(const address_space&) = delete;  // owns address ranges
  address_space& operator=(const address_space&) = delete;

  int devices() const noexcept { return options_.devices; }
  std::uint64_t seed() const noexcept { return options_.seed; }

  // Returns nothing if the size is 0, or the capacity or addresses of the device are exhausted.
  std::optional<address> allocate(const allocation_request& request);
  // Frees the allocation that begins at `base`; its addresses enter the quarantine.
  free_result release(address base, const free_site& from = {});
  // Reserves addresses for graph memory, which are not charged to the device. Each activation fills
  // the memory with a new pattern and assigns a new sequence number.
  std::optional<address> reserve(const allocation_request& request);
  void activate(address base, bool is_internal, std::uint64_t stream);
  void deactivate(address base, const free_site& from);
  void unreserve(address base);  // releases the addresses
  // Returns the record of reserved or live memory.
  std::optional<allocation> find_reserved_or_live(address at) const;
  // Charges bytes to the capacity of a device, for graph memory or memory without an address.
  // Returns false if the capacity is exhausted.
  bool charge(int device, std::uint64_t bytes);
  void discharge(int device, std::uint64_t bytes);
  // Returns the file of a live allocation, or null for private memory of this process.
  std::shared_ptr<shared_file> backing_of(address base) const;
  // Registers host memory of the caller for devices; returns false if it overlaps other memory.
  bool register_host(void* base, std::uint64_t size, int device, std::uint64_t context,
                     std::string site = {});
  free_result unregister_host(void* base);

  // Reserved ranges, the memory files mapped there, and their access rights. The caller has
  // checked the ranges. A mapping is always mapped and unmapped as a whole.
  std::optional<address> reserve_virtual(std::uint64_t size, std::uint64_t alignment, address hint);
  void free_virtual(address base, std::uint64_t size);
  bool has_mapping(address first, std::uint64_t bytes) const;
  bool is_exactly_mapped(address first, std::uint64_t bytes) const;
  bool has_device_mapping(address first, std::uint64_t bytes) const;
  bool map(address at, const mapping_request& request);
  void unmap(address first, std::uint64_t bytes);
  void set_mapping_access(address first, std::uint64_t bytes, int from, mapping_access access);
  mapping_access access_to_mapping(address at, int from) const;
  std::shared_ptr<void> mapped_content(address at) const;

  // Allows or forbids device `from` to access the allocations of device `owner`.
  void set_peer_access(int from, int owner, bool enabled);
  // Sets the access of a device to one allocation of a pool.
  void set_access(address base, int from, bool enabled);
  // Sets the access of a device to all live allocations of a pool.
  void set_pool_access(std::uint64_t pool, int from, bool enabled);

  // Returns the live allocation that contains the byte.
  std::optional<allocation> find_live(address at) const;
  // Returns the record, live or freed, closest to an address; for reports.
  std::optional<allocation> nearest(address at) const;
  // Checks whether `device` may access the bytes. An empty range is always accessible.
  std::optional<range_fault> check(address first, std::uint64_t bytes, int device,
                                   bool is_write) const;
  // Returns the live allocation around an address if `device` may access it.
  std::optional<access_range> accessible_range(address at, int device, bool is_write) const;

  // Returns the host's pointer to a checked address. The bytes of one allocation are contiguous in
  // the host's view.
  std::byte* view(address at) const noexcept;
  // Returns the device whose arena contains the address, or -1.
  int device_of(address at) const noexcept;
  address device_arena_base(int device) const noexcept;  // reports give addresses relative to it

  // Returns the states of the bytes of devices, or null if they are not recorded. Other memory
  // counts as written.
  const written_bytes* states() const noexcept { return states_.get(); }

  int arena_file(int device) const noexcept;  // file offsets are relative to the arena's base

  // Windows, never allocated, through which generic addresses access shared and local memory.
  address shared_window() const noexcept { return shared_window_; }
  address local_window() const noexcept { return local_window_; }

  usage device_usage(int device) const;
  // Returns the live records in order of creation.
  std::vector<allocation> live_allocations() const;

  // Returns the sequence number of the next allocation.
  std::uint64_t next_sequence() const;
  // A number that changes when an address becomes inaccessible; invalidates cached look-ups.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

 private:
  using record_map = std::map<address, allocation>;
  struct mapped_file {
    std::shared_ptr<void> content;
    int file = -1;
  };

  void erase_unmapped(address first, std::uint64_t bytes);
  template <class Visit>
  void for_each_mapping(address first, std::uint64_t bytes, Visit&& visit) const;

  arena* arena_of(address at) const noexcept;
  std::optional<address> insert(const allocation_request& request, bool is_live);
  bool map_shared(arena& home, allocation& record, address block,
                  const allocation_request& request);
  void unmap_shared(arena& home, const allocation& record);
  void fill(const allocation& record) const;
  void reset_states(const allocation& record) const;
  void quarantine(allocation& record);
  void set_bit(allocation& record, int from, bool enabled);
  const allocation* find_at_or_before(address at) const;
  bool is_accessible(address first, std::uint64_t bytes, int device, bool is_write) const;
  std::optional<allocation> nearest_locked(address at) const;
  bool may_access(const allocation& record, int device) const noexcept;
  bool may_write(const allocation& record, int device) const noexcept;
  range_fault describe(address first, std::uint64_t bytes, int device, bool is_write) const;

  address_space_options options_;
  std::vector<std::unique_ptr<arena>> arenas_;  // one per device, then one for host memory
  std::unique_ptr<virtual_region> virtual_;
  std::unique_ptr<written_bytes> states_;                   // null: not recorded
  std::map<address, mapped_file> contents_;                 // files of live mappings
  std::map<address, std::shared_ptr<shared_file>> shared_;  // files of live allocations
  std::vector<usage> usage_;                                // per device
  std::vector<std::uint32_t> peers_;  // by owner: one bit per device with access
  record_map records_;                // live and quarantined
  address reserved_ = 0;              // arenas, then the windows
  std::uint64_t reserved_bytes_ = 0;
  address shared_window_ = 0, local_window_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::atomic<std::uint64_t> generation_{1};
  mutable std::shared_mutex mutex_;
};

}  // namespace halfwarp::emulator::memory
