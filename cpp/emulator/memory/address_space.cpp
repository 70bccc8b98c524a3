// SPDX-License-Identifier: Apache-2.0
// The table of allocations: insertion, release, look-up and checks.
#include "emulator/memory/address_space.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "emulator/memory/arena.hpp"
#include "emulator/memory/page.hpp"
#include "emulator/memory/shared_file.hpp"
#include "emulator/memory/virtual_region.hpp"
#include "emulator/memory/written_bytes.hpp"

namespace halfwarp::emulator::memory {
namespace {

constexpr std::uint64_t filled_bytes = 16u << 20;     // at either end of a large allocation
constexpr std::uint64_t populated_bytes = 1u << 18;   // larger ranges are populated in one call
constexpr std::uint64_t discarded_bytes = 64u << 20;  // larger freed blocks return their pages

// Most processes have no mapping here. Equal runs have equal addresses, and so equal reports.
constexpr address preferred_base = 0x3000'0000'0000;

address reserve_range(std::uint64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const hint = reinterpret_cast<void*>(preferred_base);
  void* base = mmap(hint, bytes, PROT_NONE, flags, -1, 0);
  if (base == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "address range of emulated devices");
  }
  return reinterpret_cast<address>(base);
}

constexpr bool is_counted(allocation_kind kind) { return !is_host_visible(kind); }

// Returns whether the page is mapped in this process, so that the address is host memory.
bool is_mapped(address at) {
  unsigned char residency;
  void* page = reinterpret_cast<void*>(at / page_bytes() * page_bytes());
  return mincore(page, 1, &residency) == 0;
}

// Creates all pages in one call, which is much faster than one fault per page. Kernels without
// support create them on access.
void populate(std::byte* first, std::uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  auto begin = reinterpret_cast<std::uint64_t>(first) / page_bytes() * page_bytes();
  auto end = reinterpret_cast<std::uint64_t>(first) + bytes;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#else
  (void)first, (void)bytes;
#endif
}

std::uint64_t mixed(std::uint64_t value) {  // finalizer of splitmix64
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

// Returns the pages around a range. Shared memory occupies whole pages, the unit of mappings.
arena::block pages_around(address first, std::uint64_t bytes) {
  const std::uint64_t page = page_bytes(), begin = first / page * page;
  return {begin, (first - begin + bytes + page - 1) / page * page};
}

arena::block block_of(const allocation& record) {
  return record.is_shared ? pages_around(record.base, record.size)
                          : arena::block{record.base, record.size};
}

std::uint64_t distance(const allocation& record, address at) {
  if (at < record.base) return record.base - at;
  return at < record.end() ? 0 : at - record.end() + 1;
}

}  // namespace

std::uint32_t fresh_pattern(std::uint64_t seed, std::uint64_t sequence) noexcept {
  std::uint64_t random = mixed(seed * 0x9e3779b97f4a7c15u + sequence);
  return 0x7ff17ff1u | static_cast<std::uint32_t>(random & 0x800e'800eu);
}

address_space::address_space(const address_space_options& options)
    : options_{options}, usage_(options.devices), peers_(options.devices) {
  std::uint64_t arenas = options.devices + 1;
  // Extra space to align the ranges that programs reserve.
  reserved_bytes_ = (arenas + 1) * arena_bytes + granularity + 2 * window_bytes;
  reserved_ = reserve_range(reserved_bytes_);
  for (std::uint64_t i = 0; i < arenas; ++i) {
    bool is_host = i == arenas - 1;
    const auto zones = options.varies_red_zones ? std::optional{options.seed} : std::nullopt;
    const address base = reserved_ + i * arena_bytes;
    arenas_.push_back(std::make_unique<arena>(base, arena_bytes, is_host, zones));
  }
  shared_window_ = reserved_ + arenas * arena_bytes;
  local_window_ = shared_window_ + window_bytes;
  const address behind = local_window_ + window_bytes + granularity - 1;
  virtual_ = std::make_unique<virtual_region>(behind / granularity * granularity, arena_bytes);
  for (usage& device : usage_) device.capacity = options.device_capacity;
  if (options.tracks_writes) {
    states_ = std::make_unique<written_bytes>(reserved_, options.devices * arena_bytes);
  }
}

address_space::~address_space() {
  arenas_.clear();
  virtual_.reset();
  munmap(reinterpret_cast<void*>(reserved_), reserved_bytes_);
}

std::optional<address> address_space::allocate(const allocation_request& request) {
  return insert(request, true);
}

std::optional<address> address_space::reserve(const allocation_request& request) {
  return insert(request, false);
}

std::optional<address> address_space::insert(const allocation_request& request, bool is_live) {
  if (request.size == 0 || request.size > arena_bytes) return std::nullopt;
  std::unique_lock lock{mutex_};
  usage& used = usage_[request.device];
  const bool is_charged = is_live && is_counted(request.kind) && !request.imported_from;
  std::uint64_t charged = is_charged ? request.size : 0;
  if (charged > used.capacity || used.used > used.capacity - charged) return std::nullopt;
  arena& home = is_host_visible(request.kind) ? *arenas_.back() : *arenas_[request.device];
  const std::uint64_t lead = request.imported_from.value_or(0) % page_bytes();
  const bool is_shared = request.backing != nullptr;
  const auto block = is_shared
                         ? home.allocate(pages_around(lead, request.size).size, page_bytes())
                         : home.allocate(request.size, std::max(request.alignment, alignment));
  if (!block) return std::nullopt;
  const std::optional<address> base = *block + lead;

  allocation record;
  record.base = *base;
  record.size = request.size;
  record.kind = request.kind;
  record.is_live = is_live;
  record.is_reserved = !is_live;
  record.is_read_only = request.is_read_only;
  record.is_internal = request.is_internal;
  record.device = request.device;
  record.accessible_from = is_counted(request.kind) ? 1u << request.device : every_device;
  record.sequence = next_sequence_++;
  record.context = request.context;
  record.pool = request.pool;
  record.stream = request.stream;
  record.name = request.name;
  record.created_at = request.created_at;
  if (is_shared && !map_shared(home, record, *block, request)) return std::nullopt;
  used.used += charged;
  used.high_water = std::max(used.high_water, used.used);
  used.live += charged != 0;
  if (is_live && !record.is_imported) fill(record);
  if (is_live) reset_states(record);
  records_.insert_or_assign(*base, std::move(record));
  return base;
}

bool address_space::map_shared(arena& home, allocation& record, address block,
                               const allocation_request& request) {
  record.is_shared = true;
  record.is_imported = request.imported_from.has_value();
  record.file_offset = request.imported_from.value_or(block - home.base());
  const auto pages = block_of(record);
  const std::uint64_t lead = record.base - block;
  if (!home.map_file(pages, request.backing->file(), record.file_offset - lead)) {
    home.map_own_file(pages);
    home.quarantine(pages);
    return false;
  }
  if (!record.is_imported) request.backing->set_entry(record.file_offset, record.sequence);
  shared_[record.base] = request.backing;
  return true;
}

void address_space::unmap_shared(arena& home, const allocation& record) {
  const auto match = shared_.find(record.base);
  if (!record.is_imported) match->second->set_entry(record.file_offset, 0);
  home.map_own_file(block_of(record));
  shared_.erase(match);
}

std::shared_ptr<shared_file> address_space::backing_of(address base) const {
  std::shared_lock lock{mutex_};
  const auto match = shared_.find(base);
  return match == shared_.end() ? nullptr : match->second;
}

void address_space::activate(address base, bool is_internal, std::uint64_t stream) {
  std::unique_lock lock{mutex_};
  allocation& record = records_.at(base);
  record.is_live = true;
  record.is_internal = is_internal;
  record.sequence = next_sequence_++;
  record.stream = stream;
  record.freed_stream = 0;
  record.freed_at.clear();
  fill(record);
  reset_states(record);
}

void address_space::deactivate(address base, const free_site& from) {
  std::unique_lock lock{mutex_};
  allocation& record = records_.at(base);
  if (!record.is_live) return;
  record.is_live = false;
  record.freed_stream = from.stream;
  record.freed_at = from.site;
  generation_.fetch_add(1, std::memory_order_acq_rel);
  fill(record);
}

void address_space::unreserve(address base) {
  std::unique_lock lock{mutex_};
  allocation& record = records_.at(base);
  record.is_live = record.is_reserved = false;
  generation_.fetch_add(1, std::memory_order_acq_rel);
  quarantine(record);
}

std::optional<allocation> address_space::find_reserved_or_live(address at) const {
  std::shared_lock lock{mutex_};
  const allocation* record = find_at_or_before(at);
  bool is_known = record && (record->is_live || record->is_reserved) && record->contains(at, 1);
  return is_known ? std::optional{*record} : std::nullopt;
}

bool address_space::charge(int device, std::uint64_t bytes) {
  std::unique_lock lock{mutex_};
  usage& used = usage_[device];
  if (used.used > used.capacity || bytes > used.capacity - used.used) return false;
  used.used += bytes;
  used.high_water = std::max(used.high_water, used.used);
  return true;
}

void address_space::discharge(int device, std::uint64_t bytes) {
  std::unique_lock lock{mutex_};
  usage_[device].used -= bytes;
}

void address_space::fill(const allocation& record) const {
  std::uint32_t pattern = fresh_pattern(options_.seed, 2 * record.sequence + record.is_live);
  auto fill_range = [&](address first, std::uint64_t bytes) {
    if (bytes >= populated_bytes) populate(view(first), bytes);
    std::fill_n(reinterpret_cast<std::uint32_t*>(view(first)), (bytes + 3) / 4, pattern);
  };
  if (record.size <= 2 * filled_bytes) {
    fill_range(record.base, record.size);
  } else {
    fill_range(record.base, filled_bytes);
    // The last word may reach into the red zone.
    fill_range((record.end() + 3) / 4 * 4 - filled_bytes, filled_bytes);
  }
}

// The emulator, other processes and the loader of modules write without a record.
void address_space::reset_states(const allocation& record) const {
  if (!states_) return;
  const bool is_hidden = record.is_internal && !record.is_reserved;  // an array, not graph memory
  const bool is_written = is_hidden || record.is_shared || record.kind == allocation_kind::variable;
  states_->mark(record.base, record.size, is_written ? written : unwritten);
}

free_result address_space::release(address base, const free_site& from) {
  std::unique_lock lock{mutex_};
  auto match = records_.find(base);
  if (match == records_.end() || match->second.kind == allocation_kind::registered) {
    const allocation* around = find_at_or_before(base);
    if (!around || !around->is_live || !around->contains(base, 1)) return {};
    return {free_status::not_the_base, *around};
  }
  allocation& record = match->second;
  if (!record.is_live) return {free_status::already_freed, record};
  if (record.is_reserved) return {free_status::not_the_base, record};  // see deactivate
  free_result result{free_status::done, record};
  record.is_live = false;
  record.freed_stream = from.stream;
  record.freed_at = from.site;
  generation_.fetch_add(1, std::memory_order_acq_rel);
  if (record.is_shared) unmap_shared(*arena_of(record.base), record);
  if (is_counted(record.kind) && !record.is_imported) {
    usage_[record.device].used -= record.size;
    usage_[record.device].live -= 1;
  }
  quarantine(record);
  return result;
}

void address_space::quarantine(allocation& record) {
  arena& home = *arena_of(record.base);
  if (record.size >= discarded_bytes) {
    home.discard({record.base, record.size});
  } else {
    fill(record);
  }
  home.quarantine(block_of(record));
  while (auto released = home.leave_quarantine()) {
    // The record begins at the block or on its first page.
    const auto first = records_.lower_bound(released->base);
    const bool is_inside =
        first != records_.end() && first->first - released->base < released->size;
    if (is_inside) records_.erase(first);
  }
}

bool address_space::register_host(void* base, std::uint64_t size, int device, std::uint64_t context,
                                  std::string site) {
  address first = reinterpret_cast<address>(base);
  std::unique_lock lock{mutex_};
  if (size == 0 || first + size < first || first - reserved_ < reserved_bytes_) return false;
  auto after = records_.lower_bound(first);
  if (after != records_.end() && after->first < first + size) return false;
  const allocation* before = find_at_or_before(first);
  if (before && before->end() > first) return false;
  allocation record;
  record.base = first;
  record.size = size;
  record.kind = allocation_kind::registered;
  record.device = device;
  record.accessible_from = every_device;
  record.sequence = next_sequence_++;
  record.context = context;
  record.created_at = std::move(site);
  records_.emplace(first, std::move(record));
  return true;
}

free_result address_space::unregister_host(void* base) {
  std::unique_lock lock{mutex_};
  auto match = records_.find(reinterpret_cast<address>(base));
  if (match == records_.end() || match->second.kind != allocation_kind::registered) return {};
  free_result result{free_status::done, match->second};
  records_.erase(match);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  return result;
}

void address_space::set_peer_access(int from, int owner, bool enabled) {
  std::unique_lock lock{mutex_};
  std::uint32_t bit = 1u << from;
  peers_[owner] = enabled ? peers_[owner] | bit : peers_[owner] & ~bit;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

void address_space::set_access(address base, int from, bool enabled) {
  std::unique_lock lock{mutex_};
  auto match = records_.find(base);
  if (match == records_.end()) return;
  set_bit(match->second, from, enabled);
}

void address_space::set_pool_access(std::uint64_t pool, int from, bool enabled) {
  std::unique_lock lock{mutex_};
  for (auto& [base, record] : records_) {
    if (record.pool == pool && record.is_live) set_bit(record, from, enabled);
  }
}

void address_space::set_bit(allocation& record, int from, bool enabled) {
  const std::uint32_t bit = 1u << from;
  if (((record.accessible_from & bit) != 0) == enabled) return;
  record.accessible_from ^= bit;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

const allocation* address_space::find_at_or_before(address at) const {
  auto after = records_.upper_bound(at);
  return after == records_.begin() ? nullptr : &std::prev(after)->second;
}

std::uint64_t address_space::next_sequence() const {
  std::shared_lock lock{mutex_};
  return next_sequence_;
}

std::optional<allocation> address_space::find_live(address at) const {
  std::shared_lock lock{mutex_};
  const allocation* record = find_at_or_before(at);
  if (!record || !record->is_live || !record->contains(at, 1)) return std::nullopt;
  return *record;
}

std::optional<allocation> address_space::nearest(address at) const {
  std::shared_lock lock{mutex_};
  return nearest_locked(at);
}

std::optional<allocation> address_space::nearest_locked(address at) const {
  const allocation* before = find_at_or_before(at);
  auto after = records_.upper_bound(at);
  if (before && before->contains(at, 1)) return *before;
  if (after == records_.end()) return before ? std::optional{*before} : std::nullopt;
  if (!before || distance(after->second, at) < distance(*before, at)) return after->second;
  return *before;
}

bool address_space::may_access(const allocation& record, int device) const noexcept {
  std::uint32_t allowed = record.accessible_from;
  bool is_peered =
      record.kind == allocation_kind::device || record.kind == allocation_kind::variable;
  if (is_peered) allowed |= peers_[record.device];
  return allowed >> device & 1;
}

std::optional<range_fault> address_space::check(address first, std::uint64_t bytes, int device,
                                                bool is_write) const {
  if (bytes == 0) return std::nullopt;
  std::shared_lock lock{mutex_};
  if (is_accessible(first, bytes, device, is_write)) return std::nullopt;
  return describe(first, bytes, device, is_write);
}

// Mappings may be adjacent; other allocations are surrounded by red zones.
bool address_space::is_accessible(address first, std::uint64_t bytes, int device,
                                  bool is_write) const {
  while (true) {
    const allocation* record = find_at_or_before(first);
    const bool is_valid = record && record->is_live && record->contains(first, 1) &&
                          may_access(*record, device) && (!is_write || may_write(*record, device));
    if (!is_valid) return false;
    const std::uint64_t available = record->end() - first;
    if (bytes <= available) return true;
    first += available;
    bytes -= available;
  }
}

bool address_space::may_write(const allocation& record, int device) const noexcept {
  return !record.is_read_only && !(record.read_only_from >> device & 1);
}

std::optional<access_range> address_space::accessible_range(address at, int device,
                                                            bool is_write) const {
  std::shared_lock lock{mutex_};
  const allocation* record = find_at_or_before(at);
  if (!record || !record->is_live || !record->contains(at, 1)) return std::nullopt;
  if (!may_access(*record, device)) return std::nullopt;
  if (is_write && !may_write(*record, device)) return std::nullopt;
  std::uint64_t offset = reinterpret_cast<std::uint64_t>(view(record->base)) - record->base;
  return access_range{record->base, record->end(), offset};
}

range_fault address_space::describe(address first, std::uint64_t bytes, int device,
                                    bool is_write) const {
  range_fault fault;
  const allocation* record = find_at_or_before(first);
  while (record && record->contains(first, 1) && !record->contains(first, bytes) &&
         is_accessible(first, record->end() - first, device, is_write)) {
    const std::uint64_t available = record->end() - first;
    const allocation* next = find_at_or_before(first + available);
    if (next == record) break;  // nothing follows
    first += available;
    bytes -= available;
    record = next;
  }
  fault.first_bad = first;
  if (!record || !record->contains(first, 1)) {
    fault.nearest = nearest_locked(first);
    bool is_ours = first - reserved_ < reserved_bytes_;
    bool is_near = fault.nearest && distance(*fault.nearest, first) <= (1u << 20);
    if (!is_ours && is_mapped(first)) {
      fault.problem = range_problem::host_memory;
    } else if (is_near) {
      fault.problem =
          fault.nearest->is_live ? range_problem::out_of_bounds : range_problem::use_after_free;
    }
    return fault;
  }
  fault.nearest = *record;
  if (!record->is_live) {
    fault.problem = range_problem::use_after_free;
  } else if (!may_access(*record, device)) {
    fault.problem = range_problem::wrong_device;
  } else if (is_write && !may_write(*record, device)) {
    fault.problem = range_problem::read_only;
  } else {
    fault.problem = range_problem::out_of_bounds;
    if (!record->contains(first, bytes)) fault.first_bad = record->end();
  }
  return fault;
}

arena* address_space::arena_of(address at) const noexcept {
  std::uint64_t index = (at - reserved_) / arena_bytes;
  return index < arenas_.size() ? arenas_[index].get() : nullptr;
}

std::byte* address_space::view(address at) const noexcept {
  if (arena* home = arena_of(at)) return home->view(at);
  return virtual_->contains(at) ? virtual_->view(at) : reinterpret_cast<std::byte*>(at);
}

int address_space::device_of(address at) const noexcept {
  std::uint64_t index = (at - reserved_) / arena_bytes;
  if (index < usage_.size()) return static_cast<int>(index);
  if (!virtual_->contains(at)) return -1;
  std::shared_lock lock{mutex_};
  const allocation* record = find_at_or_before(at);
  const bool is_on_device = record && record->kind == allocation_kind::mapped;
  return is_on_device ? record->device : -1;
}

address address_space::device_arena_base(int device) const noexcept {
  return arenas_[device]->base();
}

int address_space::arena_file(int device) const noexcept { return arenas_[device]->file(); }

usage address_space::device_usage(int device) const {
  std::shared_lock lock{mutex_};
  return usage_[device];
}

std::vector<allocation> address_space::live_allocations() const {
  std::shared_lock lock{mutex_};
  std::vector<allocation> live;
  for (const auto& [base, record] : records_) {
    if (record.is_live) live.push_back(record);
  }
  std::sort(live.begin(), live.end(),
            [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
  return live;
}

}  // namespace halfwarp::emulator::memory
