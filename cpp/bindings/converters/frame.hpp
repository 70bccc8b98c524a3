// SPDX-License-Identifier: Apache-2.0
// State of one call between its Python arguments and its Python result.
#pragma once

#include "bindings/memory/memory.hpp"
#include "bindings/records/records.hpp"

namespace halfwarp::bindings {

// Arguments of a call, and the words that they are converted to.
template <int Parameters>
struct frame_words {
  explicit frame_words(PyObject* const* arguments) : args{arguments} {}
  frame_words(const frame_words&) = delete;  // the words point into it

  PyObject* argument(const param& p) const { return args[p.py]; }

  // Sets the C argument at `i` to the address of its cell.
  bool point_to_cell(int i, word initial = 0) {
    cell[i] = initial;
    w[i] = reinterpret_cast<word>(&cell[i]);
    return true;
  }

  PyObject* const* args;  // in Python order; nullptr for a missing optional one
  word w[Parameters];     // arguments of the C function
  word cell[Parameters];  // target of a pointer argument; length of a list
};

// Output objects that are created before the call, which writes into them.
template <int Outputs>
struct frame_objects {
  ~frame_objects() {
    for (int i = 0; i < count; ++i) Py_XDECREF(out[i]);
  }

  // Transfers the object that was created for an output.
  PyObject* release_output(int output) {
    PyObject* object = out[output];
    out[output] = nullptr;
    return object;
  }

  // Adds an output: `object` if it is created before the call, else nullptr.
  void add_output(PyObject* object = nullptr) { out[count++] = object; }

  int count = 0;
  PyObject* out[Outputs];
};
template <>
struct frame_objects<0> {
  void add_output() {}
};

// Memory for arrays, structs and texts whose addresses the call passes.
struct frame_memory {
  scratch memory;
};
struct frame_without_memory {};
template <class F>
concept has_memory = requires(F& c) { c.memory; };

// Frame of a call of any record.
struct frame : frame_words<max_parameters>, frame_objects<max_parameters>, frame_memory {
  frame(const library& l, const function& fn, PyObject* const* arguments)
      : frame_words{arguments}, lib{l}, f{fn} {}

  const param& param_at(int i) const { return lib.param_of(f, i); }

  // Returns the number of outputs before a C position.
  int output_at(int position) const {
    int output = 0;
    for (int i = 0; i < position; ++i) output += is_output(param_at(i).k);
    return output;
  }

  // Returns the value of an integer parameter that another one uses as its count or size.
  word value_of(int i) const {
    kind k = param_at(i).k;
    if (k == kind::list_u64 || k == kind::sequence_u64) return cell[i];
    if (k == kind::length_of_list) return cell[param_at(i).aux];
    bool is_pointed_to = k == kind::attribute_size || k == kind::capacity_of_output;
    return is_output(k) || is_pointed_to ? cell[i] : w[i];
  }

  const library& lib;
  const function& f;
  bool skips_call = false;  // the handwritten step has set the outputs already
};

constexpr int none_rejected = -1;

// Converts the arguments of a call. Returns the C position of a rejected one, or `none_rejected`.
int convert(frame& c);

// Creates the objects of all outputs in order. Returns their number, -1 with an error set.
int make_outputs(frame& c, PyObject** values);

// Frame of a call whose record the compiler knows: only what its parameters need.
template <const library& Library, int Parameters, int Outputs, class Memory>
struct light_frame : frame_words<Parameters>, frame_objects<Outputs>, Memory {
  using frame_words<Parameters>::frame_words;
  static constexpr const library& lib = Library;
};

}  // namespace halfwarp::bindings
