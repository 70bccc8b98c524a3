// SPDX-License-Identifier: Apache-2.0
// A ring buffer of the process's last launches, for messages of errors that surface later.
#include "python/launch/flight_recorder.hpp"

#include <algorithm>
#include <bit>

namespace halfwarp::python {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Increments the counter and returns its previous value. A single writer needs no atomic increment.
std::uint64_t increment(std::atomic<std::uint64_t>& counter) noexcept {
#ifdef Py_GIL_DISABLED
  return counter.fetch_add(1, relaxed);
#else
  const std::uint64_t previous = counter.load(relaxed);
  counter.store(previous + 1, relaxed);
  return previous;
#endif
}

// Makes the version of an entry odd, which reserves the entry for the caller. Returns false if
// another thread is still writing it after the ring has wrapped around.
bool begin_write(std::atomic<std::uint64_t>& version, std::uint64_t& previous) noexcept {
  previous = version.load(relaxed);
#ifdef Py_GIL_DISABLED
  return previous % 2 == 0 && version.compare_exchange_strong(previous, previous + 1, relaxed);
#else
  version.store(previous + 1, relaxed);
  return true;
#endif
}

constexpr std::uint64_t pack(std::uint64_t low, std::uint64_t high) { return low | high << 32; }
constexpr unsigned low(std::uint64_t word) { return static_cast<unsigned>(word); }
constexpr unsigned high(std::uint64_t word) { return static_cast<unsigned>(word >> 32); }

}  // namespace

void flight_recorder::start(std::size_t entries) {
  const std::size_t size = std::bit_ceil(entries);
  auto created = std::make_unique<ring>(entries, size - 1, std::make_unique<entry[]>(size));
  ring* expected = nullptr;
  if (ring_.compare_exchange_strong(expected, created.get(), std::memory_order_acq_rel))
    created.release();
}

flight_recorder::words flight_recorder::content_of(const CUlaunchConfig& config,
                                                   std::uint32_t kernel,
                                                   std::int32_t device) noexcept {
  // The last word holds the low bits of the thread's identifier and of the device.
  const auto thread = static_cast<std::uint64_t>(PyThread_get_thread_ident());
  return {pack(config.gridDimX, config.gridDimY),
          pack(config.gridDimZ, config.blockDimX),
          pack(config.blockDimY, config.blockDimZ),
          pack(config.sharedMemBytes, kernel),
          std::bit_cast<std::uint64_t>(config.hStream),
          thread << 16 | static_cast<std::uint16_t>(device)};
}

// Compares without a loop, so that the content stays in registers.
bool flight_recorder::is_equal(const entry& last, const words& content) noexcept {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((last.content[I].load(relaxed) == content[I]) && ...);
  }(every_word{});
}

void flight_recorder::store(entry& target, const words& content) noexcept {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (target.content[I].store(content[I], relaxed), ...);
  }(every_word{});
}

void flight_recorder::record(const CUlaunchConfig& config, std::uint32_t kernel,
                             std::int32_t device) noexcept {
  ring* const current = ring_.load(std::memory_order_acquire);
  if (current == nullptr) return;
  const words content = content_of(config, kernel, device);
  const std::uint64_t number = increment(current->launches) + 1;
  const std::uint64_t written = current->written.load(relaxed);
  if (written != 0) {
    entry& last = current->entries[(written - 1) & current->mask];
    if (is_equal(last, content)) {
      increment(last.count);
      return;
    }
  }
  entry& next = current->entries[increment(current->written) & current->mask];
  std::uint64_t version;
  if (!begin_write(next.version, version)) return;
  std::atomic_thread_fence(std::memory_order_release);
  store(next, content);
  next.first.store(number, relaxed);
  next.count.store(1, relaxed);
  next.version.store(version + 2, std::memory_order_release);
}

bool flight_recorder::read_entry(const entry& source, recorded_launch& result) noexcept {
  const std::uint64_t version = source.version.load(std::memory_order_acquire);
  if (version == 0 || version % 2 != 0) return false;
  words content;
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = source.content[i].load(relaxed);
  const std::uint64_t first = source.first.load(relaxed), count = source.count.load(relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (source.version.load(relaxed) != version) return false;
  result = {.number = first + count - 1,
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
  const ring* const current = ring_.load(std::memory_order_acquire);
  if (current == nullptr) return result;
  const std::uint64_t written = current->written.load(std::memory_order_acquire);
  const std::uint64_t count = std::min<std::uint64_t>(written, current->capacity);
  result.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    recorded_launch launch;
    const entry& next = current->entries[(written - 1 - i) & current->mask];
    if (read_entry(next, launch)) result.push_back(launch);
  }
  return result;
}

}  // namespace halfwarp::python
