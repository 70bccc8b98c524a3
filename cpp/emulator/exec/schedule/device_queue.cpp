// SPDX-License-Identifier: Apache-2.0
#include "emulator/exec/schedule/device_queue.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace halfwarp::emulator::exec {

device_queue::~device_queue() {
  for (const auto& [base, unused] : buffers_) space_.release(base);
  for (const auto& [unused, base] : texts_) space_.release(base);
}

std::optional<memory::address> device_queue::allocate(std::size_t bytes, const char* purpose) {
  memory::allocation_request request;
  request.size = std::max<std::size_t>(bytes, 1);
  request.device = device_;
  request.is_internal = true;
  request.name = purpose;
  return space_.allocate(request);
}

bool device_queue::is_full() {
  const std::lock_guard guard{mutex_};
  return buffers_.size() >= limit_;
}

// The buffers are released with the queue, so that no two launches of a grid use the same
// addresses.
std::optional<memory::address> device_queue::prepare(device_work work, std::size_t bytes) {
  const auto base = allocate(bytes, "parameters of a launch by a kernel");
  if (!base) return std::nullopt;
  const std::lock_guard guard{mutex_};
  buffers_[*base] = {std::move(work), bytes, false};
  return base;
}

std::optional<device_work> device_queue::take(memory::address address) {
  const std::lock_guard guard{mutex_};
  const auto match = buffers_.find(address);
  if (match == buffers_.end() || match->second.is_used) return std::nullopt;
  buffer& taken = match->second;
  taken.is_used = true;
  device_work work = std::move(taken.work);
  const std::byte* const bytes = space_.view(address);
  work.parameters.assign(bytes, bytes + taken.bytes);
  return work;
}

bool device_queue::submit(device_work work) {
  const std::lock_guard guard{mutex_};
  if (work_.size() + tail_.size() >= limit_) return false;
  (work.is_tail ? tail_ : work_).push_back(std::move(work));
  return true;
}

std::optional<memory::address> device_queue::text(const char* characters) {
  const std::lock_guard guard{mutex_};
  if (const auto match = texts_.find(characters); match != texts_.end()) return match->second;
  const auto base = allocate(std::strlen(characters) + 1, "text of an error");
  if (!base) return std::nullopt;
  std::strcpy(reinterpret_cast<char*>(space_.view(*base)), characters);
  return texts_[characters] = *base;
}

std::uint64_t device_queue::new_handle() {
  constexpr std::uint64_t first_handle = 0x100;  // after the constants for streams
  const std::lock_guard guard{mutex_};
  return first_handle + handles_++;
}

void device_queue::set_error(std::uint64_t thread, int error) {
  const std::lock_guard guard{mutex_};
  errors_[thread] = error;
}

int device_queue::error_of(std::uint64_t thread, bool is_cleared) {
  const std::lock_guard guard{mutex_};
  const auto match = errors_.find(thread);
  if (match == errors_.end()) return 0;
  const int error = match->second;
  if (is_cleared) errors_.erase(match);
  return error;
}

std::vector<device_work> device_queue::finish() {
  const std::lock_guard guard{mutex_};
  std::vector<device_work> all = std::move(work_);
  std::ranges::move(tail_, std::back_inserter(all));
  return all;
}

}  // namespace halfwarp::emulator::exec
