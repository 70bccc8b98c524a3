// SPDX-License-Identifier: Apache-2.0
// Calls that are made twice: for the length of their arrays, then to fill them.
#include "bindings/arrays/typed_array.hpp"
#include "bindings/calls/engine.hpp"
#include "bindings/converters/conversions.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/handwritten/handwritten.hpp"
#include "bindings/numpy_structs/data_fields.hpp"

namespace halfwarp::bindings {
namespace {

// How often it is asked again for a length that did not suffice.
constexpr int attempts = 5;

// An array of no elements has an address as well: null would ask for the length once more.
word at_least_one(word n) { return n ? n : 1; }

bool is_filled(kind k) { return k == kind::out_numbers || k == kind::out_structures; }

// The first call, which is to tell lengths: too little memory is what it is expected to say.
bool ask(frame& c, bool& succeeds) {
  word result = invoke(c);
  int code = int(result);
  succeeds = code == 0;
  if (!code || code == c.lib.raises->insufficient) return !PyErr_Occurred();
  raise_status(c.lib, c.f.name, code, result);
  return false;
}

// A struct whose last field goes on behind it.
bool allocate_struct(frame& c, int i, const param& p, word size) {
  PyObject* made = new_data_with_tail(c.lib, p.type, std::size_t(size));
  if (!made) return false;
  Py_SETREF(c.out[c.output_at(i)], made);
  c.w[i] = reinterpret_cast<word>(as_data(made)->where);
  return true;
}

bool allocate(frame& c, int i, const param& p, word n) {
  if (p.k == kind::out_counted_text) return allocate_text(c, i, n);
  if (p.k == kind::out_data) return allocate_struct(c, i, p, n);
  return !is_filled(p.k) || allocate_output(c, i, p, at_least_one(n));
}

bool allocate_all(frame& c, int count, word n) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.aux == count && !allocate(c, i, p, n)) return false;
  }
  return true;
}

// Where there are no elements, some functions mind being asked for them.
bool before_counted_call(frame& c) {
  bool is_answered;
  if (!ask(c, is_answered)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    kind k = c.param_at(i).k;
    if (k != kind::count_of_output && k != kind::out_count) continue;
    c.cell[i] = std::uint32_t(c.cell[i]);
    is_answered = is_answered && c.cell[i] == 0;
    if (!allocate_all(c, i, c.cell[i])) return false;
  }
  c.is_answered = is_answered;
  return true;
}

bool before_counted_struct_call(frame& c) {
  bool is_answered;
  if (!ask(c, is_answered)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k != kind::out_assembled) continue;
    const assembly& a = c.lib.assemblies[std::size_t(p.type)];
    PyObject* object = c.out[c.output_at(i)];
    if (a.list < 0) continue;
    const data_field& list = data_record_of(object).fields[std::size_t(a.list)];
    auto n = word(counted(list, object));
    is_answered = is_answered && n == 0;
    if (is_answered) continue;
    if (allocate_list(c.lib, list, object, Py_ssize_t(at_least_one(n))) < 0) return false;
  }
  c.is_answered = is_answered;
  return true;
}

// More may have come up between the two calls.
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

}  // namespace

namespace handwritten {
const handwritten_steps counted_call = {.before = before_counted_call, .entry = counted_entry};
const handwritten_steps counted_struct_call = {.before = before_counted_struct_call,
                                               .entry = counted_entry};
}  // namespace handwritten

}  // namespace halfwarp::bindings
