// SPDX-License-Identifier: Apache-2.0
// The state of one call between its Python arguments and its Python result.
#pragma once

#include "bindings/records.hpp"
#include "bindings/scratch.hpp"

namespace halfwarp::bindings {

inline constexpr int max_parameters = 20;

struct frame {
  frame(const library& l, const function& fn, PyObject* const* arguments)
      : lib{l}, f{fn}, args{arguments} {}
  frame(const frame&) = delete;  // the words point into it
  ~frame() {
    for (int i = 0; i < made; ++i) Py_XDECREF(out[i]);
  }

  const param& param_at(int i) const { return lib.param_of(f, i); }

  PyObject* argument(const param& p) const { return args[p.py]; }

  // Gives away the object that an output was prepared with.
  PyObject* take(int output) {
    PyObject* object = out[output];
    out[output] = nullptr;
    return object;
  }

  // Makes the C argument at `i` the address of its cell.
  bool point_to_cell(int i, word initial = 0) {
    cell[i] = initial;
    w[i] = reinterpret_cast<word>(&cell[i]);
    return true;
  }

  // An output of the call: `object` when it exists before the call, else nullptr.
  void add_output(PyObject* object = nullptr) { out[made++] = object; }

  // The value of an integer parameter that another one refers to as its count or size.
  word value_of(int i) const {
    kind k = param_at(i).k;
    if (k == kind::list_u64) return cell[i];
    bool is_pointed_to = k == kind::attribute_size || k == kind::room_of_output;
    return is_output(k) || is_pointed_to ? cell[i] : w[i];
  }

  const library& lib;
  const function& f;
  PyObject* const* args;  // in Python order; nullptr where an optional one is missing
  int made = 0;
  bool is_answered = false;   // by what went before the call: it is not to be made
  word w[max_parameters];     // what the C function gets
  word cell[max_parameters];  // what a pointer argument points to; the length of a list
  PyObject* out[max_parameters];
  scratch memory;
};

}  // namespace halfwarp::bindings
