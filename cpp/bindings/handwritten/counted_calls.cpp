// SPDX-License-Identifier: Apache-2.0
// Calls that query the length of their outputs first: with the function itself, which is then
// called twice, or with another one. Also allocates other outputs before a call.
#include "bindings/handwritten/handwritten.hpp"

#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/calls/engine.hpp"
#include "bindings/converters/lists/output_lists.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/numpy_structs/numpy_struct_fields.hpp"

namespace halfwarp::bindings {
namespace {

// Number of attempts if a length does not suffice.
constexpr int attempts = 5;

// Gives an empty array an address: null would query the length again.
word at_least_one(word n) { return n ? n : 1; }

bool is_filled(kind k) { return k == kind::out_numbers || k == kind::out_structures; }

// Makes the first call, which returns lengths and is expected to fail with too little memory.
bool query_lengths(frame& c, bool& succeeds) {
  word result = invoke(c);
  int code = int(result);
  succeeds = code == 0;
  if (!code || code == c.lib.raises->insufficient) return !PyErr_Occurred();
  raise_status(c.lib, c.f.name, code, result);
  return false;
}

// Allocates a struct whose last field extends beyond the struct.
bool allocate_struct(frame& c, int i, const param& p, word size) {
  PyObject* object = new_numpy_struct_with_tail(c.lib, p.type, std::size_t(size));
  if (!object) return false;
  Py_SETREF(c.out[c.output_at(i)], object);
  c.w[i] = reinterpret_cast<word>(as_numpy_struct(object)->data);
  return true;
}

bool allocate(frame& c, int i, const param& p, word n) {
  if (p.k == kind::out_counted_text) return allocate_text(c, i, n);
  if (p.k == kind::out_numpy_struct) return allocate_struct(c, i, p, n);
  return !is_filled(p.k) || allocate_output(c, i, p, at_least_one(n));
}

bool allocate_all(frame& c, int count, word n) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.aux == count && !allocate(c, i, p, n)) return false;
  }
  return true;
}

// Skips the second call if there are no elements: some functions fail on it.
bool before_counted_call(frame& c) {
  bool is_empty;
  if (!query_lengths(c, is_empty)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    kind k = c.param_at(i).k;
    if (k != kind::count_of_output && k != kind::out_count) continue;
    c.cell[i] = std::uint32_t(c.cell[i]);
    is_empty = is_empty && c.cell[i] == 0;
    if (!allocate_all(c, i, c.cell[i])) return false;
  }
  c.skips_call = is_empty;
  return true;
}

bool before_counted_struct_call(frame& c) {
  bool is_empty;
  if (!query_lengths(c, is_empty)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k != kind::out_assembled) continue;
    const assembly& a = c.lib.assemblies[std::size_t(p.type)];
    PyObject* object = c.out[c.output_at(i)];
    if (a.list < 0) continue;
    const numpy_field& list = numpy_record_of(object).fields[std::size_t(a.list)];
    auto n = word(counted(list, object));
    is_empty = is_empty && n == 0;
    if (is_empty) continue;
    if (allocate_list(c.lib, list, object, Py_ssize_t(at_least_one(n))) < 0) return false;
  }
  c.skips_call = is_empty;
  return true;
}

// Repeats the calls if the number of elements has grown between the two.
PyObject* counted_entry(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                        PyObject* names) {
  auto* too_small = reinterpret_cast<PyObject*>(exception_for(lib, lib.raises->insufficient));
  PyObject* result = too_small ? call_by_record(lib, f, args, n, names) : nullptr;
  for (int i = 1; too_small && !result && i < attempts && PyErr_ExceptionMatches(too_small); ++i) {
    PyErr_Clear();
    result = call_by_record(lib, f, args, n, names);
  }
  return result;
}

bool is_queried(kind k) { return k == kind::out_queried_numbers || k == kind::out_queried_bytes; }

// Queries the size of this call's output with `sizes`, which has the same handle argument and a
// number as output.
bool query_size(const frame& c, const function& sizes, word& size) {
  word arguments[max_parameters];
  int handle = c.f.n - 1;
  while (handle >= 0 && c.param_at(handle).k != kind::plain_handle) --handle;
  for (int i = 0; i < sizes.n; ++i) {
    bool is_size = is_output(c.lib.param_of(sizes, i).k);
    arguments[i] = is_size ? reinterpret_cast<word>(&size) : c.w[handle];
  }
  word result = call_c(c.lib, sizes, arguments);
  if (int code = int(result)) return raise_status(c.lib, c.f.name, code, result) != nullptr;
  return !PyErr_Occurred();
}

bool reserve(frame& c, int i, const param& p, word n) {
  bool is_text = p.k == kind::out_queried_bytes;
  PyObject* object = is_text ? PyBytes_FromStringAndSize(nullptr, Py_ssize_t(n))
                             : new_typed_array(kind(p.type), Py_ssize_t(n));
  if (!object) return false;
  c.out[c.output_at(i)] = object;
  c.w[i] =
      reinterpret_cast<word>(is_text ? PyBytes_AS_STRING(object) : as_typed_array(object)->data);
  if (is_text) std::memset(PyBytes_AS_STRING(object), 0, std::size_t(n));
  return true;
}

bool before_queried_call(frame& c) {
  word n = 0;
  if (!query_size(c, c.lib.functions[std::size_t(c.f.size_function)], n)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k == kind::queried_count) c.w[i] = n;
    if (is_queried(p.k) && !reserve(c, i, p, n)) return false;
  }
  return true;
}

// Rejects a count above 1: the library would write as many numbers, but the function returns one.
bool check_one_capability(frame& c) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k != kind::u32 || p.py < 0 || std::strcmp(parameter_name(c.f, p.py), "count") != 0)
      continue;
    if (c.w[i] <= 1) continue;
    return raise_error(PyExc_ValueError,
                       "%s() argument 'count': expected 1, since one number is returned, got %llu",
                       c.f.name.c_str(), c.w[i]);
  }
  return true;
}

// Allocates an array for the device count argument.
bool before_devices_of_gl(frame& c) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k == kind::out_numbers) return allocate_output(c, i, p, c.w[i + 1]);
  }
  return true;
}

}  // namespace

namespace handwritten {
const handwritten_steps counted_call = {.before = before_counted_call, .entry = counted_entry};
const handwritten_steps counted_struct_call = {.before = before_counted_struct_call,
                                               .entry = counted_entry};
const handwritten_steps queried_call = {.before = before_queried_call};
const handwritten_steps one_capability = {.before = check_one_capability};
const handwritten_steps devices_of_gl = {.before = before_devices_of_gl};
}  // namespace handwritten

}  // namespace halfwarp::bindings
