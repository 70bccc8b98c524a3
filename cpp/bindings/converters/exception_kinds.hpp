// SPDX-License-Identifier: Apache-2.0
// Converters of kinds that only libraries whose functions raise use.
#pragma once

#include <cstring>

#include "bindings/converters/assembly.hpp"
#include "bindings/converters/buffers.hpp"
#include "bindings/converters/lists/output_lists.hpp"
#include "bindings/converters/outputs.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/numpy_structs/numpy_struct_object.hpp"

namespace halfwarp::bindings {

inline bool is_ascii(const char* text, std::size_t size) {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  std::uint64_t bytes = 0;
  if (size < sizeof bytes) {
    for (std::size_t i = 0; i < size; ++i) bytes |= std::uint8_t(text[i]);
    return !(bytes & high_bits);
  }
  const char* last = text + size - sizeof bytes;  // the last bytes may be read twice
  for (; text < last; text += sizeof bytes) {
    std::memcpy(&bytes, text, sizeof bytes);
    if (bytes & high_bits) return false;
  }
  std::memcpy(&bytes, last, sizeof bytes);
  return !(bytes & high_bits);
}

// Converts a text of the C library. Replaces invalid UTF-8: a call that succeeded never raises.
inline PyObject* text_from(const char* text, std::size_t size) {
  if (!is_ascii(text, size)) return PyUnicode_DecodeUTF8(text, Py_ssize_t(size), "replace");
  PyObject* result = PyUnicode_New(Py_ssize_t(size), 127);
  if (result && size) std::memcpy(PyUnicode_1BYTE_DATA(result), text, size);
  return result;
}

// Int that the library receives by address.
template <>
struct parameter<kind::value_by_address> {
  static bool prepare(frame& c, int i, const param& p) {
    c.point_to_cell(i);
    return integer_argument<kind::i64>(c.argument(p), c.cell[i]);
  }
};

// Checks for null last: a wrong type of another argument is reported first.
template <>
struct parameter<kind::present_handle> : parameter<kind::plain_handle> {
  static bool complete(frame& c, int i, const param& p) {
    return c.w[i] || reject_null(c.lib, c.f, p);
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

// Constant of the record: the length of a fixed-size text.
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

template <>
struct parameter<kind::numpy_struct> {
  static bool prepare(frame& c, int i, const param& p) {
    return numpy_struct_argument(c.argument(p), c.lib, p.type, c.w[i]);
  }
};

template <>
struct parameter<kind::numpy_struct_object> {
  static bool prepare(frame& c, int i, const param& p) {
    if (!check_numpy_struct(c.argument(p), c.lib, p.type)) return false;
    c.w[i] = reinterpret_cast<word>(as_numpy_struct(c.argument(p))->data);
    return true;
  }
};

template <>
struct parameter<kind::assembled> {
  static bool prepare(frame& c, int i, const param& p) {
    return fill_assembled(c, c.lib.assemblies[std::size_t(p.type)], c.w[i]);
  }
};

template <>
struct parameter<kind::count_of_output> {
  static bool prepare(frame& c, int i, const param&) { return c.point_to_cell(i); }
};

template <>
struct parameter<kind::capacity_of_output> {
  static bool prepare(frame& c, int i, const param& p) { return c.point_to_cell(i, word(p.type)); }
};

template <>
struct parameter<kind::length_of_numpy_struct> {
  static bool prepare(frame&, int, const param&) { return true; }
  static bool complete(frame& c, int i, const param& p) {
    c.w[i] = word(as_numpy_struct(c.argument(c.param_at(p.aux)))->e.elements());
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
struct parameter<kind::out_numpy_struct> {
  static bool prepare(frame& c, int i, const param& p) {
    PyObject* object = new_numpy_struct(c.lib, p.type);
    c.add_output(object);
    if (object) c.w[i] = reinterpret_cast<word>(as_numpy_struct(object)->data);
    return object != nullptr;
  }
  static PyObject* result(frame& c, int, const param&, int output) {
    return c.release_output(output);
  }
};

template <>
struct parameter<kind::out_assembled> {
  static bool prepare(frame& c, int i, const param& p) {
    const assembly& a = c.lib.assemblies[std::size_t(p.type)];
    if (a.is_plain) return c.add_output(), fill_plain(c, a, c.w[i]);
    PyObject* object = assemble(c, a);
    c.add_output(object);
    if (object) c.w[i] = reinterpret_cast<word>(as_numpy_struct(object)->data);
    return object != nullptr;
  }
  static PyObject* result(frame& c, int i, const param& p, int output) {
    const assembly& a = c.lib.assemblies[std::size_t(p.type)];
    if (a.is_plain) return plain_output(a, reinterpret_cast<const void*>(c.w[i]));
    return disassemble(c, a, c.release_output(output));
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
  static bool complete(frame& c, int i, const param& p) { return allocate_sized_text(c, i, p); }
  static PyObject* result(frame& c, int i, const param& p, int) {
    auto* text = reinterpret_cast<const char*>(c.w[i]);
    return text_from(text, ::strnlen(text, std::size_t(c.value_of(p.aux))));
  }
};

}  // namespace halfwarp::bindings
