// SPDX-License-Identifier: Apache-2.0
// Handwritten steps of driver functions: contexts, linker invocations, graph nodes, text outputs.
#include <cuda.h>

#include <cstring>

#include "bindings/calls/engine.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/handwritten/handwritten.hpp"
#include "bindings/objects/keep_alive.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

bool has_name(PyObject* names, const char* name) {
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0) return true;
  return false;
}

// Accepts the arguments of CUDA 12, (flags, dev), and of CUDA 13, (ctxCreateParams, flags, dev).
PyObject* enter_create_context(const library& lib, const function& f, PyObject* const* args,
                               Py_ssize_t n, PyObject* names) {
  constexpr int most = 3;
  Py_ssize_t count = n + (names ? PyTuple_GET_SIZE(names) : 0);
  bool has_params =
      count != most - 1 || (n > 0 && args[0] == Py_None) || has_name(names, "ctxCreateParams");
  if (has_params) return call_by_record(lib, f, args, n, names);
  if (PyErr_WarnEx(PyExc_DeprecationWarning,
                   "cuCtxCreate(flags, dev) is deprecated: use cuCtxCreate(None, flags, dev)", 1))
    return nullptr;
  PyObject* shifted[most] = {Py_None, args[0], args[1]};
  return call_by_record(lib, f, shifted, n + 1, names);
}

// Linker states -> (options, values, arrays): the driver writes into them until the state is
// destroyed.
PyObject* open_links;

constexpr int options_at = 1, values_at = 2;  // C positions

// Copies an array that the driver may write later into a bytes object.
PyObject* persistent(word& array, std::size_t bytes) {
  PyObject* copy =
      PyBytes_FromStringAndSize(reinterpret_cast<const char*>(array), Py_ssize_t(bytes));
  if (copy) array = bytes ? reinterpret_cast<word>(PyBytes_AS_STRING(copy)) : 0;
  return copy;
}

// Returns the owner of the memory at `data` while the driver may write there; steals `value`.
PyObject* exported(PyObject* value, word& data) {
  if (!PyObject_CheckBuffer(value) || PyIndex_Check(value)) return value;
  PyObject* view = PyMemoryView_FromObject(value);
  if (view && reinterpret_cast<word>(PyMemoryView_GET_BUFFER(view)->buf) != data) {
    Py_CLEAR(view);
    if (PyBytes_Check(value)) {  // of length 0 or 1: the call got other memory
      view = PyByteArray_FromStringAndSize(nullptr, 16);
      if (view) data = reinterpret_cast<word>(PyByteArray_AS_STRING(view));
    } else {
      PyErr_SetString(PyExc_BufferError,
                      "cuLinkCreate() argument 'optionValues': a buffer moved during the call");
    }
  }
  Py_DECREF(value);
  return view;
}

// Exports the buffers among the values, so that no other code resizes them.
PyObject* export_buffers(PyObject* values, word* converted, word n) {
  PyObject* exports = PyList_New(0);
  for (word i = 0; exports && i < n; ++i) {
    PyObject* value = list_item(values, Py_ssize_t(i));
    const reference stable{value ? exported(value, converted[i]) : nullptr};
    if (!stable || PyList_Append(exports, stable) < 0) Py_CLEAR(exports);
  }
  return exports;
}

bool retain_link_options(frame& c) {
  word n = c.cell[values_at];
  const reference options{persistent(c.w[options_at], std::size_t(n) * sizeof(std::int32_t))};
  const reference values{options ? persistent(c.w[values_at], std::size_t(n) * sizeof(word))
                                 : nullptr};
  const reference exports{values ? export_buffers(c.argument(c.param_at(values_at)),
                                                  reinterpret_cast<word*>(c.w[values_at]), n)
                                 : nullptr};
  PyObject* memory =
      exports ? PyTuple_Pack(3, options.get(), values.get(), exports.get()) : nullptr;
  c.cell[options_at] = reinterpret_cast<word>(memory);  // for `after`, which always runs
  return memory != nullptr;
}

PyObject* key_of(word handle) { return PyLong_FromUnsignedLongLong(handle); }

bool make_open_links() {
  engine_lock lock;
  if (!open_links) open_links = PyDict_New();
  return open_links != nullptr;
}

