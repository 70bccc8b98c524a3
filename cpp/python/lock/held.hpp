// SPDX-License-Identifier: Apache-2.0
// The handle that an object of Python holds, and the only ways to come by it.
#pragma once

#include <utility>

#include "core/handle.hpp"
#include "python/lock/sharing.hpp"

namespace halfwarp::python {

// Thrown for an object that has no handle any more; becomes RuntimeError.
struct closed_object {
  const char* class_name;
};

// The class of the objects that hold handles of this kind, for messages.
template <class Handle>
inline constexpr const char* class_name = nullptr;

#ifdef Py_GIL_DISABLED
template <class Handle>
using borrowed = Handle;  // any thread may be the last user: each has a share
#else
template <class Handle>
using borrowed = core::handle_use<typename Handle::traits>;
#endif

// A field of a Python object: a handle, or none once the object is closed. Any thread may close the
// object at any time, and so may any code of Python that runs on the way to a driver call. So
// nobody reads the raw value here: a call borrows the handle, after its arguments were converted,
// and keeps what it borrowed until the driver has returned; what goes on after the call takes a
// share. `owner` is the object: where there is no interpreter lock, its own one guards the field.
template <class Handle, class Borrowed = borrowed<Handle>>
class held {
 public:
  constexpr held() noexcept = default;
  held(const held&) = delete;  // a place in one object
  held& operator=(const held&) = delete;
  ~held() { handle_.release(); }

  // For the time of a call; null when the object is closed.
  [[nodiscard]] Borrowed borrow(PyObject* owner) const noexcept {
    const object_lock lock{owner};
    return Borrowed{handle_};
  }

  // The same, or closed_object.
  [[nodiscard]] Borrowed borrow_open(PyObject* owner) const {
    Borrowed result = borrow(owner);
    if (!result.is_open()) [[unlikely]]
      throw closed_object{class_name<Handle>};
    return result;
  }

  // For what goes on after the call; null when the object is closed.
  [[nodiscard]] Handle share(PyObject* owner) const noexcept {
    const object_lock lock{owner};
    return handle_;
  }

  // The same, or closed_object.
  [[nodiscard]] Handle share_open(PyObject* owner) const {
    Handle result = share(owner);
    if (!result.is_open()) [[unlikely]]
      throw closed_object{class_name<Handle>};
    return result;
  }

  [[nodiscard]] bool is_open(PyObject* owner) const noexcept {
    const object_lock lock{owner};
    return handle_.is_open();
  }

  // closed_object unless it is open now: an error that need not wait for the call.
  void check_open(PyObject* owner) const {
    if (!is_open(owner)) [[unlikely]]
      throw closed_object{class_name<Handle>};
  }

  // Gives the handle up; what uses it goes on with it.
  void close(PyObject* owner) noexcept { hold(owner, Handle{}); }

  // What was held before goes after the object's lock was given back.
  void hold(PyObject* owner, Handle given) noexcept {
    {
      const object_lock lock{owner};
      handle_.swap(given);
    }
    given.release();
  }

 private:
  Handle handle_;
};

}  // namespace halfwarp::python
