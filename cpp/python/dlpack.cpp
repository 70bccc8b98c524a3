// SPDX-License-Identifier: Apache-2.0
// DLPack capsules over memory that a Python object owns.
#include "python/dlpack.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "python/lock/interpreter_lock.hpp"

namespace halfwarp::python::dlpack {
namespace {

/// The tensor; one allocation holds it with its extents and strides, and it keeps `owner` alive.
template <class Tensor>
struct exported {
  Tensor managed;
  PyObject* owner;
  std::int64_t numbers[];
};

/// Consumers call this from any thread, with or without the interpreter lock.
template <class Tensor>
void release(Tensor* managed) {
  auto* whole = static_cast<exported<Tensor>*>(managed->context);
  if (Py_IsInitialized()) {  // after the interpreter's end nobody can take the reference back
    const gil_acquire lock;
    Py_DECREF(whole->owner);
  }
  std::free(whole);
}

/// A consumer renames the capsule that it takes over, so the name says who must release.
template <class Tensor, const char* name>
void drop_unused(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class Tensor>
Tensor* make(PyObject* owner, const tensor& content, std::uint64_t flags) {
  const auto ndim = static_cast<std::size_t>(content.ndim);
  const std::size_t size = sizeof(exported<Tensor>) + 2 * ndim * sizeof(std::int64_t);
  auto* whole = static_cast<exported<Tensor>*>(std::malloc(size));
  if (whole == nullptr) {
    PyErr_NoMemory();
    return nullptr;
  }
  whole->owner = Py_NewRef(owner);
  Tensor& managed = whole->managed;
  managed.content = content;
  managed.content.shape = whole->numbers;
  managed.content.strides = ndim == 0 ? nullptr : whole->numbers + ndim;
  std::copy_n(content.shape, ndim, managed.content.shape);
  std::copy_n(content.strides, ndim, whole->numbers + ndim);
  managed.context = whole;
  managed.deleter = release<Tensor>;
  if constexpr (requires { managed.number; }) {
    managed.number = supported_version;
    managed.flags = flags;
  }
  return &managed;
}

template <class Tensor, const char* name>
PyObject* make_capsule(PyObject* owner, const tensor& content, std::uint64_t flags) {
  Tensor* const managed = make<Tensor>(owner, content, flags);
  if (managed == nullptr) return nullptr;
  PyObject* capsule = PyCapsule_New(managed, name, drop_unused<Tensor, name>);
  if (capsule == nullptr) release(managed);
  return capsule;
}

}  // namespace

PyObject* export_tensor(PyObject* owner, const tensor& content, std::uint64_t flags,
                        bool is_versioned) {
  return is_versioned
             ? make_capsule<versioned_tensor, versioned_capsule_name>(owner, content, flags)
             : make_capsule<managed_tensor, capsule_name>(owner, content, flags);
}

versioned_tensor* export_managed(PyObject* owner, const tensor& content, std::uint64_t flags) {
  return make<versioned_tensor>(owner, content, flags);
}

}  // namespace halfwarp::python::dlpack