bool store_link(frame& c, int code) {
  auto* memory = reinterpret_cast<PyObject*>(c.cell[options_at]);
  bool ok = true;
  if (code == 0) {
    const reference key{make_open_links() ? key_of(load_handle(c.out[0], 8)) : nullptr};
    ok = key && PyDict_SetItem(open_links, key, memory) == 0;
  }
  Py_XDECREF(memory);
  return ok;
}

// Removes the entry before the call: once the driver has destroyed the state, another thread may
// receive the same handle.
bool pop_link(frame& c) {
  const reference key{make_open_links() ? key_of(c.w[0]) : nullptr};
  PyObject* memory = key ? pop_item(open_links, key) : nullptr;
  c.cell[0] = reinterpret_cast<word>(memory);
  return !PyErr_Occurred();
}

bool release_link(frame& c, int code) {
  auto* memory = reinterpret_cast<PyObject*>(c.cell[0]);
  const reference key{memory && code ? key_of(c.w[0]) : nullptr};
  bool ok = !memory || !code || (key && PyDict_SetItem(open_links, key, memory) == 0);
  Py_XDECREF(memory);
  return ok;
}

// Rejects a buffer that is smaller than the size argument; the library would write past its end.
bool check_text_capacity(frame& c) {
  for (int i = 0; i + 1 < c.f.n; ++i) {
    if (c.param_at(i).k != kind::text_output) continue;
    word requested = c.value_of(i + 1);
    if (requested <= c.cell[i]) continue;
    return raise_error(PyExc_ValueError,
                       "%s() argument '%s': the buffer has %llu bytes, '%s' is %llu",
                       c.f.name.c_str(), parameter_name(c.f, c.param_at(i).py), c.cell[i],
                       parameter_name(c.f, c.param_at(i + 1).py), requested);
  }
  return true;
}

// Returns the params object of a node, and the address of its struct. The runtime has the same
// struct.
PyObject* node_params(const frame& c, CUgraphNodeParams*& params) {
  for (int i = 0; i < c.f.n; ++i) {
    kind k = c.param_at(i).k;
    if (k != kind::structure && k != kind::out_structure) continue;
    params = reinterpret_cast<CUgraphNodeParams*>(c.w[i]);
    return k == kind::structure ? c.argument(c.param_at(i)) : c.out[c.output_at(i)];
  }
  return nullptr;
}

// Copies the graphs of a conditional node into memory that the params object owns.
bool after_graph_creation(frame& c, int code) {
  CUgraphNodeParams* params = nullptr;
  PyObject* object = code == 0 ? node_params(c, params) : nullptr;
  if (!params || params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL) return true;
  const CUDA_CONDITIONAL_NODE_PARAMS& conditional = params->conditional;
  std::size_t bytes = conditional.phGraph_out ? conditional.size * sizeof(CUgraph) : 0;
  const reference block{bytes ? new_memory_block(bytes) : nullptr};
  if (bytes && !block) return false;
  if (block) std::memcpy(as_block(block)->data, conditional.phGraph_out, bytes);
  return retain_for_field(as_storage(object), &conditional.phGraph_out, block) == 0;
}

// Checks for a Python error: a function that returns a struct by value has no code.
bool check_for_error(frame&, int) { return !PyErr_Occurred(); }

PyObject* enter_bare(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                     PyObject* names) {
  const reference pair{call_by_record(lib, f, args, n, names)};
  return pair ? Py_NewRef(PyTuple_GET_ITEM(pair.get(), 1)) : nullptr;
}

}  // namespace

namespace handwritten {
const handwritten_steps copy_conditional_graphs = {.after = after_graph_creation};
const handwritten_steps dump_text = {.before = check_text_capacity};
const handwritten_steps create_context = {.entry = enter_create_context};
const handwritten_steps create_link = {.before = retain_link_options, .after = store_link};
const handwritten_steps destroy_link = {.before = pop_link, .after = release_link};
const handwritten_steps returned_struct = {.after = check_for_error};
const handwritten_steps bare_struct = {.after = check_for_error, .entry = enter_bare};
}  // namespace handwritten

}  // namespace halfwarp::bindings
