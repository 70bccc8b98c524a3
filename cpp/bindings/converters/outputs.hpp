// SPDX-License-Identifier: Apache-2.0
// Converters of outputs, one per kind: `prepare` before the call, the result object after it.
#pragma once

#include <cstring>

#include "bindings/converters/attributes.hpp"
#include "bindings/converters/inputs.hpp"
#include "bindings/converters/lists/output_lists.hpp"
#include "bindings/objects/enum_type.hpp"

namespace halfwarp::bindings {

// Converts a number that the call wrote into a cell of the frame.
inline PyObject* number_from(kind k, word value) {
  switch (k) {
    case kind::i32:
      return PyLong_FromLong(std::int32_t(value));
    case kind::u32:
      return PyLong_FromUnsignedLong(std::uint32_t(value));
    case kind::i64:
      return PyLong_FromLongLong(std::int64_t(value));
    case kind::u64:
      return PyLong_FromUnsignedLongLong(value);
    case kind::f32: {
      float narrow;
      std::memcpy(&narrow, &value, sizeof narrow);
      return PyFloat_FromDouble(narrow);
    }
    default: {
      double wide;
      std::memcpy(&wide, &value, sizeof wide);
      return PyFloat_FromDouble(wide);
    }
  }
}

constexpr kind number_kind(kind output) {
  return kind(int(kind::i32) + int(output) - int(kind::out_i32));
}

template <kind K>
  requires(K >= kind::out_i32 && K <= kind::out_f64)
struct parameter<K> {
  static bool prepare(auto& c, int i, const param&) {
    c.add_output();
    return c.point_to_cell(i);
  }
  static PyObject* result(auto& c, int i, const param&, int) {
    return number_from(number_kind(K), c.cell[i]);
  }
};

template <>
struct parameter<kind::out_enumeration> {
  static bool prepare(auto& c, int i, const param&) {
    c.add_output();
    return c.point_to_cell(i);
  }
  static PyObject* result(auto& c, int i, const param& p, int) {
    return enum_member(c.lib, p.type, std::int32_t(c.cell[i]));
  }
};

// Returns the handle of the last result for reuse if no other reference to it and its tuple exists.
inline PyObject* reuse_last_handle([[maybe_unused]] const library& lib, [[maybe_unused]] int type) {
#ifndef Py_GIL_DISABLED
  PyObject* spare = lib.state->spare;
  if (!spare || Py_REFCNT(spare) != 1) return nullptr;
  PyObject* last = PyTuple_GET_ITEM(spare, 1);
  if (Py_REFCNT(last) != 1 || Py_TYPE(last) != &lib.types[type].type) return nullptr;
  auto* handle = as_handle(last);
  if (handle->data != &handle->value) return nullptr;
  handle->value = 0;
  PyTuple_SET_ITEM(spare, 1, Py_NewRef(Py_None));
  return last;
#else
  return nullptr;
#endif
}

// Handles and structs are created before the call, which writes into them.
template <>
struct parameter<kind::out_handle> {
  static bool prepare(auto& c, int i, const param& p) {
    PyObject* handle = reuse_last_handle(c.lib, p.type);
    if (!handle) handle = new_handle(c.lib, p.type);
    c.add_output(handle);
    if (handle) c.w[i] = reinterpret_cast<word>(&as_handle(handle)->value);
    return handle != nullptr;
  }
  static PyObject* result(auto& c, int, const param&, int output) {
    return c.release_output(output);
  }
};

template <>
struct parameter<kind::out_structure> {
  static bool prepare(auto& c, int i, const param& p) {
    PyObject* object = new_struct(c.lib, p.type);
    c.add_output(object);
    if (object) c.w[i] = reinterpret_cast<word>(as_storage(object)->data);
    return object != nullptr;
  }
  static PyObject* result(auto& c, int, const param&, int output) {
    return c.release_output(output);
  }
};

template <>
struct parameter<kind::out_address> : parameter<kind::out_u64> {};

template <>
struct parameter<kind::out_text> : parameter<kind::out_u64> {
  static PyObject* result(auto& c, int i, const param&, int) {
    auto* text = reinterpret_cast<const char*>(c.cell[i]);
    return text ? PyBytes_FromString(text) : Py_NewRef(Py_None);
  }
};

template <>
struct parameter<kind::out_bytes> {
  static bool prepare(has_memory auto& c, int i, const param& p) {
    c.add_output();
    c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(std::size_t(p.type)));
    return c.w[i] != 0;
  }
  static PyObject* result(auto& c, int i, const param& p, int) {
    return PyBytes_FromStringAndSize(reinterpret_cast<char*>(c.w[i]), p.type);
  }
};

