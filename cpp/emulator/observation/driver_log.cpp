// SPDX-License-Identifier: Apache-2.0
// Formats, numbers and publishes the entries of the driver's log.
#include "emulator/observation/driver_log.hpp"

#include <pthread.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <new>
#include <utility>
#include <vector>

namespace halfwarp::emulator {
namespace {

// "[12:46:23.854][137216133754880][CUDA][E] "
std::string line_prefix() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "[%02d:%02d:%02d.%03ld][%lu][CUDA][E] ", local.tm_hour,
                local.tm_min, local.tm_sec, now.tv_nsec / 1'000'000, pthread_self());
  return text.data();
}

}  // namespace

void driver_log::write(std::string_view function, CUresult code, std::string_view name,
                       std::string_view reason) noexcept {
  try {
    const std::string start = line_prefix();
    std::vector<std::string> lines;
    if (!reason.empty()) lines.push_back(start + std::string{reason});
    lines.push_back(start + "Returning " + std::to_string(static_cast<int>(code)) + " (" +
                    std::string{name} + ") from " + std::string{function});
    std::vector<listener> listeners;
    {
      const std::lock_guard lock{mutex_};
      for (const auto& line : lines) append(line);
      for (const auto& [number, each] : listeners_) listeners.push_back(each);
    }
    for (const auto& each : listeners) {
      for (auto& line : lines) {
        each.callback(each.data, CU_LOG_LEVEL_ERROR, line.data(), line.size());
      }
    }
  } catch (const std::bad_alloc&) {
    return;  // the call has failed already; a lost log entry is acceptable
  }
}

void driver_log::append(std::string line) {
  lines_.push_back(std::move(line));
  if (lines_.size() <= capacity) return;
  lines_.pop_front();
  ++first_;
}

std::uint32_t driver_log::end() const {
  const std::lock_guard lock{mutex_};
  return first_ + static_cast<std::uint32_t>(lines_.size());
}

std::string driver_log::text(std::uint32_t first_line, std::uint32_t& end_line) const {
  const std::lock_guard lock{mutex_};
  std::string all;
  std::uint32_t number = first_;
  for (const auto& line : lines_) {
    if (number++ >= first_line) all += line + "\n";
  }
  end_line = number;
  return all;
}

CUlogsCallbackHandle driver_log::add(CUlogsCallback callback, void* data) {
  const std::lock_guard lock{mutex_};
  listeners_[next_listener_] = {callback, data};
  return reinterpret_cast<CUlogsCallbackHandle>(next_listener_++);
}

bool driver_log::remove(CUlogsCallbackHandle callback) {
  const std::lock_guard lock{mutex_};
  return listeners_.erase(reinterpret_cast<std::uint64_t>(callback)) != 0;
}

driver_log& the_log() noexcept {
  static auto* const log = new driver_log;
  return *log;
}

}  // namespace halfwarp::emulator
