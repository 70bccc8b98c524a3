// SPDX-License-Identifier: Apache-2.0
// Shared handles of driver objects for C++ outside of this package:
// `cuda/core/_resource_handles.pxd` declares them. They are of the standard library alone, so that
// no layout of ours is compiled in.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace halfwarp::foreign {

// What made the last handle of this thread empty.
inline thread_local CUresult last_error = CUDA_SUCCESS;

inline CUresult get_last_error() noexcept { return std::exchange(last_error, CUDA_SUCCESS); }

// Takes a raw handle, and destroys it with `destroy`, which may be null, when the last copy goes.
// `kept` lives as long. Empty, with the error noted, where the driver made none.
template <class Raw>
std::shared_ptr<const Raw> own(CUresult code, Raw raw,
                               std::type_identity_t<CUresult (*)(Raw)> destroy,
                               std::shared_ptr<const void> kept) {
  if (code != CUDA_SUCCESS) {
    last_error = code;
    return {};
  }
  return {new Raw{raw}, [destroy, kept = std::move(kept)](const Raw* of) {
            if (destroy) static_cast<void>(destroy(*of));
            delete of;
          }};
}

// A share of what a Python object owns. The caller holds the interpreter lock.
inline std::shared_ptr<const void> keep(PyObject* owner) {
  Py_INCREF(owner);
  return {owner, [](const void* kept) {
            if (!Py_IsInitialized()) return;
            const PyGILState_STATE state = PyGILState_Ensure();
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(kept)));
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

// The object of `cuda.bindings.driver` for a handle: a new reference, or null with an error set.
template <class Raw>
PyObject* as_object(const std::shared_ptr<const Raw>& handle, const char* name) {
  PyObject* const module = PyImport_ImportModule("cuda.bindings.driver");
  if (module == nullptr) return nullptr;
  PyObject* const made =
      PyObject_CallMethod(module, name, "K", static_cast<unsigned long long>(as_intptr(handle)));
  Py_DECREF(module);
  return made;
}

}  // namespace halfwarp::foreign
