// SPDX-License-Identifier: Apache-2.0
// Every address that emulated kernels and copies may use: arenas, allocations, checks of ranges.
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
inline constexpr std::uint64_t alignment = 512;                // of each allocation
inline constexpr std::uint64_t red_zone_bytes = 512;           // at least, on either side
inline constexpr std::uint64_t quarantine_bytes = 256u << 20;  // freed memory kept unused ...
inline constexpr std::size_t quarantine_blocks = 1024;         // ... and at most so many blocks
inline constexpr std::uint64_t window_bytes = 4ull << 30;      // of shared and of local memory

class arena;
class shared_file;
class virtual_region;

inline constexpr int host_access = -1;  // beside the ordinals of devices

// Physical memory that gets an address.
struct mapping_request {
  std::uint64_t size = 0;
  int file = -1;
  std::shared_ptr<void> content;  // what keeps the file open
  bool is_on_device = true;
  int device = 0;
  std::string created_at;
};

struct address_space_options {
  int devices = 1;
  std::uint64_t device_capacity = 2ull << 30;  // bytes per device; beyond it: out of memory
  std::uint64_t seed = 0;                      // of the pattern that fresh memory holds
};

struct allocation_request {
  std::uint64_t size = 0;
  allocation_kind kind = allocation_kind::device;
  int device = 0;
  std::uint64_t alignment = memory::alignment;  // power of two; smaller values are raised to 512
  bool is_read_only = false;
  bool is_internal = false;
  std::uint64_t context = 0, pool = 0, stream = 0;
  std::string name, created_at;
  std::shared_ptr<shared_file> backing;        // null: memory of this process alone
  std::optional<std::uint64_t> imported_from;  // where another process has the bytes in it
};

enum class free_status : std::uint8_t {
  done,
  unknown,        // no allocation, live or remembered, is at that address
  not_the_base,   // inside a live allocation, or an allocation of another kind
  already_freed,  // double free; the record says where it was freed
};

struct free_result {
  free_status status = free_status::unknown;
  std::optional<allocation> record;  // as it was found, for the report
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
  unmapped,       // in no allocation
  out_of_bounds,  // begins in one, or near one, and leaves it
  use_after_free,
  wrong_device,  // belongs to another device without peer access
  host_memory,   // plain host memory that was not pinned or registered
  read_only,
};

struct range_fault {
  range_problem problem = range_problem::unmapped;
  address first_bad = 0;              // first byte of the range that may not be accessed
  std::optional<allocation> nearest;  // closest record, live or freed
};

// Addresses that one device may access without asking again while the generation stays the same.
struct access_range {
  address first = 0, last = 0;    // the end is exclusive
  std::uint64_t view_offset = 0;  // from an address to its byte in this process, modulo 2^64
};

// The 32-bit word that fills fresh memory: a NaN as f16, bf16, f32 and f64, never zero.
std::uint32_t fresh_pattern(std::uint64_t seed, std::uint64_t sequence) noexcept;

// Owner of all arenas. Thread-safe: kernels look up while the host allocates and frees.
class address_space {
 public:
  explicit address_space(const address_space_options& options);
  ~address_space();
  address_space(const address_space&) = delete;  // owns address ranges
  address_space& operator=(const address_space&) = delete;

  int devices() const noexcept { return options_.devices; }
  std::uint64_t seed() const noexcept { return options_.seed; }

  // Nothing when the capacity of the device, or the addresses, are used up, or size is 0.
  std::optional<address> allocate(const allocation_request& request);
  // Releases the allocation that begins at `base`; its addresses stay in quarantine.
  free_result release(address base, const free_site& from = {});
  // Memory of graphs. Addresses without memory behind them, which costs nothing of the capacity;
  // then what is there from time to time, with another content and sequence each time.
  std::optional<address> reserve(const allocation_request& request);
  void activate(address base, bool is_internal, std::uint64_t stream);
  void deactivate(address base, const free_site& from);
  void unreserve(address base);  // the addresses, too
  // The record of such addresses, or of live memory.
  std::optional<allocation> find_reserved_or_live(address at) const;
  // Takes bytes of the capacity of a device, for memory that has no address yet, or of graphs;
  // false when so many are not left.
  bool charge(int device, std::uint64_t bytes);
  void discharge(int device, std::uint64_t bytes);
  // The file behind a live allocation; null for memory of this process alone.
  std::shared_ptr<shared_file> backing_of(address base) const;
  // Makes host memory of the caller accessible to devices; false when it overlaps other memory.
  bool register_host(void* base, std::uint64_t size, int device, std::uint64_t context,
                     std::string site = {});
  free_result unregister_host(void* base);

