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

// What comes up between the two calls has room.
word with_room(word n) { return n + n / 8 + 8; }

bool is_filled(kind k) { return k == kind::out_numbers || k == kind::out_structures; }

int output_at(const function& f, int position) {
  int output = 0;
  for (int i = 0; i < position; ++i) output += is_output(f.params[i].k);
  return output;
}

// The first call, which is to tell lengths: too little memory is what it is expected to say.
bool ask(frame& c) {
  word result = invoke(c);
  int code = int(result);
  if (!code || code == c.lib.raises->insufficient) return !PyErr_Occurred();
  raise_status(c.lib, c.f.name, code, result);
  return false;
}

bool allocate_text(frame& c, int i, word n) {
  c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(n + 1));
  return c.w[i] != 0;
}

bool allocate_all(frame& c, int count, word n) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.f.params[i];
    if (p.aux != count) continue;
    if (p.k == kind::out_counted_text ? !allocate_text(c, i, n)
                                      : is_filled(p.k) && !allocate_output(c, i, p, n))
      return false;
  }
  return true;
}

bool before_counted_call(frame& c) {
  if (!ask(c)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    kind k = c.f.params[i].k;
    if (k != kind::count_of_output && k != kind::out_count) continue;
    c.cell[i] = with_room(std::uint32_t(c.cell[i]));
    if (!allocate_all(c, i, c.cell[i])) return false;
  }
  return true;
}

bool before_counted_struct_call(frame& c) {
  if (!ask(c)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.f.params[i];
    if (p.k != kind::out_assembled) continue;
    const assembly& a = c.lib.assemblies[std::size_t(p.type)];
    PyObject* object = c.out[output_at(c.f, i)];
    if (a.list < 0) continue;
    const data_field& list = data_record_of(object).fields[std::size_t(a.list)];
    auto n = Py_ssize_t(with_room(word(counted(list, object))));
    if (allocate_list(c.lib, list, object, n) < 0) return false;
  }
  return true;
}

}  // namespace

bool allocate_output(frame& c, int i, const param& p, word n) {
  bool has_structs = p.k == kind::out_structures;
  PyObject* made = has_structs ? new_data_array(c.lib, p.type, Py_ssize_t(n))
                               : new_typed_array(kind(p.type), Py_ssize_t(n));
  if (!made) return false;
  c.out[output_at(c.f, i)] = made;
  c.w[i] = reinterpret_cast<word>(has_structs ? as_data(made)->where : as_typed_array(made)->where);
  return true;
}

PyObject* counted_output(frame& c, const param& p, int output) {
  PyObject* made = c.take(output);
  bool is_told =
      c.f.params[p.aux].k == kind::count_of_output || c.f.params[p.aux].k == kind::out_count;
  Py_ssize_t& length =
      p.k == kind::out_structures ? as_data(made)->e.shape[0] : as_typed_array(made)->e.shape[0];
  auto n = Py_ssize_t(std::uint32_t(c.cell[p.aux]));
  if (is_told && n < length) length = n;
  return made;
}

// A fixed size is one in bytes.
bool allocate_sized(frame& c, int i, const param& p) {
  const param& count = c.f.params[p.aux];
  if (count.k == kind::count_of_output || count.k == kind::out_count) return true;
  word n = c.value_of(p.aux);
  if (count.k == kind::fixed) n /= word(number_size(kind(p.type)));
  return allocate_output(c, i, p, n);
}

bool allocate_given_text(frame& c, int i, const param& p) {
  if (c.f.params[p.aux].k == kind::count_of_output) return true;
  auto n = std::int32_t(c.value_of(p.aux));
  if (n >= 0) return allocate_text(c, i, word(n));
  PyErr_Format(PyExc_ValueError, "%s() argument '%s': a length of %d", c.f.name.c_str(),
               parameter_name(c.f, c.f.params[p.aux].py), int(n));
  return false;
}

namespace bodies {
const body counted_call = {.before = before_counted_call};
const body counted_struct_call = {.before = before_counted_struct_call};
}  // namespace bodies

}  // namespace halfwarp::bindings
