// SPDX-License-Identifier: Apache-2.0
// The memory file of an arena, first-fit allocation of its addresses, and the quarantine.
#include "emulator/memory/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "emulator/memory/address_space.hpp"
#include "emulator/memory/page.hpp"

namespace halfwarp::emulator::memory {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

[[noreturn]] void fail(const char* subject) {
  throw std::system_error(errno, std::generic_category(), subject);
}

int make_memory_file(std::uint64_t bytes) {
  int file = memfd_create("halfwarp-emulated-memory", MFD_CLOEXEC);
  if (file < 0) fail("memory file of an emulated device");
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  int error = errno;
  close(file);
  errno = error;
  fail("size of an emulated device's memory file");
}

}  // namespace

arena::arena(address base, std::uint64_t bytes, bool is_host_visible,
             std::optional<std::uint64_t> zone_seed)
    : base_{base}, bytes_{bytes}, zone_seed_{zone_seed}, file_{make_memory_file(bytes)} {
  void* address_hint = is_host_visible ? reinterpret_cast<void*>(base) : nullptr;
  int flags = MAP_SHARED | MAP_NORESERVE | (is_host_visible ? MAP_FIXED : 0);
  void* view = mmap(address_hint, bytes, PROT_READ | PROT_WRITE, flags, file_, 0);
  if (view == MAP_FAILED) {
    int error = errno;
    close(file_);
    errno = error;
    fail("mapping of an emulated device's memory");
  }
  view_offset_ = reinterpret_cast<std::uint64_t>(view) - base;
  gaps_[base + red_zone_bytes] = bytes - red_zone_bytes;
}

arena::~arena() {
  munmap(view(base_), bytes_);
  close(file_);
}

std::uint64_t arena::footprint(block of) const noexcept {
  std::uint64_t zones = 1;
  if (zone_seed_) {  // 1 to 128, from a hash of the place
    zones += ((of.base - base_) / alignment + *zone_seed_ + 1) * 0x9e3779b97f4a7c15u >> 57;
  }
  return round_up(of.size, alignment) + zones * red_zone_bytes;
}

std::optional<address> arena::allocate(std::uint64_t size, std::uint64_t alignment_bytes) {
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    auto [begin, bytes] = *gap;
    address base = round_up(begin, alignment_bytes);
    std::uint64_t skipped = base - begin, needed = skipped + footprint({base, size});
    if (needed > bytes) continue;
    gaps_.erase(gap);
    if (skipped) gaps_[begin] = skipped;
    if (needed < bytes) gaps_[begin + needed] = bytes - needed;
    return base;
  }
  return std::nullopt;
}

void arena::quarantine(block freed) {
  quarantine_.push_back(freed);
  quarantined_ += freed.size;
}

std::optional<arena::block> arena::leave_quarantine() {
  bool is_full = quarantine_.size() > quarantine_blocks ||
                 (quarantined_ > quarantine_bytes && quarantine_.size() > 1);
  if (!is_full) return std::nullopt;
  block oldest = quarantine_.front();
  quarantine_.pop_front();
  quarantined_ -= oldest.size;
  auto gap = gaps_.emplace(oldest.base, footprint(oldest)).first;
  auto next = std::next(gap);
  if (next != gaps_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap == gaps_.begin()) return oldest;
  auto previous = std::prev(gap);
  if (previous->first + previous->second == gap->first) {
    previous->second += gap->second;
    gaps_.erase(gap);
  }
  return oldest;
}

bool arena::map_file(block target, int file, std::uint64_t offset) const noexcept {
  const int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
  return mmap(view(target.base), target.size, PROT_READ | PROT_WRITE, flags, file,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

void arena::map_own_file(block target) const noexcept {
  map_file(target, file_, target.base - base_);
}

void arena::discard(block unused) const noexcept {
  const std::uint64_t page = page_bytes();
  address first = round_up(unused.base, page), last = (unused.base + unused.size) / page * page;
  if (first < last) {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first - base_),
              static_cast<off_t>(last - first));
  }
}

}  // namespace halfwarp::emulator::memory
