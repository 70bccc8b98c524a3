// SPDX-License-Identifier: Apache-2.0
// A ring of the last launches of the process, for the message of an error that comes later.
#include "python/launch/flight_recorder.hpp"

#include <algorithm>
#include <bit>

namespace halfwarp::python {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Adds one and returns the value before. One writer at a time needs no locked instruction.
std::uint64_t count_up(std::atomic<std::uint64_t>& counter) noexcept {
#ifdef Py_GIL_DISABLED
  return counter.fetch_add(1, relaxed);
#else
  const std::uint64_t before = counter.load(relaxed);
  counter.store(before + 1, relaxed);
  return before;
#endif
}

// Makes the version of an entry odd: the entry is the caller's. False where another thread, which
// was overtaken by a whole round of the ring, is writing it.
bool take(std::atomic<std::uint64_t>& version, std::uint64_t& before) noexcept {
  before = version.load(relaxed);
#ifdef Py_GIL_DISABLED
  return before % 2 == 0 && version.compare_exchange_strong(before, before + 1, relaxed);
#else
  version.store(before + 1, relaxed);
  return true;
#endif
}

constexpr std::uint64_t join(std::uint64_t low, std::uint64_t high) { return low | high << 32; }
constexpr unsigned low(std::uint64_t word) { return static_cast<unsigned>(word); }
constexpr unsigned high(std::uint64_t word) { return static_cast<unsigned>(word >> 32); }

}  // namespace

void flight_recorder::start(std::size_t entries) {
  const std::size_t size = std::bit_ceil(entries);
  auto made = std::make_unique<ring>(entries, size - 1, std::make_unique<entry[]>(size));
  ring* none = nullptr;
  if (ring_.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) made.release();
}

flight_recorder::words flight_recorder::content_of(const CUlaunchConfig& config,
                                                   std::uint32_t kernel,
                                                   std::int32_t device) noexcept {
  // A thread is told by 32 bits of its identifier and the device by what is left.
  const auto thread = static_cast<std::uint64_t>(PyThread_get_thread_ident());
  return {join(config.gridDimX, config.gridDimY),
          join(config.gridDimZ, config.blockDimX),
          join(config.blockDimY, config.blockDimZ),
          join(config.sharedMemBytes, kernel),
          std::bit_cast<std::uint64_t>(config.hStream),
          thread << 16 | static_cast<std::uint16_t>(device)};
}

// Word by word without a loop, so that the content stays in registers.
bool flight_recorder::is_equal(const entry& last, const words& content) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((last.content[I].load(relaxed) == content[I]) && ...);
  }(every_word{});
}

void flight_recorder::store(entry& into, const words& content) noexcept {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (into.content[I].store(content[I], relaxed), ...);
  }(every_word{});
}

void flight_recorder::record(const CUlaunchConfig& config, std::uint32_t kernel,
                             std::int32_t device) noexcept {
  ring* const into = ring_.load(std::memory_order_acquire);
  if (into == nullptr) return;
  const words content = content_of(config, kernel, device);
  const std::uint64_t number = count_up(into->launches) + 1;
  const std::uint64_t written = into->written.load(relaxed);
  if (written != 0) {
    entry& last = into->entries[(written - 1) & into->mask];
    if (is_equal(last, content)) {
      count_up(last.count);
      return;
    }
  }
  entry& next = into->entries[count_up(into->written) & into->mask];
  std::uint64_t version;
  if (!take(next.version, version)) return;
  std::atomic_thread_fence(std::memory_order_release);
  store(next, content);
  next.first.store(number, relaxed);
  next.count.store(1, relaxed);
  next.version.store(version + 2, std::memory_order_release);
}

bool flight_recorder::read_entry(const entry& from, recorded_launch& found) noexcept {
  const std::uint64_t version = from.version.load(std::memory_order_acquire);
  if (version == 0 || version % 2 != 0) return false;
  words content;
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = from.content[i].load(relaxed);
  const std::uint64_t first = from.first.load(relaxed), count = from.count.load(relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (from.version.load(relaxed) != version) return false;
  found = {.number = first + count - 1,
           .count = count,
           .kernel = high(content[3]),
           .grid = {low(content[0]), high(content[0]), low(content[1])},
           .block = {high(content[1]), low(content[2]), high(content[2])},
           .shared_memory = low(content[3]),
           .stream = std::bit_cast<CUstream>(content[4]),
           .device = static_cast<std::int16_t>(content[5]),
           .thread = static_cast<unsigned long>(content[5] >> 16)};
  return true;
}

std::vector<recorded_launch> flight_recorder::read() const {
  std::vector<recorded_launch> result;
  const ring* const from = ring_.load(std::memory_order_acquire);
  if (from == nullptr) return result;
  const std::uint64_t written = from->written.load(std::memory_order_acquire);
  const std::uint64_t kept = std::min<std::uint64_t>(written, from->capacity);
  result.reserve(kept);
  for (std::uint64_t i = 0; i < kept; ++i) {
    recorded_launch found;
    const entry& next = from->entries[(written - 1 - i) & from->mask];
    if (read_entry(next, found)) result.push_back(found);
  }
  return result;
}

}  // namespace halfwarp::python
