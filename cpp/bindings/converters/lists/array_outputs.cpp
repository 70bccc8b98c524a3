// SPDX-License-Identifier: Apache-2.0
// Arrays and texts that a call fills.
#include "bindings/converters/conversions.hpp"

#include "bindings/arrays/typed_array.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/numpy_structs/data_object.hpp"

namespace halfwarp::bindings {
namespace {

bool tells_length(kind k) {
  return k == kind::count_of_output || k == kind::room_of_output || k == kind::out_count;
}

}  // namespace

bool allocate_text(frame& c, int i, word n) {
  c.w[i] = reinterpret_cast<word>(c.memory.allocate_zeroed(n + 1));
  return c.w[i] != 0;
}

bool allocate_output(frame& c, int i, const param& p, word n) {
  bool has_structs = p.k == kind::out_structures;
  PyObject* made = has_structs ? new_data_array(c.lib, p.type, Py_ssize_t(n))
                               : new_typed_array(kind(p.type), Py_ssize_t(n));
  if (!made) return false;
  c.out[c.output_at(i)] = made;
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

}  // namespace halfwarp::bindings
