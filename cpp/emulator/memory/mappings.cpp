// SPDX-License-Identifier: Apache-2.0
// Reserved address ranges, their mappings and access rights.
#include <mutex>

#include "emulator/memory/address_space.hpp"
#include "emulator/memory/virtual_region.hpp"

namespace halfwarp::emulator::memory {

std::optional<address> address_space::reserve_virtual(std::uint64_t size, std::uint64_t alignment,
                                                      address hint) {
  std::unique_lock lock{mutex_};
  const auto at = virtual_->allocate(size, alignment, hint);
  if (at) erase_unmapped(*at, size);
  return at;
}

void address_space::free_virtual(address base, std::uint64_t size) {
  std::unique_lock lock{mutex_};
  virtual_->deallocate(base, size);
}

void address_space::erase_unmapped(address first, std::uint64_t bytes) {
  records_.erase(records_.lower_bound(first), records_.lower_bound(first + bytes));
}

// Visits the live mappings that intersect a range.
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
  bool has_any = false;
  for_each_mapping(first, bytes, [&](const allocation&) { has_any = true; });
  return has_any;
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
  bool has_any = false;
  for_each_mapping(first, bytes, [&](const allocation& each) {
    has_any |= each.kind == allocation_kind::mapped;
  });
  return has_any;
}

bool address_space::map(address at, const mapping_request& request) {
  std::unique_lock lock{mutex_};
  if (!virtual_->map(at, request.size, request.file)) return false;
  erase_unmapped(at, request.size);
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
  std::vector<mapped_file> released;  // destroyed without the lock: releases a device's charge
  std::unique_lock lock{mutex_};
  for_each_mapping(first, bytes, [&](const allocation& each) {
    auto& record = const_cast<allocation&>(each);
    record.is_live = false;
    if (const auto match = contents_.find(each.base); match != contents_.end()) {
      released.push_back(std::move(match->second));
      contents_.erase(match);
    }
  });
  virtual_->unmap(first, bytes);
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

void address_space::set_mapping_access(address first, std::uint64_t bytes, int from,
                                       mapping_access access) {
  std::unique_lock lock{mutex_};
  for_each_mapping(first, bytes, [&](const allocation& each) {
    auto& record = const_cast<allocation&>(each);
    if (from == host_access) {
      const int file = contents_.find(each.base)->second.file;
      record.host_access = access;
      if (access == mapping_access::none) return virtual_->unmap_from_host(each.base, each.size);
      virtual_->map_to_host(each.base, each.size, file, access == mapping_access::read_write);
      return;
    }
    const std::uint32_t bit = 1u << from;
    const auto set = [bit](std::uint32_t& bits, bool is_set) {
      bits = is_set ? bits | bit : bits & ~bit;
    };
    set(record.accessible_from, access != mapping_access::none);
    set(record.read_only_from, access == mapping_access::read);
  });
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

mapping_access address_space::access_to_mapping(address at, int from) const {
  std::shared_lock lock{mutex_};
  mapping_access result = mapping_access::none;
  for_each_mapping(at, 1, [&](const allocation& each) {
    if (from == host_access) {
      result = each.host_access;
    } else if (each.accessible_from >> from & 1) {
      const bool is_read_only = each.read_only_from >> from & 1;
      result = is_read_only ? mapping_access::read : mapping_access::read_write;
    }
  });
  return result;
}

std::shared_ptr<void> address_space::mapped_content(address at) const {
  std::shared_lock lock{mutex_};
  std::shared_ptr<void> result;
  for_each_mapping(
      at, 1, [&](const allocation& each) { result = contents_.find(each.base)->second.content; });
  return result;
}

}  // namespace halfwarp::emulator::memory
