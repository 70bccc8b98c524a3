// SPDX-License-Identifier: Apache-2.0
// Bodies of functions of further faces: outputs whose length another function tells.
#include <cstring>

#include "bindings/arrays/typed_array.hpp"
#include "bindings/calls/engine.hpp"
#include "bindings/converters/conversions.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/handwritten/handwritten.hpp"

namespace halfwarp::bindings {
namespace {

bool is_asked(kind k) { return k == kind::out_asked_numbers || k == kind::out_asked_bytes; }

// The number that `sizes` tells of what this call is about: it takes the same handle, and writes
// the number where its record has an output.
bool ask(const frame& c, const function& sizes, word& answer) {
  word arguments[max_parameters];
  int handle = c.f.n - 1;
  while (handle >= 0 && c.param_at(handle).k != kind::plain_handle) --handle;
  for (int i = 0; i < sizes.n; ++i) {
    bool is_answer = is_output(c.lib.param_of(sizes, i).k);
    arguments[i] = is_answer ? reinterpret_cast<word>(&answer) : c.w[handle];
  }
  word result = call_c(c.lib, sizes, arguments);
  if (int code = int(result)) return raise_status(c.lib, c.f.name, code, result) != nullptr;
  return !PyErr_Occurred();
}

bool reserve(frame& c, int i, const param& p, word n) {
  bool is_text = p.k == kind::out_asked_bytes;
  PyObject* made = is_text ? PyBytes_FromStringAndSize(nullptr, Py_ssize_t(n))
                           : new_typed_array(kind(p.type), Py_ssize_t(n));
  if (!made) return false;
  c.out[c.output_at(i)] = made;
  c.w[i] = reinterpret_cast<word>(is_text ? PyBytes_AS_STRING(made) : as_typed_array(made)->where);
  if (is_text) std::memset(PyBytes_AS_STRING(made), 0, std::size_t(n));
  return true;
}

bool before_asked_call(frame& c) {
  word n = 0;
  if (!ask(c, c.lib.functions[std::size_t(c.f.size_function)], n)) return false;
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k == kind::asked_count) c.w[i] = n;
    if (is_asked(p.k) && !reserve(c, i, p, n)) return false;
  }
  return true;
}

// The library writes as many numbers as it is asked for, and one comes back.
bool check_one_capability(frame& c) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k != kind::u32 || p.py < 0 || std::strcmp(parameter_name(c.f, p.py), "count") != 0)
      continue;
    if (c.w[i] <= 1) continue;
    PyErr_Format(PyExc_ValueError,
                 "%s() argument 'count': expected 1, since one number comes back, got %llu",
                 c.f.name.c_str(), c.w[i]);
    return false;
  }
  return true;
}

// Memory for as many devices as the call says that there is room for.
bool before_devices_of_gl(frame& c) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k == kind::out_numbers) return allocate_output(c, i, p, c.w[i + 1]);
  }
  return true;
}

}  // namespace

namespace handwritten {
const handwritten_steps asked_call = {.before = before_asked_call};
const handwritten_steps one_capability = {.before = check_one_capability};
const handwritten_steps devices_of_gl = {.before = before_devices_of_gl};
}  // namespace handwritten

}  // namespace halfwarp::bindings