// Second pass: the length may be a later parameter.
template <>
struct parameter<kind::out_buffer> {
  static bool prepare(frame& c, int, const param&) {
    c.add_output();
    return true;
  }
  static bool complete(frame& c, int i, const param& p) { return reserve_output_buffer(c, i, p); }
  static PyObject* result(frame& c, int i, const param& p, int) {
    return PyBytes_FromStringAndSize(reinterpret_cast<char*>(c.w[i]),
                                     Py_ssize_t(c.value_of(p.aux)));
  }
};

template <kind K>
  requires(K >= kind::out_list_i32 && K <= kind::out_list_structure)
struct parameter<K> {
  static bool prepare(frame& c, int, const param&) {
    c.add_output();
    return true;
  }
  static bool complete(frame& c, int i, const param& p) { return reserve_output_array(c, i, p); }
  static PyObject* result(frame& c, int i, const param& p, int) {
    return list_from_output(c, i, p);
  }
};

template <kind K>
  requires(K == kind::out_callee_handles || K == kind::out_callee_structures)
struct parameter<K> : parameter<kind::out_u64> {
  static PyObject* result(frame& c, int i, const param& p, int) {
    return list_from_callee(c, i, p);
  }
};

template <>
struct parameter<kind::out_attribute> {
  static bool prepare(frame& c, int, const param&) {
    c.add_output();
    return true;
  }
  static bool complete(frame& c, int i, const param& p) {
    return reserve_attribute_output(c, i, p);
  }
  static PyObject* result(frame& c, int i, const param& p, int) {
    return attribute_result(c, i, p);
  }
};

template <>
struct parameter<kind::out_attribute_list> {
  static bool prepare(frame& c, int, const param&) {
    c.add_output();
    return true;
  }
  static bool complete(frame& c, int i, const param& p) {
    return reserve_attribute_outputs(c, i, p);
  }
  static PyObject* result(frame& c, int i, const param& p, int) {
    return attribute_results(c, i, p);
  }
};

// Inputs that the call changes and the function returns.
template <>
struct parameter<kind::in_out_count> {
  static bool prepare(auto& c, int i, const param& p) {
    c.add_output();
    c.point_to_cell(i);
    return p.py < 0 || !c.argument(p) || integer_argument<kind::u64>(c.argument(p), c.cell[i]);
  }
  static PyObject* result(auto& c, int i, const param&, int) {
    return PyLong_FromUnsignedLongLong(c.cell[i]);
  }
};

template <kind K>
  requires(K == kind::in_out_i32 || K == kind::in_out_u32 || K == kind::in_out_u64)
struct parameter<K> {
  static constexpr kind number = K == kind::in_out_i32   ? kind::i32
                                 : K == kind::in_out_u32 ? kind::u32
                                                         : kind::u64;
  static bool prepare(auto& c, int i, const param& p) {
    c.add_output();
    c.point_to_cell(i);
    return integer_argument<number>(c.argument(p), c.cell[i]);
  }
  static PyObject* result(auto& c, int i, const param&, int) {
    return number_from(number, c.cell[i]);
  }
};

template <>
struct parameter<kind::in_out_enumeration> : parameter<kind::out_enumeration> {
  static bool prepare(auto& c, int i, const param& p) {
    c.add_output();
    c.point_to_cell(i);
    return enum_argument(c.argument(p), c.lib, p.type, c.cell[i]);
  }
};

template <>
struct parameter<kind::iterator> {
  static bool prepare(auto& c, int i, const param& p) {
    PyObject* object = c.argument(p);
    c.add_output(Py_NewRef(object));
    return handle_pointer_argument(object, c.lib, p.type, c.w[i]);
  }
  static PyObject* result(auto& c, int, const param&, int output) {
    return c.release_output(output);
  }
};

// Whether the object of an output is created before the call.
constexpr bool exists_before_call(kind k) {
  return k == kind::out_handle || k == kind::out_structure || k == kind::iterator;
}

// Whether the shared result tuple may hold the result: only if it cannot be part of a reference
// cycle.
constexpr bool recycles(kind k) {
  return k == kind::out_handle || k == kind::out_address || k == kind::out_text ||
         k == kind::out_bytes || (k >= kind::in_out_count && k <= kind::out_enumeration);
}

}  // namespace halfwarp::bindings
