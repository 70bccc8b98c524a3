// SPDX-License-Identifier: Apache-2.0
// First-fit reservation of addresses, and mappings of files to them.
#include "emulator/memory/virtual_region.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <iterator>
#include <system_error>

namespace halfwarp::emulator::memory {
namespace {

constexpr int empty_pages = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void make_inaccessible(void* address, std::uint64_t size) noexcept {
  mmap(address, size, PROT_NONE, empty_pages | MAP_FIXED, -1, 0);
}

bool map_file(void* address, std::uint64_t size, int file, int rights) {
  return mmap(address, size, rights, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) != MAP_FAILED;
}

}  // namespace

virtual_region::virtual_region(address base, std::uint64_t bytes) : base_{base}, bytes_{bytes} {
  void* const view = mmap(nullptr, bytes, PROT_NONE, empty_pages, -1, 0);
  if (view == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "view of mapped memory");
  }
  view_offset_ = reinterpret_cast<std::uint64_t>(view) - base;
  gaps_[base] = bytes;
}

virtual_region::~virtual_region() { munmap(view(base_), bytes_); }

address virtual_region::cut(gap_map::iterator gap, address from, std::uint64_t size) {
  const auto [begin, bytes] = *gap;
  const std::uint64_t before = from - begin, remaining = bytes - before - size;
  gaps_.erase(gap);
  if (before) gaps_[begin] = before;
  if (remaining) gaps_[from + size] = remaining;
  return from;
}

std::optional<address> virtual_region::allocate(std::uint64_t size, std::uint64_t alignment,
                                                address hint) {
  if (size > bytes_) return std::nullopt;
  if (contains(hint) && hint % alignment == 0) {
    const auto after = gaps_.upper_bound(hint);
    if (after != gaps_.begin()) {
      const auto gap = std::prev(after);
      if (gap->first + gap->second >= hint + size) return cut(gap, hint, size);
    }
  }
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    const address from = (gap->first + alignment - 1) / alignment * alignment;
    const std::uint64_t skipped = from - gap->first;
    if (skipped < gap->second && gap->second - skipped >= size) return cut(gap, from, size);
  }
  return std::nullopt;
}

void virtual_region::deallocate(address base, std::uint64_t size) {
  auto gap = gaps_.emplace(base, size).first;
  const auto next = std::next(gap);
  if (next != gaps_.end() && base + size == next->first) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap == gaps_.begin()) return;
  const auto previous = std::prev(gap);
  if (previous->first + previous->second == base) {
    previous->second += gap->second;
    gaps_.erase(gap);
  }
}

bool virtual_region::map(address at, std::uint64_t size, int file) {
  return map_file(view(at), size, file, PROT_READ | PROT_WRITE);
}

bool virtual_region::map_to_host(address at, std::uint64_t size, int file, bool is_writable) {
  return map_file(reinterpret_cast<void*>(at), size, file,
                  is_writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

void virtual_region::unmap_from_host(address at, std::uint64_t size) noexcept {
  make_inaccessible(reinterpret_cast<void*>(at), size);
}

void virtual_region::unmap(address at, std::uint64_t size) noexcept {
  make_inaccessible(view(at), size);
  unmap_from_host(at, size);
}

}  // namespace halfwarp::emulator::memory
