// SPDX-License-Identifier: Apache-2.0
// Joins ranks: publishes the rank, waits for the others, checks what they published.
#include "emulated_nccl/communicator/joining.hpp"

#include <unistd.h>

#include <thread>

#include "emulated_nccl/process/driver.hpp"
#include "emulated_nccl/process/errors.hpp"

namespace halfwarp::emulated_nccl {
namespace {

constexpr std::chrono::microseconds poll_interval{200};

std::int64_t identity_of(int device) {
  int bus = 0, domain = 0;
  driver()->read_attribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device);
  driver()->read_attribute(&domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, device);
  return std::int64_t{domain} << 32 | bus;
}

}  // namespace

result prepare(communicator& target) {
  auto code =
      check(driver()->retain_context(&target.context, target.device), "cuDevicePrimaryCtxRetain");
  if (code != result::success) return code;
  const context_scope scope{target.context};
  if (scope.code() != result::success) return scope.code();
  code = check(driver()->create_event(&target.last_operation, CU_EVENT_DISABLE_TIMING),
               "cuEventCreate");
  if (code == result::success) driver()->own(target.last_operation);
  return code;
}

joining::joining(communicator& target)
    : target_{target}, stage_{stage::attach}, begun_{std::chrono::steady_clock::now()} {}

joining::joining(communicator& target, communicator_ref parent, int color, int key)
    : target_{target},
      parent_{std::move(parent)},
      color_{color},
      key_{key},
      stage_{stage::post},
      begun_{std::chrono::steady_clock::now()} {}

std::optional<result> joining::step() {
  const std::lock_guard guard{mutex_};
  if (stage_ == stage::complete) return result_;
  if (target_.is_aborted) return end(result::invalid_usage);
  return advance();
}

result joining::complete() {
  for (;;) {
    if (const auto code = step()) return *code;
    std::this_thread::sleep_for(poll_interval);
  }
}

std::optional<result> joining::advance() {
  if (stage_ == stage::post) post();
  if (stage_ == stage::collect) {
    if (const auto code = collect()) return end(*code);
  }
  if (stage_ == stage::attach) {
    if (const auto code = attach()) return end(*code);
  }
  if (stage_ == stage::wait) {
    if (const auto code = wait()) return end(*code);
  }
  return {};
}

result joining::end(result code) {
  if (code != result::success) {
    target_.set_error(code, last_error());
    if (target_.shared) {
      target_.shared->set_error(code, last_error());
      target_.shared->unlink();
    }
  }
  result_ = code;
  stage_ = stage::complete;
  parent_ = nullptr;
  return code;
}

// Returns an error if a process has ended, or the limit is reached. A rank that has ended after the
// absent one arrived is no error, so the absence is checked again.
template <class Absence>
std::optional<result> joining::check_absent(const segment& ranks, int rank, const char* phase,
                                            Absence&& is_absent) const {
  const bool has_left = ranks.rank(rank).state.load() > presence::joined;
  for (int i = 0; i < ranks.ranks(); ++i) {
    const bool is_gone = i == rank ? has_left || ranks.is_dead(i) : ranks.is_dead(i);
    if (!is_gone || !is_absent()) continue;
    return failf(result::remote_error, "%s: rank %d has left, or its process has ended:%s", phase,
                 i, ranks.describe_all().c_str());
  }
  const auto limit = driver()->limit();
  if (std::chrono::steady_clock::now() - begun_ < std::chrono::seconds{limit}) return {};
  return failf(result::timeout, "%s: not all ranks called it within %u s (option nccl_limit):%s",
               phase, limit, ranks.describe_all().c_str());
}

// Writes the values into the half that the previous exchange does not use.
void joining::post() {
  const auto& shared = *parent_->shared;
  auto& own = shared.rank(parent_->rank);
  split_ = own.posted.load();
  own.values[split_ % 2][0] = color_;
  own.values[split_ % 2][1] = key_;
  own.posted.store(split_ + 1);
  shared.ring();
  stage_ = stage::collect;
}

std::optional<result> joining::collect() {
  const auto& shared = *parent_->shared;
  const auto& own = shared.rank(parent_->rank).values[split_ % 2];
  int before = 0, members = 0;
  for (int i = 0; i < shared.ranks(); ++i) {
    const auto& entry = shared.rank(i);
    const auto is_absent = [&] { return entry.posted.load() <= split_; };
    if (is_absent()) return check_absent(shared, i, "ncclCommSplit", is_absent);
    const auto& values = entry.values[split_ % 2];
    if (values[0] != color_) continue;
    ++members;
    before += values[1] < own[1] || (values[1] == own[1] && i < parent_->rank);
  }
  if (color_ < 0) return result::success;
  target_.rank = before;
  target_.ranks = members;
  target_.name = parent_->name.child(split_, static_cast<std::uint64_t>(color_));
  stage_ = stage::attach;
  return {};
}

std::optional<result> joining::attach() {
  std::shared_ptr<segment> shared;
  switch (segment::attach(target_.name, target_.ranks, shared)) {
    case segment::attachment::not_ready:
      if (std::chrono::steady_clock::now() - begun_ < std::chrono::seconds{driver()->limit()}) {
        return {};
      }
      return failf(result::timeout, "no process initialized %s", target_.name.path().c_str());
    case segment::attachment::failed:
      return result::invalid_usage;
    case segment::attachment::attached:
      break;
  }
  auto& own = shared->rank(target_.rank);
  auto absent = presence::absent;
  if (!own.state.compare_exchange_strong(absent, presence::joining)) {
    return failf(result::invalid_usage, "two processes or threads joined as rank %d", target_.rank);
  }
  own.current = {};
  own.process = getpid();
  own.started = driver()->process_start(getpid());
  own.device = identity_of(target_.device);
  own.state.store(presence::joined);
  target_.shared = shared;
  if (shared->header().joined.fetch_add(1) + 1 == target_.ranks) shared->unlink();
  shared->ring();
  stage_ = stage::wait;
  return {};
}

std::optional<result> joining::wait() {
  const auto& shared = *target_.shared;
  if (shared.error() != result::success) {
    record_error(shared.header().error_text);
    return shared.error();
  }
  for (int i = 0; i < target_.ranks; ++i) {
    const auto is_absent = [&] { return shared.rank(i).state.load() < presence::joined; };
    if (is_absent()) return check_absent(shared, i, "initialization", is_absent);
  }
  return check_devices();
}

result joining::check_devices() const {
  const auto& shared = *target_.shared;
  for (int second = 1; second < target_.ranks; ++second) {
    for (int first = 0; first < second; ++first) {
      if (shared.rank(first).device != shared.rank(second).device) continue;
      return failf(result::invalid_usage,
                   "ranks %d and %d use the same device; select one device for each rank, of "
                   "`halfwarp emulate exec --devices %d`",
                   first, second, target_.ranks);
    }
  }
  return result::success;
}

}  // namespace halfwarp::emulated_nccl
