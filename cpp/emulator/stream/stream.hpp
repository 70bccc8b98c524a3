// SPDX-License-Identifier: Apache-2.0
// A stream: a queue of operations, and the state of its head.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/object/object.hpp"
#include "emulator/stream/launch_attributes.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

class context;
struct stream_capture;

enum class stream_role : std::uint8_t { created, legacy_default, per_thread_default };

// The order in which ready operations run: by priority, then by submission.
struct stream_rank {
  int priority = 0;
  std::uint64_t sequence = 0;
  auto operator<=>(const stream_rank&) const = default;
};

// Guarded by the driver's lock; only the scheduler changes the private members.
class stream : public object {
 public:
  static constexpr object_kind kind_of = object_kind::stream;

  stream(std::shared_ptr<context> owner, stream_role role, unsigned flags, int priority);

  context& owner() const noexcept { return *owner_; }
  const std::shared_ptr<context>& shared_owner() const noexcept { return owner_; }
  stream_role role() const noexcept { return role_; }
  unsigned flags() const noexcept { return flags_; }
  int priority() const noexcept { return priority_; }
  void set_priority(int priority) noexcept { priority_ = priority; }
  bool is_legacy() const noexcept { return role_ == stream_role::legacy_default; }
  // Returns whether this stream and the legacy default stream wait for each other.
  bool is_blocking() const noexcept {
    return !is_legacy() && (flags_ & CU_STREAM_NON_BLOCKING) == 0;
  }

  bool is_idle() const noexcept { return completed_ == enqueued_; }
  std::uint64_t enqueued() const noexcept { return enqueued_; }
  std::uint64_t completed() const noexcept { return completed_; }
  stream_point end() { return {as_shared(), enqueued_}; }
  std::shared_ptr<stream> as_shared() {
    return std::static_pointer_cast<stream>(shared_from_this());
  }
  // Returns the number for reports and allocation records; 0 is the legacy default stream.
  std::uint64_t number() const noexcept { return shown_number.value_or(is_legacy() ? 0 : id()); }

  launch_attributes attributes;               // of launches in this stream
  std::shared_ptr<stream_capture> capturing;  // null: not capturing
  std::optional<std::uint64_t> shown_number;  // of the stream of a graph launch

 private:
  friend class scheduler;

  struct entry {
    std::shared_ptr<operation> work;
    std::vector<stream_point> waits;
    std::uint64_t sequence = 0;  // among all submitted operations
  };
  struct waiter {
    std::shared_ptr<stream> blocked;
    std::uint64_t ticket;
  };
  // The state of the first operation in the queue.
  enum class head_state : std::uint8_t { unexamined, blocked, ready, running };

  std::shared_ptr<context> owner_;
  stream_role role_;
  unsigned flags_;
  int priority_;

  std::deque<entry> queue_;
  head_state head_ = head_state::unexamined;
  bool may_wait_ = false;  // the running head may wait for another operation
  stream_rank rank_;       // while the head is ready
  std::uint64_t enqueued_ = 0, completed_ = 0;
  std::uint64_t stalled_at_ =
      ~std::uint64_t{0};         // value of `completed_` when a throttled caller gave up waiting
  std::uint64_t demanded_ = 0;   // adversarial mode: the ticket that a thread waits for
  unsigned polls_ = 0;           // adversarial mode: queries since the last new operation
  std::vector<waiter> waiters_;  // streams whose head waits for a point of this stream
  std::condition_variable progressed_;
};

inline bool stream_point::is_reached() const noexcept {
  return !stream || stream->completed() >= ticket;
}

}  // namespace halfwarp::emulator
