// SPDX-License-Identifier: Apache-2.0
// The handle that a Python object holds, and the ways to access it.
#pragma once

#include <utility>

#include "core/handle.hpp"
#include "python/lock/sharing.hpp"

namespace halfwarp::python {

// Thrown for an object without a handle; becomes RuntimeError.
struct closed_object {
  const char* class_name;
};

// The class of the objects that hold such handles, for messages.
template <class Handle>
inline constexpr const char* class_name = nullptr;

#ifdef Py_GIL_DISABLED
template <class Handle>
using borrowed = Handle;  // any thread may release last, so each use holds a reference
#else
template <class Handle>
using borrowed = core::handle_use<typename Handle::traits>;
#endif

// A field of a Python object: a handle, or none once the object is closed. Other threads, and
// Python code run before a driver call, may close the object at any time, so the raw value is never
// read directly. A call borrows the handle after converting its arguments, until the driver
// returns; work that outlives the call shares the handle. `owner` is the Python object, whose lock
// guards the field in a free-threaded build.
template <class Handle, class Borrowed = borrowed<Handle>>
class held {
 public:
  constexpr held() noexcept = default;
  held(const held&) = delete;  // a field of one object
  held& operator=(const held&) = delete;
  ~held() { handle_.release(); }

  // Borrows the handle for the time of a call; null if the object is closed.
  [[nodiscard]] Borrowed borrow(PyObject* owner) const noexcept {
    const object_lock lock{owner};
    return Borrowed{handle_};
  }

  // Borrows the handle, or throws closed_object.
  [[nodiscard]] Borrowed borrow_open(PyObject* owner) const {
    Borrowed result = borrow(owner);
    if (!result.is_open()) [[unlikely]]
      throw closed_object{class_name<Handle>};
    return result;
  }

  // Returns a handle that outlives the call; null if the object is closed.
  [[nodiscard]] Handle share(PyObject* owner) const noexcept {
    const object_lock lock{owner};
    return handle_;
  }

  // Returns a handle that outlives the call, or throws closed_object.
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

  // Throws closed_object if the object is closed now, before the call is prepared.
  void check_open(PyObject* owner) const {
    if (!is_open(owner)) [[unlikely]]
      throw closed_object{class_name<Handle>};
  }

  // Releases the handle; calls in progress continue to use it.
  void close(PyObject* owner) noexcept { hold(owner, Handle{}); }

  // Replaces the handle. Releases the old one after the object's lock.
  void hold(PyObject* owner, Handle handle) noexcept {
    {
      const object_lock lock{owner};
      handle_.swap(handle);
    }
    handle.release();
  }

 private:
  Handle handle_;
};

}  // namespace halfwarp::python
