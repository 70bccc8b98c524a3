// SPDX-License-Identifier: Apache-2.0
// C fields of cuda.core objects that C++ reads directly, and their offsets.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "core/graph/graph.hpp"
#include "core/module/kernel.hpp"
#include "core/stream.hpp"
#include "python/lock/held.hpp"
#include "python/lock/initialized.hpp"
#include "python/reference.hpp"

// Each Cython class holds one of the following as its first member: a handle named `native`, or
// plain values named `fields`. All zero bytes mean "closed" or "not initialized", so that an object
// whose
// __cinit__ did not run is rejected like a closed one.
namespace halfwarp::python {

using initialized_kernel = initialized<core::kernel_handle>;

template <>
inline constexpr const char* class_name<core::context_handle> = "Context";
template <>
inline constexpr const char* class_name<core::event_handle> = "Event";
template <>
inline constexpr const char* class_name<core::graph_exec_handle> = "Graph";
template <>
inline constexpr const char* class_name<core::stream_handle> = "Stream";

using borrowed_context = borrowed<core::context_handle>;
using borrowed_event = borrowed<core::event_handle>;
using borrowed_graph_exec = borrowed<core::graph_exec_handle>;
using borrowed_stream = borrowed<core::stream_handle>;

using held_context = held<core::context_handle>;
using held_event = held<core::event_handle>;
using held_stream = held<core::stream_handle>;

struct buffer_fields {
  CUdeviceptr pointer;  // 0 once closed
  std::size_t size;     // in bytes; 0 once closed
  bool is_open;
};

struct view_fields {
  std::uintptr_t pointer;
  std::int32_t device;  // ordinal; -1: host
  bool is_device_accessible;
  const buffer_fields* source;  // fields of the Buffer that the view retains; null: another object
};

struct dimensions {
  unsigned x, y, z;
};

// Launch attributes beyond the three of config_fields. Immutable once a LaunchConfig refers to
// them: a launch holds a reference to their object instead of copying under a lock.
struct further_attributes {
  unsigned count;
  int driver_version;         // first CUDA version that supports all of them
  bool needs_priority_check;  // no context was current when the priority was set
  CUlaunchAttribute values[16];
};

inline constexpr unsigned most_attributes = 3 + 16;  // of a launch

struct config_fields {
  CUlaunchConfig native;  // without valid hStream and attrs
  CUlaunchAttribute attributes[3];
  dimensions grid;     // as passed by the caller: in clusters if `cluster` is set, else in blocks
  dimensions cluster;  // all zero: none
  bool is_cooperative;
  bool programmatic_stream_serialization;
  bool is_device_checked;   // the device current at that time supports it
  bool needs_device_check;  // launch must call check_device_limits()
  bool is_valid;
  bool is_plain;      // valid and without further attributes: the fast path of a launch
  PyObject* further;  // object with further_attributes, or null; retained by the containing object
};

// The class with this kind of fields, set once when the extension is initialized.
template <class Fields>
struct object_class {
  static inline PyTypeObject* type = nullptr;
  static inline Py_ssize_t offset = 0;
};

template <class Fields>
[[nodiscard]] inline Fields& fields_of(PyObject* object) noexcept {
  return *reinterpret_cast<Fields*>(reinterpret_cast<char*>(object) + object_class<Fields>::offset);
}

// Compares one pointer; returns false for subclasses.
template <class Fields>
[[nodiscard]] inline bool is_exactly(PyObject* object) noexcept {
  return Py_TYPE(object) == object_class<Fields>::type;
}

template <class Fields>
[[nodiscard]] inline bool is_instance(PyObject* object) noexcept {
  return is_exactly<Fields>(object) ||
         (object_class<Fields>::type && PyObject_TypeCheck(object, object_class<Fields>::type));
}

// Returns the fields of the Buffer whose memory a kernel argument denotes: the argument itself or
// the source of a view. Returns null for other objects.
[[nodiscard]] inline const buffer_fields* memory_of_argument(PyObject* value) noexcept {
  if (is_instance<buffer_fields>(value)) return &fields_of<buffer_fields>(value);
  return is_instance<view_fields>(value) ? fields_of<view_fields>(value).source : nullptr;
}

// Returns that Buffer, borrowed, or null.
[[nodiscard]] inline PyObject* buffer_of_argument(PyObject* value) noexcept {
  const buffer_fields* const fields = memory_of_argument(value);
  if (fields == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(fields);
  return reinterpret_cast<PyObject*>(address -
                                     static_cast<std::size_t>(object_class<buffer_fields>::offset));
}

// Registers the class of `sample`, a new instance made with __new__, whose fields are at `fields`.
// Returns 0, or -1 with SystemError set if the object's layout is not as C++ expects.
template <class Fields>
int register_class(PyObject* sample, const Fields* fields) noexcept {
  PyTypeObject* type = Py_TYPE(sample);
  const auto* start = reinterpret_cast<const char*>(sample);
  const Py_ssize_t offset = reinterpret_cast<const char*>(fields) - start;
  const Py_ssize_t end = offset + static_cast<Py_ssize_t>(sizeof(Fields));
  if (offset < static_cast<Py_ssize_t>(sizeof(PyObject)) || end > type->tp_basicsize ||
      reinterpret_cast<std::uintptr_t>(fields) % alignof(Fields) != 0) {
    PyErr_Format(PyExc_SystemError, "the fields of %s lie at offset %zd of %zd bytes",
                 type->tp_name, offset, type->tp_basicsize);
    return failed;
  }
  object_class<Fields>::type = type;
  object_class<Fields>::offset = offset;
  return 0;
}

}  // namespace halfwarp::python
