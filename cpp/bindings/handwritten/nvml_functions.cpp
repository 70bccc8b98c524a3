// SPDX-License-Identifier: Apache-2.0
// Handwritten steps of NVML functions with special arguments or structs.
#include "headers/nvml.h"

#include <cstring>

#include "bindings/calls/engine.hpp"
#include "bindings/converters/assembly.hpp"
#include "bindings/errors/errors.hpp"
#include "bindings/exceptions/exceptions.hpp"
#include "bindings/handwritten/handwritten.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/numpy_structs/numpy_struct_fields.hpp"

namespace halfwarp::bindings {
namespace {

// Converts the arguments of a function to positional form; false with an error set.
bool bind(const library& lib, const function& f, PyObject* const*& args, Py_ssize_t n,
          PyObject* names, PyObject** bound) {
  if (!names && n == f.positional) return true;
  if (!bind_arguments(lib, f, args, n, names, bound)) return false;
  args = bound;
  return true;
}

bool handle_at(frame& c, int i) {
  const param& p = c.param_at(i);
  return integer_argument<kind::i64>(c.argument(p), c.w[i]) ||
         raise_for_argument(c.f, p) != nullptr;
}

// Checks handles that the library would dereference; false with the exception set if one is null.
bool has_handles(const frame& c) {
  for (int i = 0; i < c.f.n; ++i) {
    const param& p = c.param_at(i);
    if (p.k == kind::present_handle && !c.w[i] && !reject_null(c.lib, c.f, p)) return false;
  }
  return true;
}

// Calls the C function; false with the exception of a failure set.
bool succeed(const frame& c) {
  if (!has_handles(c)) return false;
  word result = invoke(c);
  if (result || PyErr_Occurred())
    return raise_status(c.lib, c.f.name, std::int64_t(int(result)), result) != nullptr;
  return true;
}

word struct_address(PyObject* object) {
  return reinterpret_cast<word>(as_numpy_struct(object)->data);
}

// ---- structs with an older version

constexpr int device_at = 0, struct_at = 1;

// Whether the error of an older driver is set, which supports only an older version of the struct.
bool is_mismatch(const library& lib) {
  auto* type = exception_for(lib, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  return type && PyErr_ExceptionMatches(reinterpret_cast<PyObject*>(type));
}

PyObject* newest_struct_entry(const library& lib, const function& f, PyObject* const* args,
                              Py_ssize_t n, PyObject* names) {
  PyObject* result = call_by_record(lib, f, args, n, names);
  if (result || !is_mismatch(lib)) return result;
  PyErr_Clear();
  PyObject* bound[max_parameters];
  if (!bind(lib, f, args, n, names, bound)) return nullptr;
  frame c{lib, f, args};
  if (!handle_at(c, device_at)) return nullptr;
  PyObject* older = assemble(c, lib.assemblies[std::size_t(c.param_at(struct_at).type + 1)]);
  if (!older) return nullptr;
  c.w[struct_at] = struct_address(older);
  if (!succeed(c)) Py_CLEAR(older);
  return older;
}

// ---- field values

constexpr int count_at = 1, values_at = 2;

// Parses a field identifier, or a pair of identifier and scope.
bool parse_field(PyObject* item, nvmlFieldValue_t& out) {
  PyObject *id = item, *scope = nullptr;
  if (PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 2) {
    id = PyTuple_GET_ITEM(item, 0);
    scope = PyTuple_GET_ITEM(item, 1);
  }
  word number = 0, scope_number = 0;
  bool ok = PyLong_Check(id) && (!scope || PyLong_Check(scope));
  if (!ok)
    return raise_error(PyExc_ValueError,
                       "expected a field identifier or an (identifier, scope) pair, got %R", item);
  if (!integer_argument<kind::u32>(id, number) ||
      (scope && !integer_argument<kind::u32>(scope, scope_number)))
    return false;
  out.fieldId = unsigned(number);
  out.scopeId = unsigned(scope_number);
  return true;
}

PyObject* fields_of_list(const library& lib, int type, PyObject* values) {
  if (!PyList_Check(values) && !PyTuple_Check(values))
    return raise_error(PyExc_ValueError,
                       "expected FieldValue or a list of field identifiers, got %s",
                       Py_TYPE(values)->tp_name);
  const reference items{PySequence_Tuple(values)};
  PyObject* array =
      items ? new_numpy_struct_array(lib, type, PyTuple_GET_SIZE(items.get())) : nullptr;
  for (Py_ssize_t i = 0; array && i < PyTuple_GET_SIZE(items.get()); ++i) {
    auto* fields = reinterpret_cast<nvmlFieldValue_t*>(as_numpy_struct(array)->data);
    if (!parse_field(PyTuple_GET_ITEM(items.get(), i), fields[i])) Py_CLEAR(array);
  }
  return array;
}

// Returns a contiguous array of fields for the call: the argument itself, or a new array.
PyObject* fields_of(const library& lib, int type, PyObject* values) {
  if (!ready_class(lib, type)) return nullptr;
  if (!is_instance(values, lib, type)) return fields_of_list(lib, type, values);
  Py_ssize_t size = Py_ssize_t(sizeof(nvmlFieldValue_t));
  return as_numpy_struct(values)->e.is_contiguous(size) ? Py_NewRef(values) : packed_copy(values);
}

PyObject* call_with_fields(const library& lib, const function& f, PyObject* const* args,
                           Py_ssize_t n, PyObject* names) {
  PyObject* bound[max_parameters];
  if (!bind(lib, f, args, n, names, bound)) return nullptr;
  frame c{lib, f, args};
  const param& p = c.param_at(values_at);
  if (!handle_at(c, device_at)) return nullptr;
  PyObject* fields = fields_of(lib, p.type, c.argument(p));
  if (!fields) return raise_for_argument(f, p);
  c.w[count_at] = word(as_numpy_struct(fields)->e.elements());
  if (!c.w[count_at]) return fields;  // the library rejects a count of zero
  c.w[values_at] = struct_address(fields);
  if (!succeed(c)) Py_CLEAR(fields);
  return fields;
}

PyObject* clear_fields(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                       PyObject* names) {
  const reference fields{call_with_fields(lib, f, args, n, names)};
  if (!fields) return nullptr;
  Py_RETURN_NONE;
}

// ---- registers

PyObject* read_write_entry(const library& lib, const function& f, PyObject* const* args,
                           Py_ssize_t n, PyObject* names) {
  PyObject* bound[max_parameters];
  if (!bind(lib, f, args, n, names, bound)) return nullptr;
  frame c{lib, f, args};
  if (!handle_at(c, device_at)) return nullptr;
  const reference object{assemble(c, lib.assemblies[std::size_t(c.param_at(struct_at).type)])};
  if (!object) return nullptr;
  auto* buffer = reinterpret_cast<nvmlPRMTLV_v1_t*>(as_numpy_struct(object)->data);
  buffer->dataSize = unsigned(PyBytes_GET_SIZE(args[1]));
  c.w[struct_at] = struct_address(object);
  PyObject* result = nullptr;
  if (succeed(c)) {
    auto size = Py_ssize_t(buffer->dataSize);
    if (size > Py_ssize_t(sizeof buffer->outData)) size = sizeof buffer->outData;
    result = Py_BuildValue("Iy#", buffer->status, buffer->outData, size);
  }
  return result;
}

// ---- events

constexpr int request_at = 0;

bool before_wait(frame& c) {
  auto* request = reinterpret_cast<nvmlSystemEventSetWaitRequest_v1_t*>(c.w[request_at]);
  PyObject* object = c.out[0];
  const assembly& a = c.lib.assemblies[std::size_t(c.param_at(request_at).type)];
  const numpy_field& events = numpy_record_of(object).fields[std::size_t(a.output)];
  return allocate_list(c.lib, events, object, Py_ssize_t(request->dataSize)) == 0;
}

// Sets the array length to the number of events.
bool after_wait(frame& c, int code) {
  auto* request = reinterpret_cast<nvmlSystemEventSetWaitRequest_v1_t*>(c.w[request_at]);
  if (!code && request->numEvent < request->dataSize) request->dataSize = request->numEvent;
  return true;
}

PyObject* context_data_entry(const library& lib, const function& f, PyObject* const* args,
                             Py_ssize_t n, PyObject* names) {
  PyObject* bound[max_parameters];
  if (!bind(lib, f, args, n, names, bound)) return nullptr;
  frame c{lib, f, args};
  word index;
  if (!handle_at(c, 0)) return nullptr;
  if (!integer_argument<kind::u32>(args[1], index))
    return add_context("%s() argument '%s': ", f.name.c_str(), parameter_name(f, 1));
  nvmlEventSetGetContextData_v1_t request{nullptr, unsigned(index), 0};
  c.w[struct_at] = reinterpret_cast<word>(&request);
  if (!has_handles(c)) return nullptr;
  int code = int(invoke(c));
  if ((code && code != NVML_ERROR_INSUFFICIENT_SIZE) || PyErr_Occurred())
    return raise_status(lib, f.name, code, word(code));
  PyObject* bytes = PyBytes_FromStringAndSize(nullptr, Py_ssize_t(request.dataSize));
  if (!bytes) return nullptr;
  request.data = PyBytes_AS_STRING(bytes);
  if (request.dataSize && !succeed(c)) Py_CLEAR(bytes);
  return bytes;
}

// ---- a parameter with an older name

PyObject* topology_entry(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                         PyObject* names) {
  bool is_old = names && PyTuple_GET_SIZE(names) == 1 &&
                PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "cpuNumber") == 0;
  if (!is_old) return call_by_record(lib, f, args, n, names);
  const reference renamed{Py_BuildValue("(s)", f.names.c_str())};
  return renamed ? call_by_record(lib, f, args, n, renamed) : nullptr;
}

bool before_topology(frame& c) { return handwritten::counted_call.before(c); }

// ---- errors

// Returns the text of the library for a status; nullptr if the library is missing.
PyObject* error_text(const library& lib, std::int64_t status, word) {
  for (const function& f : lib.functions) {
    if (!(f.f & returns_text)) continue;
    word argument = word(status);
    auto* text = reinterpret_cast<const char*>(call_c(lib, f, &argument));
    if (text) return PyUnicode_DecodeUTF8(text, Py_ssize_t(std::strlen(text)), "replace");
  }
  PyErr_Clear();
  return nullptr;
}

// Notes the call that is missing before all others.
bool note_initialization(const library&, PyObject* error, word status) {
  if (status != NVML_ERROR_UNINITIALIZED) return true;
  const reference done{PyObject_CallMethod(error, "add_note", "s", "call nvml.init_v2() first")};
  return bool(done);
}

}  // namespace

const error_details nvml_errors = {.text = error_text, .complete = note_initialization};

namespace handwritten {
const handwritten_steps newest_struct = {.entry = newest_struct_entry};
const handwritten_steps get_field_values = {.entry = call_with_fields};
const handwritten_steps clear_field_values = {.entry = clear_fields};
const handwritten_steps read_write_prm = {.entry = read_write_entry};
const handwritten_steps topology_gpu_set = {.before = before_topology, .entry = topology_entry};
const handwritten_steps wait_for_system_events = {.before = before_wait, .after = after_wait};
const handwritten_steps get_context_data = {.entry = context_data_entry};
}  // namespace handwritten

}  // namespace halfwarp::bindings
