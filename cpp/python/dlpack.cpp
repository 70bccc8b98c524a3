// SPDX-License-Identifier: Apache-2.0
// DLPack capsules over memory that a Python object owns.
#include "python/dlpack.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "python/lock/gil.hpp"

namespace halfwarp::python::dlpack {
namespace {

/// A tensor that retains `owner`, with its extents and strides in the same allocation.
template <class Tensor>
struct exported {
  Tensor managed;
  PyObject* owner;
  std::int64_t numbers[];
};

/// Releases a tensor. Consumers call this from any thread, with or without the GIL.
template <class Tensor>
void release(Tensor* managed) {
  auto* exported_tensor = static_cast<exported<Tensor>*>(managed->context);
  if (Py_IsInitialized()) {  // after the interpreter's end the reference cannot be released
    const gil_acquire lock;
    Py_DECREF(exported_tensor->owner);
  }
  std::free(exported_tensor);
}

/// Releases the tensor of an unconsumed capsule. Consuming a capsule renames it.
template <class Tensor, const char* name>
void release_unconsumed(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class Tensor>
Tensor* create_tensor(PyObject* owner, const tensor& content, std::uint64_t flags) {
  const auto ndim = static_cast<std::size_t>(content.ndim);
  const std::size_t size = sizeof(exported<Tensor>) + 2 * ndim * sizeof(std::int64_t);
  auto* exported_tensor = static_cast<exported<Tensor>*>(std::malloc(size));
  if (exported_tensor == nullptr) {
    PyErr_NoMemory();
    return nullptr;
  }
  exported_tensor->owner = Py_NewRef(owner);
  Tensor& managed = exported_tensor->managed;
  managed.content = content;
  managed.content.shape = exported_tensor->numbers;
  managed.content.strides = ndim == 0 ? nullptr : exported_tensor->numbers + ndim;
  std::copy_n(content.shape, ndim, managed.content.shape);
  std::copy_n(content.strides, ndim, exported_tensor->numbers + ndim);
  managed.context = exported_tensor;
  managed.deleter = release<Tensor>;
  if constexpr (requires { managed.number; }) {
    managed.number = supported_version;
    managed.flags = flags;
  }
  return &managed;
}

template <class Tensor, const char* name>
PyObject* create_capsule(PyObject* owner, const tensor& content, std::uint64_t flags) {
  Tensor* const managed = create_tensor<Tensor>(owner, content, flags);
  if (managed == nullptr) return nullptr;
  PyObject* capsule = PyCapsule_New(managed, name, release_unconsumed<Tensor, name>);
  if (capsule == nullptr) release(managed);
  return capsule;
}

}  // namespace

PyObject* export_tensor(PyObject* owner, const tensor& content, std::uint64_t flags,
                        bool is_versioned) {
  return is_versioned
             ? create_capsule<versioned_tensor, versioned_capsule_name>(owner, content, flags)
             : create_capsule<managed_tensor, capsule_name>(owner, content, flags);
}

versioned_tensor* export_managed(PyObject* owner, const tensor& content, std::uint64_t flags) {
  return create_tensor<versioned_tensor>(owner, content, flags);
}

}  // namespace halfwarp::python::dlpack
