// SPDX-License-Identifier: Apache-2.0
// The state of one call between its Python arguments and its Python result.
#pragma once

#include "bindings/memory/memory.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// What every call has: arguments, and the words that they become.
template <int Parameters>
struct frame_words {
  explicit frame_words(PyObject* const* arguments) : args{arguments} {}
  frame_words(const frame_words&) = delete;  // the words point into it

  PyObject* argument(const param& p) const { return args[p.py]; }

  // Makes the C argument at `i` the address of its cell.
  bool point_to_cell(int i, word initial = 0) {
    cell[i] = initial;
    w[i] = reinterpret_cast<word>(&cell[i]);
    return true;
  }

  PyObject* const* args;  // in Python order; nullptr where an optional one is missing
  word w[Parameters];     // what the C function gets
  word cell[Parameters];  // what a pointer argument points to; the length of a list
};

// The objects that exist before the call writes into them.
template <int Outputs>
struct frame_objects {
  ~frame_objects() {
    for (int i = 0; i < count; ++i) Py_XDECREF(out[i]);
  }

  // Gives away the object that an output was prepared with.
  PyObject* release_output(int output) {
    PyObject* object = out[output];
    out[output] = nullptr;
    return object;
  }

  // An output of the call: `object` when it exists before the call, else nullptr.
  void add_output(PyObject* object = nullptr) { out[count++] = object; }

  int count = 0;
  PyObject* out[Outputs];
};
template <>
struct frame_objects<0> {
  void add_output() {}
};

// Memory for the arrays, structs and texts whose addresses the call passes.
struct frame_memory {
  scratch memory;
};
struct frame_without_memory {};
template <class F>
concept has_memory = requires(F& c) { c.memory; };

// A call of any record.
struct frame : frame_words<max_parameters>, frame_objects<max_parameters>, frame_memory {
  frame(const library& l, const function& fn, PyObject* const* arguments)
      : frame_words{arguments}, lib{l}, f{fn} {}

  const param& param_at(int i) const { return lib.param_of(f, i); }

  // How many outputs come before a C position.
  int output_at(int position) const {
    int output = 0;
    for (int i = 0; i < position; ++i) output += is_output(param_at(i).k);
    return output;
  }

  // The value of an integer parameter that another one refers to as its count or size.
  word value_of(int i) const {
    kind k = param_at(i).k;
    if (k == kind::list_u64 || k == kind::sequence_u64) return cell[i];
    if (k == kind::length_of_list) return cell[param_at(i).aux];
    bool is_pointed_to = k == kind::attribute_size || k == kind::capacity_of_output;
    return is_output(k) || is_pointed_to ? cell[i] : w[i];
  }

  const library& lib;
  const function& f;
  bool skips_call = false;  // by what went before the call: it is not to be made
};

// Converts the arguments of a call: the C position of the one that was refused, -1 for none.
int convert(frame& c);

// The objects of all outputs, in order: how many, -1 with a Python error set.
int make_outputs(frame& c, PyObject** values);

// A call whose record the compiler knows: no more than its parameters use.
template <const library& Library, int Parameters, int Outputs, class Memory>
struct light_frame : frame_words<Parameters>, frame_objects<Outputs>, Memory {
  using frame_words<Parameters>::frame_words;
  static constexpr const library& lib = Library;
};

}  // namespace halfwarp::bindings
