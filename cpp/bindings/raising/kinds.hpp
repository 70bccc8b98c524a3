// SPDX-License-Identifier: Apache-2.0
// The kinds of parameters that only libraries with exceptions have.
#pragma once

#include "bindings/arguments/buffers.hpp"
#include "bindings/raising/errors.hpp"
#include "bindings/results/outputs.hpp"

namespace halfwarp::bindings {

// Text of the C library; what is not UTF-8 in it is replaced: a call that succeeded never raises.
inline PyObject* text_from(const char* text, std::size_t size) {
  return PyUnicode_DecodeUTF8(text, Py_ssize_t(size), "replace");
}

// An int that the library gets by its address.
template <>
struct parameter<kind::value_by_address> {
  static bool prepare(frame& c, int i, const param& p) {
    c.point_to_cell(i);
    return integer_argument<kind::i64>(c.argument(p), c.cell[i]);
  }
};

// Whether it is null is looked at last: a wrong type of another argument comes first.
template <>
struct parameter<kind::present_handle> : parameter<kind::plain_handle> {
  static bool complete(frame& c, int i, const param& p) {
    return c.w[i] || refuse_null(c.lib, c.f, p);
  }
};

template <>
struct parameter<kind::name> {
  static bool prepare(frame& c, int i, const param& p) {
    return name_argument(c.argument(p), c.w[i]);
  }
};

template <>
struct parameter<kind::options> {
  static bool prepare(frame& c, int i, const param& p) {
    return options_argument(c, i, c.argument(p));
  }
  static bool complete(frame& c, int i, const param& p) { return check_options_count(c, i, p); }
};

template <kind K>
  requires(K == kind::input_buffer || K == kind::output_buffer)
struct parameter<K> {
  static bool prepare(frame& c, int i, const param& p) {
    return buffer_argument(c, i, c.argument(p), K == kind::output_buffer);
  }
  static bool complete(frame& c, int i, const param& p) { return check_buffer_size(c, i, p); }
};

// A number that the record says: the length of a text of fixed size.
template <>
struct parameter<kind::fixed> {
  static bool prepare(frame& c, int i, const param& p) {
    c.w[i] = word(p.type);
    return true;
  }
};

template <>
struct parameter<kind::out_name> : parameter<kind::out_u64> {
  static PyObject* result(frame& c, int i, const param&, int) {
    auto* text = reinterpret_cast<const char*>(c.cell[i]);
    return text ? text_from(text, std::strlen(text)) : Py_NewRef(Py_None);
  }
};

template <>
struct parameter<kind::out_fixed_text> : parameter<kind::out_bytes> {
  static PyObject* result(frame& c, int i, const param& p, int) {
    auto* text = reinterpret_cast<const char*>(c.w[i]);
    return text_from(text, ::strnlen(text, std::size_t(p.type)));
  }
};

}  // namespace halfwarp::bindings
