// SPDX-License-Identifier: Apache-2.0
// The kinds of parameters that show data types.
#pragma once

#include <cstring>

#include "bindings/data_types/calls/assembly.hpp"
#include "bindings/data_types/calls/counted.hpp"
#include "bindings/data_types/data_object.hpp"
#include "bindings/raising/kinds.hpp"

namespace halfwarp::bindings {

template <>
struct parameter<kind::data> {
  static bool prepare(frame& c, int i, const param& p) {
    return data_argument(c.argument(p), c.lib, p.type, c.w[i]);
  }
};

template <>
struct parameter<kind::data_object> {
  static bool prepare(frame& c, int i, const param& p) {
    if (!check_data(c.argument(p), c.lib, p.type)) return false;
    c.w[i] = reinterpret_cast<word>(as_data(c.argument(p))->where);
    return true;
  }
};

template <>
struct parameter<kind::assembled> {
  static bool prepare(frame& c, int i, const param& p) {
    return lend_assembled(c, c.lib.assemblies[std::size_t(p.type)], c.w[i]);
  }
};

template <>
struct parameter<kind::count_of_output> {
  static bool prepare(frame& c, int i, const param&) { return c.point_to_cell(i); }
};

template <>
struct parameter<kind::room_of_output> {
  static bool prepare(frame& c, int i, const param& p) { return c.point_to_cell(i, word(p.type)); }
};

template <>
struct parameter<kind::length_of_data> {
  static bool prepare(frame&, int, const param&) { return true; }
  static bool complete(frame& c, int i, const param& p) {
    c.w[i] = word(as_data(c.argument(c.param_at(p.aux)))->e.elements());
    return true;
  }
};

template <>
struct parameter<kind::u32_or_zero> {
  static bool prepare(frame& c, int i, const param& p) {
    PyObject* argument = c.argument(p);
    if (argument) return integer_argument<kind::u32>(argument, c.w[i]);
    c.w[i] = 0;
    return true;
  }
};

template <>
struct parameter<kind::out_bool> : parameter<kind::out_u32> {
  static PyObject* result(frame& c, int i, const param&, int) {
    return PyBool_FromLong(c.cell[i] & 1);
  }
};

template <>
struct parameter<kind::out_count> : parameter<kind::out_u32> {};

template <>
struct parameter<kind::out_data> {
  static bool prepare(frame& c, int i, const param& p) {
    PyObject* made = new_data(c.lib, p.type);
    c.add_output(made);
    if (made) c.w[i] = reinterpret_cast<word>(as_data(made)->where);
    return made != nullptr;
  }
  static PyObject* result(frame& c, int, const param&, int output) { return c.take(output); }
};

template <>
struct parameter<kind::out_assembled> {
  static bool prepare(frame& c, int i, const param& p) {
    const assembly& a = c.lib.assemblies[std::size_t(p.type)];
    if (a.is_plain) return c.add_output(), lend_plain(c, a, c.w[i]);
    PyObject* made = assemble(c, a);
    c.add_output(made);
    if (made) c.w[i] = reinterpret_cast<word>(as_data(made)->where);
    return made != nullptr;
  }
  static PyObject* result(frame& c, int i, const param& p, int output) {
    const assembly& a = c.lib.assemblies[std::size_t(p.type)];
    if (a.is_plain) return plain_output(a, reinterpret_cast<const void*>(c.w[i]));
    return disassemble(c, a, c.take(output));
  }
};

template <kind K>
  requires(K == kind::out_numbers || K == kind::out_structures)
struct parameter<K> {
  static bool prepare(frame& c, int i, const param&) {
    c.add_output();
    c.w[i] = 0;
    return true;
  }
  static bool complete(frame& c, int i, const param& p) { return allocate_sized(c, i, p); }
  static PyObject* result(frame& c, int, const param& p, int output) {
    return counted_output(c, p, output);
  }
};

template <>
struct parameter<kind::out_counted_text> {
  static bool prepare(frame& c, int i, const param&) {
    c.add_output();
    c.w[i] = 0;
    return true;
  }
  static bool complete(frame& c, int i, const param& p) { return allocate_given_text(c, i, p); }
  static PyObject* result(frame& c, int i, const param& p, int) {
    auto* text = reinterpret_cast<const char*>(c.w[i]);
    return text_from(text, ::strnlen(text, std::size_t(c.value_of(p.aux))));
  }
};

}  // namespace halfwarp::bindings
