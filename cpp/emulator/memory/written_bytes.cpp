// SPDX-License-Identifier: Apache-2.0
// The mapping of the states, and operations on ranges.
#include "emulator/memory/written_bytes.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "emulator/memory/page.hpp"

namespace halfwarp::emulator::memory {
namespace {

constexpr std::uint64_t discarded_bytes = 1u << 20;  // larger ranges return their pages

}  // namespace

written_bytes::written_bytes(address first, std::uint64_t bytes) : first_{first}, bytes_{bytes} {
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "states of the bytes of devices");
  }
  states_ = static_cast<std::byte*>(base);
}

written_bytes::~written_bytes() { munmap(states_, bytes_); }

void written_bytes::mark(address first, std::uint64_t bytes, std::byte state) const noexcept {
  std::byte* begin = at(first);
  if (!begin) return;
  bytes = std::min(bytes, bytes_ - (first - first_));
  if (state == unwritten && bytes >= discarded_bytes) {
    const auto start = reinterpret_cast<std::uint64_t>(begin), page = page_bytes();
    const std::uint64_t inner = (start + page - 1) / page * page,
                        end = (start + bytes) / page * page;
    madvise(reinterpret_cast<void*>(inner), end - inner, MADV_DONTNEED);
    std::memset(begin, 0, inner - start);
    std::memset(reinterpret_cast<void*>(end), 0, start + bytes - end);
    return;
  }
  std::memset(begin, static_cast<int>(state), bytes);
}

void written_bytes::copy(address to, address from, std::uint64_t bytes) const noexcept {
  if (!contains(from)) return mark(to, bytes, written);
  if (contains(to)) std::memmove(at(to), at(from), bytes);
}

std::vector<written_bytes::run> written_bytes::unwritten_runs(address first, std::uint64_t bytes,
                                                              std::size_t limit) const {
  std::vector<run> runs;
  const std::byte* states = at(first);
  if (!states) return runs;
  const std::byte *position = states, *end = states + bytes;
  while (runs.size() < limit) {
    position = std::find_if(position, end, [](std::byte state) { return state != written; });
    if (position == end) break;
    const std::byte* const next = std::find(position, end, written);
    runs.push_back({static_cast<std::uint64_t>(position - states),
                    static_cast<std::uint64_t>(next - position)});
    position = next;
  }
  return runs;
}

}  // namespace halfwarp::emulator::memory