  // Reserved addresses, whole mappings of memory files there, and who may use them. The ranges have
  // been checked by the caller.
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

  // Pairs of devices: `from` may access allocations of `owner`.
  void set_peer_access(int from, int owner, bool enabled);
  // One allocation (a pool's access settings).
  void set_access(address base, int from, bool enabled);
  // All live allocations of one pool.
  void set_pool_access(std::uint64_t pool, int from, bool enabled);

  // The live allocation that holds this byte.
  std::optional<allocation> find_live(address at) const;
  // The record, live or freed, closest to an address; for reports.
  std::optional<allocation> nearest(address at) const;
  // Whether `bytes` bytes may be accessed from `device`. Zero bytes always may.
  std::optional<range_fault> check(address first, std::uint64_t bytes, int device,
                                   bool is_write) const;
  // The whole live allocation around an address, if `device` may access it so.
  std::optional<access_range> accessible_range(address at, int device, bool is_write) const;

  // Where the host finds the byte behind an address that was checked. The bytes of one allocation
  // are contiguous there too.
  std::byte* view(address at) const noexcept;
  // Device whose arena holds the address, or -1.
  int device_of(address at) const noexcept;
  address device_arena_base(int device) const noexcept;  // reports give addresses relative to it

  int arena_file(int device) const noexcept;  // where offsets from that base are its bytes

  // Never allocated ranges through which generic addresses reach shared and local memory.
  address shared_window() const noexcept { return shared_window_; }
  address local_window() const noexcept { return local_window_; }

  usage device_usage(int device) const;
  void set_device_capacity(int device, std::uint64_t bytes);
  // Live records in order of creation.
  std::vector<allocation> live_allocations() const;

  // Changes whenever an address stops being accessible: what was looked up before is void then.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

 private:
  using record_map = std::map<address, allocation>;
  struct mapped_file {
    std::shared_ptr<void> content;
    int file = -1;
  };

  void forget_unmapped(address first, std::uint64_t bytes);
  template <class Visit>
  void for_each_mapping(address first, std::uint64_t bytes, Visit&& visit) const;

  arena* arena_of(address at) const noexcept;
  std::optional<address> insert(const allocation_request& request, bool is_live);
  bool show_shared(arena& home, allocation& record, address block,
                   const allocation_request& request);
  void hide_shared(arena& home, const allocation& record);
  void fill(const allocation& record) const;
  void put_in_quarantine(allocation& record);
  void set_bit(allocation& record, int from, bool enabled);
  const allocation* at_or_before(address at) const;
  bool is_accessible(address first, std::uint64_t bytes, int device, bool is_write) const;
  std::optional<allocation> nearest_locked(address at) const;
  bool may_access(const allocation& record, int device) const noexcept;
  bool may_write(const allocation& record, int device) const noexcept;
  range_fault describe(address first, std::uint64_t bytes, int device, bool is_write) const;

  address_space_options options_;
  std::vector<std::unique_ptr<arena>> arenas_;  // one per device, then pinned and managed memory
  std::unique_ptr<virtual_region> virtual_;
  std::map<address, mapped_file> contents_;                 // of live mappings
  std::map<address, std::shared_ptr<shared_file>> shared_;  // of live allocations
  std::vector<usage> usage_;                                // per device
  std::vector<std::uint32_t> peers_;  // by owner: bits of the devices with access
  record_map records_;                // live and quarantined
  address reserved_ = 0;              // arenas, then the windows
  std::uint64_t reserved_bytes_ = 0;
  address shared_window_ = 0, local_window_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::atomic<std::uint64_t> generation_{1};
  mutable std::shared_mutex mutex_;
};

}  // namespace halfwarp::emulator::memory
