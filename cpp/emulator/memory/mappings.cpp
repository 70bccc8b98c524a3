// SPDX-License-Identifier: Apache-2.0
// The address space: reserved addresses, what is mapped there, and who may use it.
#include <mutex>

#include "emulator/memory/address_space.hpp"
#include "emulator/memory/virtual_region.hpp"

namespace halfwarp::emulator::memory {

std::optional<address> address_space::reserve_virtual(std::uint64_t size, std::uint64_t alignment,
                                                      address hint) {
  std::unique_lock lock{mutex_};
  const auto at = virtual_->take(size, alignment, hint);
  if (at) forget_unmapped(*at, size);
  return at;
}

void address_space::free_virtual(address base, std::uint64_t size) {
  std::unique_lock lock{mutex_};
  virtual_->give_back(base, size);
}

void address_space::forget_unmapped(address first, std::uint64_t bytes) {
  records_.erase(records_.lower_bound(first), records_.lower_bound(first + bytes));
}

// The live mappings that a range touches.
template <class Visit>
void address_space::for_each_mapping(address first, std::uint64_t bytes, Visit&& visit) const {
  if (!virtual_->contains(first)) return;
  auto each = records_.upper_bound(first);
  if (each != records_.begin() && std::prev(each)->second.end() > first) --each;
  for (; each != records_.end() && each->first < first + bytes; ++each) {
    if (each->second.is_live) visit(each->second);
  }
}

bool address_space::has_mapping(address first, std::uint64_t bytes) const {
  std::shared_lock lock{mutex_};
  bool found = false;
  for_each_mapping(first, bytes, [&](const allocation&) { found = true; });
  return found;
}

bool address_space::is_exactly_mapped(address first, std::uint64_t bytes) const {
  std::shared_lock lock{mutex_};
  address next = first;
  bool is_whole = bytes > 0;
  for_each_mapping(first, bytes, [&](const allocation& each) {
    is_whole = is_whole && each.base == next;
    next = each.end();
  });
  return is_whole && next == first + bytes;
}

bool address_space::has_device_mapping(address first, std::uint64_t bytes) const {
  std::shared_lock lock{mutex_};
  bool found = false;
  for_each_mapping(first, bytes,
                   [&](const allocation& each) { found |= each.kind == allocation_kind::mapped; });
  return found;
}

bool address_space::map(address at, const mapping_request& request) {
  std::unique_lock lock{mutex_};
  if (!virtual_->map(at, request.size, request.file)) return false;
  forget_unmapped(at, request.size);
  allocation record;
  record.base = at;
  record.size = request.size;
  record.kind = request.is_on_device ? allocation_kind::mapped : allocation_kind::mapped_host;
  record.device = request.device;
  record.accessible_from = 0;
  record.sequence = next_sequence_++;
  record.created_at = request.created_at;
  records_.insert_or_assign(at, std::move(record));
  contents_[at] = {request.content, request.file};
  return true;
}

void address_space::unmap(address first, std::uint64_t bytes) {
  std::vector<mapped_file> gone;  // goes after the lock: it may be charged to a device
  std::unique_lock lock{mutex_};
  for_each_mapping(first, bytes, [&](const allocation& each) {
    auto& record = const_cast<allocation&>(each);
    record.is_live = false;
    if (const auto found = contents_.find(each.base); found != contents_.end()) {
      gone.push_back(std::move(found->second));
      contents_.erase(found);
    }
  });
  virtual_->unmap(first, bytes);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  lock.unlock();
}

void address_space::set_mapping_access(address first, std::uint64_t bytes, int from,
                                       mapping_access access) {
  std::unique_lock lock{mutex_};
  for_each_mapping(first, bytes, [&](const allocation& each) {
    auto& record = const_cast<allocation&>(each);
    if (from == host_access) {
      const int file = contents_.find(each.base)->second.file;
      record.host_access = access;
      if (access == mapping_access::none) return virtual_->hide_from_host(each.base, each.size);
      virtual_->show_to_host(each.base, each.size, file, access == mapping_access::read_write);
      return;
    }
    const std::uint32_t bit = 1u << from;
    const auto set = [bit](std::uint32_t& bits, bool on) { bits = on ? bits | bit : bits & ~bit; };
    set(record.accessible_from, access != mapping_access::none);
    set(record.read_only_from, access == mapping_access::read);
  });
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

mapping_access address_space::access_to_mapping(address at, int from) const {
  std::shared_lock lock{mutex_};
  mapping_access found = mapping_access::none;
  for_each_mapping(at, 1, [&](const allocation& each) {
    if (from == host_access) {
      found = each.host_access;
    } else if (each.accessible_from >> from & 1) {
      const bool is_read_only = each.read_only_from >> from & 1;
      found = is_read_only ? mapping_access::read : mapping_access::read_write;
    }
  });
  return found;
}

std::shared_ptr<void> address_space::mapped_content(address at) const {
  std::shared_lock lock{mutex_};
  std::shared_ptr<void> found;
  for_each_mapping(
      at, 1, [&](const allocation& each) { found = contents_.find(each.base)->second.content; });
  return found;
}

}  // namespace halfwarp::emulator::memory
