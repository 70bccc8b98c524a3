// SPDX-License-Identifier: Apache-2.0
// Finds the object behind a handle, and says what a handle was that has none.
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

// What is remembered of a destroyed object, for the report of a later use.
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
    auto made = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    insert(made);
    return made;
  }

  template <class T, class Raw>
  std::shared_ptr<T> find(Raw raw) const {
    return std::static_pointer_cast<T>(lookup(T::kind_of, reinterpret_cast<std::uint64_t>(raw)));
  }

  handle_state classify(object_kind expected, std::uint64_t raw) const;

  // A live object that the package made for itself; nothing for a handle that has none.
  void mark_library_owned(std::uint64_t raw);

  // Told of an object that is destroyed while another thread is in a call with its handle, and of
  // that call. Under the driver's lock.
  std::function<void(const object&, const std::string& by, const std::string& user)> on_conflict;

  // Ends the life of a handle; the object goes when its last user does.
  void remove(const object& gone) { bury(gone, false); }
  // The same for everything that dies with a context.
  void remove_context_objects(std::uint64_t context_id);

  // A sentence about a handle that has no live object: what it was, when it was made and destroyed.
  std::string describe(object_kind expected, std::uint64_t raw) const;

  // Whether a destroyed handle was destroyed since the calling thread's call began.
  bool was_destroyed_during_call(std::uint64_t raw) const;

  // Whether a handle had an object until its context was destroyed, reset or released.
  bool ended_with_context(std::uint64_t raw) const;

  void for_each(object_kind kind, const std::function<void(const object&)>& visit) const;
  std::size_t count(object_kind kind) const { return of(kind).live.size(); }

 private:
  struct generation {
    std::unordered_map<std::uint64_t, std::shared_ptr<object>> live;
    std::uint64_t next = 1;
  };
  static constexpr std::size_t remembered = 4096;

  void insert(const std::shared_ptr<object>& made);
  void bury(const object& gone, bool with_context);
  const tombstone* find_grave(std::uint64_t raw) const;
  std::shared_ptr<object> lookup(object_kind kind, std::uint64_t raw) const;
  generation& of(object_kind kind) { return kinds_[static_cast<std::size_t>(kind)]; }
  const generation& of(object_kind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }

  std::array<generation, static_cast<std::size_t>(object_kind::count_)> kinds_;
  std::deque<tombstone> graveyard_;  // the newest last
};

}  // namespace halfwarp::emulator
