// SPDX-License-Identifier: Apache-2.0
// Calls that are made twice: for the length of their arrays, then to fill them.
#include "bindings/data_types/calls/counted.hpp"

#include "bindings/arguments/keywords.hpp"
#include "bindings/data_types/arrays/typed_array.hpp"
#include "bindings/data_types/calls/assembly.hpp"
#include "bindings/data_types/data_fields.hpp"
#include "bindings/engine.hpp"
#include "bindings/raising/errors.hpp"
#include "bindings/special/bodies.hpp"

namespace halfwarp::bindings {
namespace {

// How often it is asked again for a length that did not suffice.
constexpr int attempts = 5;

// An array of no elements has an address as well: null would ask for the length once more.
word at_least_one(word n) { return n ? n : 1; }

bool tells_length(kind k) {
  return k == kind::count_of_output || k == kind::room_of_output || k == kind::out_count;
}

bool is_filled(kind k) { return k == kind::out_numbers || k == kind::out_structures; }

int output_at(const frame& c, int position) {
  int output = 0;
  for (int i = 0; i < position; ++i) output += is_output(c.param_at(i).k);
  return output;
}

// The first call, which is to tell lengths: too little memory is what it is expected to say.
bool ask(frame& c, bool& succeeds) {
  word result = invoke(c);
  int code = int(result);
  succeeds = code == 0;
  if (!code || code == c.lib.raises->insufficient) return !PyErr_Occurred();
  raise_status(c.lib, c.f.name, code, result);
  return false;
}

bool allocate_text(frame& c, int i, word n) {
  c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(n + 1));
  return c.w[i] != 0;
}

// A struct whose last field goes on behind it.
bool allocate_struct(frame& c, int i, const param& p, word size) {
  PyObject* made = new_data_with_tail(c.lib, p.type, std::size_t(size));
  if (!made) return false;
  Py_SETREF(c.out[output_at(c, i)], made);
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
    PyObject* object = c.out[output_at(c, i)];
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

bool allocate_output(frame& c, int i, const param& p, word n) {
  bool has_structs = p.k == kind::out_structures;
  PyObject* made = has_structs ? new_data_array(c.lib, p.type, Py_ssize_t(n))
                               : new_typed_array(kind(p.type), Py_ssize_t(n));
  if (!made) return false;
  c.out[output_at(c, i)] = made;
  c.w[i] = reinterpret_cast<word>(has_structs ? as_data(made)->where : as_typed_array(made)->where);
  return true;
}

PyObject* counted_output(frame& c, const param& p, int output) {
  PyObject* made = c.take(output);
  bool is_told = tells_length(c.param_at(p.aux).k);
  Py_ssize_t& length =
      p.k == kind::out_structures ? as_data(made)->e.shape[0] : as_typed_array(made)->e.shape[0];
  auto n = Py_ssize_t(std::uint32_t(c.cell[p.aux]));
  if (is_told && n < length) length = n;
  return made;
}

// A fixed size is one in bytes.
bool allocate_sized(frame& c, int i, const param& p) {
  const param& count = c.param_at(p.aux);
  if (count.k == kind::count_of_output || count.k == kind::out_count) return true;
  word n = c.value_of(p.aux);
  if (count.k == kind::fixed) n /= word(number_size(kind(p.type)));
  return allocate_output(c, i, p, n);
}

bool allocate_given_text(frame& c, int i, const param& p) {
  if (c.param_at(p.aux).k == kind::count_of_output) return true;
  auto n = std::int32_t(c.value_of(p.aux));
  if (n >= 0) return allocate_text(c, i, word(n));
  PyErr_Format(PyExc_ValueError, "%s() argument '%s': a length of %d", c.f.name.c_str(),
               parameter_name(c.f, c.param_at(p.aux).py), int(n));
  return false;
}

namespace bodies {
const body counted_call = {.before = before_counted_call, .entry = counted_entry};
const body counted_struct_call = {.before = before_counted_struct_call, .entry = counted_entry};
}  // namespace bodies

}  // namespace halfwarp::bindings
