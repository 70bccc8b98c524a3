// SPDX-License-Identifier: Apache-2.0
// Looks up objects by handle, and describes handles without a live object.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/object/current_call.hpp"
#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

enum class handle_state : std::uint8_t { live, null, destroyed, other_kind, garbage };

// The record of a destroyed object, for reports of a later use.
struct tombstone {
  object_kind kind;
  std::uint64_t id;
  std::string created_at;
  std::string destroyed_by;  // "cuStreamDestroy at file.py:12 on thread 4711"
  moment destroyed = 0;
  bool ended_with_context = false;
};

// Guarded by the driver's lock.
class object_table {
 public:
  template <class T, class... Arguments>
  std::shared_ptr<T> make(Arguments&&... arguments) {
    auto created = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    insert(created);
    return created;
  }

  template <class T, class Raw>
  std::shared_ptr<T> find(Raw raw) const {
    return std::static_pointer_cast<T>(lookup(T::kind_of, reinterpret_cast<std::uint64_t>(raw)));
  }

  handle_state classify(object_kind expected, std::uint64_t raw) const;

  // Marks a live object as owned by the package; does nothing without a live object.
  void mark_library_owned(std::uint64_t raw);

  // Called with an object that is destroyed while another thread is in a call with its handle, the
  // destroying call and that other call. The driver's lock is held.
  std::function<void(const object&, const std::string& by, const std::string& user)> on_conflict;

  // Invalidates the handle; the object is destroyed with its last owner.
  void remove(const object& target) { destroy(target, false); }
  // Invalidates the handles of all objects of a context.
  void remove_context_objects(std::uint64_t context_id);

  // Describes a handle without a live object: its kind, creation and destruction.
  std::string describe(object_kind expected, std::uint64_t raw) const;

  // Returns whether the handle was destroyed after the calling thread's call began.
  bool was_destroyed_during_call(std::uint64_t raw) const;

  // Returns whether the handle was destroyed with its context, by its destruction or a reset.
  bool ended_with_context(std::uint64_t raw) const;

  void for_each(object_kind kind, const std::function<void(const object&)>& visit) const;
  std::size_t count(object_kind kind) const { return slot(kind).live.size(); }

 private:
  struct generation {
    std::unordered_map<std::uint64_t, std::shared_ptr<object>> live;
    std::uint64_t next = 1;
  };
  static constexpr std::size_t max_tombstones = 4096;

  void insert(const std::shared_ptr<object>& created);
  void destroy(const object& target, bool with_context);
  const tombstone* find_tombstone(std::uint64_t raw) const;
  std::shared_ptr<object> lookup(object_kind kind, std::uint64_t raw) const;
  generation& slot(object_kind kind) { return kinds_[static_cast<std::size_t>(kind)]; }
  const generation& slot(object_kind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

  std::array<generation, static_cast<std::size_t>(object_kind::count_)> kinds_;
  std::deque<tombstone> tombstones_;  // oldest first
};

}  // namespace halfwarp::emulator
