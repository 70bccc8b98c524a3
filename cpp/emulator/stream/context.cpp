// SPDX-License-Identifier: Apache-2.0
// The error state, printf buffer and default stream of a context.
#include "emulator/stream/context.hpp"

#include <cstdio>
#include <utility>

#include "emulator/device/device.hpp"

namespace halfwarp::emulator {

context::context(emulator::device& device, unsigned flags, bool is_primary)
    : object{kind_of},
      flags{flags},
      api_version{CUDA_VERSION},
      device_{device},
      is_primary_{is_primary} {
  assign_unique_id();
  limits.fill(0);
  limits[CU_LIMIT_STACK_SIZE] = default_stack_bytes;
  limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
  limits[CU_LIMIT_MALLOC_HEAP_SIZE] = memory::device_heap::default_bytes;
  limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = default_pending_launches;
}

context::context(const std::shared_ptr<context>& primary, const CUdevResource& sm_resource,
                 const CUdevResource& workqueue_resource)
    : object{kind_of, primary->id()},
      flags{primary->flags},
      api_version{primary->api_version},
      limits{primary->limits},
      sm{sm_resource},
      workqueue{workqueue_resource},
      device_{primary->device()},
      is_primary_{false},
      root_{primary} {
  assign_unique_id();
}

int context::multiprocessors() const noexcept {
  if (is_green()) return static_cast<int>(sm.sm.smCount);
  return device_.attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT];
}

void context::fail(const failure& cause) {
  if (!cause.is_sticky) {
    if (unreported_code_ == CUDA_SUCCESS) unreported_code_ = cause.code;
    return;
  }
  int none = CUDA_SUCCESS;  // the first failure wins
  root().sticky_.compare_exchange_strong(none, cause.code, std::memory_order_acq_rel);
  cancel();
}

CUresult context::take_failure() noexcept {
  return is_broken() ? sticky_code() : std::exchange(unreported_code_, CUDA_SUCCESS);
}

void context::repair() noexcept {
  unreported_code_ = CUDA_SUCCESS;
  canceled_.store(false, std::memory_order_release);
  sticky_.store(CUDA_SUCCESS, std::memory_order_release);
}

// Drops the oldest records when the buffer is full, as a device does.
void context::print(std::string_view record) {
  const std::lock_guard lock{print_mutex_};
  prints_.emplace_back(record);
  printed_bytes_ += record.size();
  while (printed_bytes_ > limits[CU_LIMIT_PRINTF_FIFO_SIZE]) {
    printed_bytes_ -= prints_.front().size();
    prints_.pop_front();
  }
}

void context::flush_prints() {
  const std::lock_guard lock{print_mutex_};
  if (prints_.empty()) return;
  for (const auto& record : prints_) std::fwrite(record.data(), 1, record.size(), stdout);
  std::fflush(stdout);
  prints_.clear();
  printed_bytes_ = 0;
}

void context::assign_unique_id() noexcept {
  static constinit std::atomic<std::uint64_t> last_id{0};
  unique_id_ = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

stream& context::legacy() {
  if (!legacy_) {
    legacy_ =
        std::make_shared<stream>(as_shared(), stream_role::legacy_default, CU_STREAM_DEFAULT, 0);
  }
  return *legacy_;
}

}  // namespace halfwarp::emulator
