// SPDX-License-Identifier: Apache-2.0
// DLPack capsules over memory that a Python object owns.
#include "python/dlpack.hpp"

#include <new>

#include "python/lock/interpreter_lock.hpp"

namespace halfwarp::python::dlpack {
namespace {

/// One allocation holds the tensor, its shape and its strides; `owner` is kept alive by it.
template <class Tensor>
struct exported {
  Tensor managed;
  PyObject* owner;
  std::int64_t shape, stride;
};

/// Consumers call this from any thread, with or without the interpreter lock.
template <class Tensor>
void release(Tensor* managed) {
  auto* whole = static_cast<exported<Tensor>*>(managed->context);
  if (Py_IsInitialized()) {  // after the interpreter's end nobody can take the reference back
    const gil_acquire lock;
    Py_DECREF(whole->owner);
  }
  delete whole;
}

/// A consumer renames the capsule that it takes over, so the name says who must release.
template <class Tensor, const char* name>
void drop_unused(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class Tensor, const char* name>
PyObject* make_capsule(PyObject* owner, const tensor& content, std::int64_t size) {
  auto* whole = new (std::nothrow) exported<Tensor>{};
  if (whole == nullptr) return PyErr_NoMemory();
  whole->owner = Py_NewRef(owner);
  whole->shape = size;
  whole->stride = 1;
  whole->managed.content = content;
  whole->managed.content.shape = &whole->shape;
  whole->managed.content.strides = &whole->stride;
  whole->managed.context = whole;
  whole->managed.deleter = release<Tensor>;
  if constexpr (requires { whole->managed.number; }) whole->managed.number = supported_version;
  PyObject* capsule = PyCapsule_New(&whole->managed, name, drop_unused<Tensor, name>);
  if (capsule == nullptr) release(&whole->managed);
  return capsule;
}

}  // namespace

PyObject* export_bytes(PyObject* owner, void* data, std::int64_t size, device where,
                       bool versioned) {
  const tensor content{data, where, 1, {type_code::signed_integer, 8, 1}, nullptr, nullptr, 0};
  return versioned ? make_capsule<versioned_tensor, versioned_capsule_name>(owner, content, size)
                   : make_capsule<managed_tensor, capsule_name>(owner, content, size);
}

}  // namespace halfwarp::python::dlpack
