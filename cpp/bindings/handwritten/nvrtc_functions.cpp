// SPDX-License-Identifier: Apache-2.0
// Handwritten steps of NVRTC functions: outputs in buffers of the caller, and the list of
// architectures.
#include <cstring>

#include "bindings/calls/engine.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/handwritten/handwritten.hpp"
#include "bindings/objects/enum_type.hpp"

namespace halfwarp::bindings {
namespace {

constexpr int program_at = 0, output_at = 1;

// Returns the size function of a function: nvrtcGetPTX -> nvrtcGetPTXSize.
const function* size_function(const library& lib, const function& f) {
  std::size_t length = std::strlen(f.name);
  for (const function& other : lib.functions)
    if (std::strncmp(other.name, f.name, length) == 0 &&
        std::strcmp(other.name + length, "Size") == 0)
      return &other;
  return nullptr;
}

// Rejects a buffer that is too small: the library does not know its size.
bool check_output_size(frame& c) {
  const function* sizes = size_function(c.lib, c.f);
  word needed = 0;
  word arguments[] = {c.w[program_at], reinterpret_cast<word>(&needed)};
  if (!sizes || call_c(c.lib, *sizes, arguments) != 0) return !PyErr_Occurred();
  if (needed <= c.cell[output_at]) return true;
  return raise_error(PyExc_ValueError,
                     "%s() argument '%s': the buffer has %llu bytes, %llu are needed (see %s)",
                     c.f.name.c_str(), parameter_name(c.f, output_at), c.cell[output_at], needed,
                     sizes->name.c_str());
}

bool warn_of_size(const function& f) {
  return PyErr_WarnFormat(PyExc_DeprecationWarning, 1,
                          "%s(prog, size) is deprecated: use %s(prog, buffer) with a buffer of "
                          "that size",
                          f.name.c_str(), f.name.c_str()) == 0;
}

// Implements the deprecated form nvrtcGetPTX(prog, size) -> (result, bytes).
PyObject* call_with_size(const library& lib, const function& f, PyObject* program, PyObject* size) {
  Py_ssize_t bytes = PyLong_AsSsize_t(size);
  if (bytes < 0) {
    if (!PyErr_Occurred())
      return raise_error(PyExc_ValueError,
                         "%s() argument '%s': a size must not be negative, got %zd", f.name.c_str(),
                         parameter_name(f, output_at), bytes);
  }
  const reference output{warn_of_size(f) ? PyByteArray_FromStringAndSize(nullptr, bytes) : nullptr};
  if (!output) return nullptr;
  PyObject* args[] = {program, output};
  const reference result{call_by_record(lib, f, args, 2, nullptr)};
  PyObject* pair = nullptr;
  if (result) {
    bool ok = PyTuple_GET_ITEM(result.get(), 0) == success(lib);
    PyObject* text = ok ? PyBytes_FromStringAndSize(PyByteArray_AS_STRING(output.get()), bytes)
                        : Py_NewRef(Py_None);
    if (text) pair = PyTuple_Pack(2, PyTuple_GET_ITEM(result.get(), 0), text);
    Py_XDECREF(text);
  }
  return pair;
}

PyObject* enter_get_output(const library& lib, const function& f, PyObject* const* args,
                           Py_ssize_t n, PyObject* names) {
  PyObject* bound[max_parameters];
  if (!bind_arguments(lib, f, args, n, names, bound)) return nullptr;
  if (PyLong_Check(bound[output_at]))
    return call_with_size(lib, f, bound[program_at], bound[output_at]);
  return call_by_record(lib, f, bound, f.positional, nullptr);
}

// Reserves the output array; another function returns its length.
bool reserve_architectures(frame& c) {
  const function* count_function = nullptr;
  for (const function& f : c.lib.functions)
    if (std::strcmp(f.name, "nvrtcGetNumSupportedArchs") == 0) count_function = &f;
  std::int32_t count = 0;
  word arguments[] = {reinterpret_cast<word>(&count)};
  if (!count_function || call_c(c.lib, *count_function, arguments) != 0)
    return !PyErr_Occurred();  // the call itself reports the error
  c.cell[0] = word(count);
  c.w[0] =
      reinterpret_cast<word>(c.memory.allocate_zeroed(std::size_t(count) * sizeof(std::int32_t)));
  return c.w[0] != 0;
}

}  // namespace

// Returns the name of the code without its value, as the library spells it.
static PyObject* name_text(const library& lib, std::int64_t status, word) {
  const enum_type* statuses = ready_enum(lib, lib.result_enum);
  const enum_entry* entry = statuses ? find_entry(statuses, status) : nullptr;
  return entry ? PyUnicode_FromFormat("NVRTC_%U", entry->name) : nullptr;
}
const error_details nvrtc_errors = {.text = name_text};

namespace handwritten {
const handwritten_steps get_output = {.before = check_output_size, .entry = enter_get_output};
const handwritten_steps get_supported_architectures = {.before = reserve_architectures};
}  // namespace handwritten

}  // namespace halfwarp::bindings
