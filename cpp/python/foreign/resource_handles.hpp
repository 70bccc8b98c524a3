// SPDX-License-Identifier: Apache-2.0
// Shared handles of driver objects for C++ code outside of this package, declared in
// `cuda/core/_resource_handles.pxd`. They use only the standard library, so that clients do not
// depend on our object layouts.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace halfwarp::foreign {

// The error of the calling thread's last failed creation.
inline thread_local CUresult last_error = CUDA_SUCCESS;

inline CUresult get_last_error() noexcept { return std::exchange(last_error, CUDA_SUCCESS); }

// Owns a raw handle; the last copy calls `destroy`, which may be null, and releases `owner`.
// Returns an empty handle and records the error if the driver created none.
template <class Raw>
std::shared_ptr<const Raw> own(CUresult code, Raw raw,
                               std::type_identity_t<CUresult (*)(Raw)> destroy,
                               std::shared_ptr<const void> owner) {
  if (code != CUDA_SUCCESS) {
    last_error = code;
    return {};
  }
  return {new Raw{raw}, [destroy, owner = std::move(owner)](const Raw* handle) {
            if (destroy) static_cast<void>(destroy(*handle));
            delete handle;
          }};
}

// Returns a shared reference to a Python object. Needs the GIL.
inline std::shared_ptr<const void> keep(PyObject* owner) {
  Py_INCREF(owner);
  return {owner, [](const void* owner) {
            if (!Py_IsInitialized()) return;
            const PyGILState_STATE state = PyGILState_Ensure();
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(owner)));
            PyGILState_Release(state);
          }};
}

template <class Raw>
Raw as_cu(const std::shared_ptr<const Raw>& handle) noexcept {
  return handle ? *handle : Raw{};
}

template <class Raw>
std::intptr_t as_intptr(const std::shared_ptr<const Raw>& handle) noexcept {
  if constexpr (std::is_pointer_v<Raw>)
    return reinterpret_cast<std::intptr_t>(as_cu(handle));
  else
    return static_cast<std::intptr_t>(as_cu(handle));
}

// Returns the `cuda.bindings.driver` object of a handle: a new reference, or null with an error
// set.
template <class Raw>
PyObject* as_object(const std::shared_ptr<const Raw>& handle, const char* name) {
  PyObject* const module = PyImport_ImportModule("cuda.bindings.driver");
  if (module == nullptr) return nullptr;
  PyObject* const object =
      PyObject_CallMethod(module, name, "K", static_cast<unsigned long long>(as_intptr(handle)));
  Py_DECREF(module);
  return object;
}

}  // namespace halfwarp::foreign
