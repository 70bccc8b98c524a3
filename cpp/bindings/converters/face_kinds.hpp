// SPDX-License-Identifier: Apache-2.0
// Converters of kinds that only further faces of a library use: plain numbers where the first face
// has objects.
#pragma once

#include "bindings/arrays/typed_array.hpp"
#include "bindings/converters/buffers.hpp"
#include "bindings/converters/exception_kinds.hpp"
#include "bindings/converters/lists/lists.hpp"

namespace halfwarp::bindings {

// bytes, or None for NULL.
template <>
struct parameter<kind::optional_text> {
  static bool prepare(has_memory auto& c, int i, const param& p) {
    if (c.argument(p) != Py_None) return text_argument(c.argument(p), c.memory, c.w[i]);
    c.w[i] = 0;
    return true;
  }
};

template <kind K>
  requires(K == kind::sequence_i32 || K == kind::sequence_u64)
struct parameter<K> {
  static bool prepare(frame& c, int i, const param& p) {
    return sequence_argument(c, i, c.argument(p), K == kind::sequence_u64);
  }
  static bool complete(frame& c, int i, const param& p) { return check_sequence(c, i, p); }
};

template <>
struct parameter<kind::items> {
  static bool prepare(frame& c, int i, const param& p) { return items_argument(c, i, p); }
  static bool complete(frame& c, int i, const param& p) { return check_items(c, i, p); }
};

template <>
struct parameter<kind::texts> {
  static bool prepare(frame& c, int i, const param& p) {
    return texts_argument(c, i, c.argument(p));
  }
  static bool complete(frame& c, int i, const param& p) { return check_items(c, i, p); }
};

template <>
struct parameter<kind::numpy_struct_list> : parameter<kind::numpy_struct> {
  static bool complete(frame& c, int, const param& p) { return check_numpy_struct_count(c, p); }
};

template <kind K>
  requires(K == kind::source_buffer || K == kind::destination_buffer)
struct parameter<K> {
  static bool prepare(frame& c, int i, const param& p) {
    return buffer_argument(c, i, c.argument(p), K == kind::destination_buffer);
  }
  static bool complete(frame& c, int i, const param& p) { return check_buffer_holds(c, i, p); }
};

// Length of the list in parameter `aux`. `frame::value_of` reads it before this converter runs.
template <>
struct parameter<kind::length_of_list> {
  static bool prepare(frame&, int, const param&) { return true; }
  static bool complete(frame& c, int i, const param& p) {
    c.w[i] = c.cell[p.aux];
    return true;
  }
};

// Count that a handwritten step queries with another function.
template <>
struct parameter<kind::queried_count> {
  static bool prepare(frame& c, int i, const param&) {
    c.w[i] = 0;
    return true;
  }
};

template <>
struct parameter<kind::out_queried_numbers> {
  static bool prepare(frame& c, int i, const param&) {
    c.add_output();
    c.w[i] = 0;
    return true;
  }
  static PyObject* result(frame& c, int, const param&, int output) {
    return c.release_output(output);
  }
};

template <>
struct parameter<kind::out_queried_bytes> : parameter<kind::out_queried_numbers> {};

// Bytes that the library owns and points to.
template <>
struct parameter<kind::out_callee_bytes> : parameter<kind::out_u64> {
  static PyObject* result(frame& c, int i, const param& p, int) {
    auto* bytes = reinterpret_cast<const char*>(c.cell[i]);
    return PyBytes_FromStringAndSize(bytes, bytes ? Py_ssize_t(c.cell[p.aux]) : 0);
  }
};

template <kind K>
  requires(K == kind::out_callee_numbers || K == kind::out_callee_numpy_structs)
struct parameter<K> : parameter<kind::out_u64> {
  static PyObject* result(frame& c, int i, const param& p, int) {
    return array_from_callee(c, i, p);
  }
};

template <>
struct parameter<kind::out_c_bytes> : parameter<kind::out_u64> {
  static PyObject* result(frame& c, int i, const param&, int) {
    auto* text = reinterpret_cast<const char*>(c.cell[i]);
    return PyBytes_FromString(text ? text : "");
  }
};

template <>
struct parameter<kind::out_floats> {
  static bool prepare(frame& c, int i, const param& p) {
    c.add_output();
    c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(std::size_t(p.type) * sizeof(float)));
    return c.w[i] != 0;
  }
  static PyObject* result(frame& c, int i, const param& p, int) {
    return list_of_numbers(kind::f32, extent::line(p.type, sizeof(float)),
                           reinterpret_cast<char*>(c.w[i]));
  }
};

}  // namespace halfwarp::bindings
