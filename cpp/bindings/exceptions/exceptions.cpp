// SPDX-License-Identifier: Apache-2.0
// Creates exceptions from tables: status, name of the status, explanation.
#include "bindings/exceptions/exceptions.hpp"

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/records/c_calls.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

// Returns the message "NAME (value)". Programs compare it, so nothing is added, unless the library
// defines its own form.
PyObject* message(const library& lib, const enum_entry* entry, std::int64_t status, word result) {
  const error_details* details = lib.raises->details;
  auto value = static_cast<long long>(status);
  PyObject* text = details && details->text ? details->text(lib, status, result) : nullptr;
  if (text || PyErr_Occurred()) return text;
  return entry ? PyUnicode_FromFormat("%U (%lld)", entry->name, value)
               : PyUnicode_FromFormat("UNKNOWN_%lld (%lld)", value, value);
}

bool set(PyObject* object, const char* name, PyObject* value) {
  bool ok = value && PyObject_SetAttrString(object, name, value) == 0;
  Py_XDECREF(value);
  return ok;
}

// Adds a note with the failed call and the meaning of the status; tracebacks print it below the
// message.
bool explain(PyObject* error, const enum_entry* entry, const char* caller) {
  const char* doc = entry && entry->doc ? entry->doc : "";
  if (!caller && !*doc) return true;
  PyObject* note = !caller ? PyUnicode_FromString(doc)
                   : *doc  ? PyUnicode_FromFormat("%s(): %s", caller, doc)
                           : PyUnicode_FromFormat("%s() failed", caller);
  return note && set(error, "__notes__", Py_BuildValue("[N]", note));
}

bool describe(const library& lib, PyObject* error, const char* caller, std::int64_t status,
              word result) {
  const enum_type* statuses = ready_enum(lib, lib.result_enum);
  if (!statuses) return false;
  const enum_entry* entry = find_entry(statuses, status);
  const reference text{message(lib, entry, status, result)};
  PyObject* args = text ? PyTuple_Pack(1, text.get()) : nullptr;
  return set(error, "args", args) && set(error, "status", PyLong_FromLongLong(status)) &&
         explain(error, entry, caller);
}

bool complete(const library& lib, PyObject* error, word result) {
  const error_details* details = lib.raises->details;
  return !details || !details->complete || details->complete(lib, error, result);
}

// Adds a note to the raised exception.
void add_note(const char* format, const char* name) {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  const reference note{PyUnicode_FromFormat(format, name)};
  const reference done{note ? PyObject_CallMethod(error, "add_note", "O", note.get()) : nullptr};
  if (!done) PyErr_Clear();  // no memory for a note: keep the original error
  PyErr_Restore(type, error, traceback);
}

// Pickles as (class, (status,), attributes), which keeps the message and attributes that users
// added.
PyObject* reduce(PyObject* self, PyObject*) {
  const reference status{PyObject_GetAttrString(self, "status")};
  const reference args{PyObject_GetAttrString(self, "args")};
  const reference attributes{PyObject_GetAttrString(self, "__dict__")};
  const reference state{attributes ? PyDict_Copy(attributes) : nullptr};
  PyObject* result = nullptr;
  if (status && args && state && PyDict_SetItemString(state, "args", args) == 0)
    result = Py_BuildValue("O(O)O", Py_TYPE(self), status.get(), state.get());
  return result;
}

PyMethodDef error_methods[] = {
    {"__reduce__", reduce, METH_NOARGS, "Return the reduction for pickle and copy. Host only."},
    {}};

// Returns the built-in exception that is an alias of the class, so that `except` with either name
// catches it. Borrowed; null if there is none.
PyObject* built_in_kind(const library& lib, int index) {
  for (const exception_alias& alias : lib.raises->aliases) {
    if (alias.index != index) continue;
    PyObject* builtin = PyDict_GetItemString(PyEval_GetBuiltins(), alias.name.c_str());
    if (builtin && PyExceptionClass_Check(builtin)) return builtin;
  }
  return nullptr;
}

PyTypeObject* make_exception(const library& lib, int index) {
  const exception_record& record = lib.raises->classes[std::size_t(index)];
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(record.doc.c_str())},
                         {Py_tp_init, reinterpret_cast<void*>(lib.raises->init)},
                         {Py_tp_methods, error_methods},
                         {}};
  PyType_Spec spec = {record.name, 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* base = index ? reinterpret_cast<PyObject*>(ready_exception(lib, 0)) : PyExc_Exception;
  if (!base) return nullptr;
  PyObject* builtin = built_in_kind(lib, index);
  const reference bases{builtin ? PyTuple_Pack(2, base, builtin) : PyTuple_Pack(1, base)};
  return bases ? reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.get()))
               : nullptr;
}

}  // namespace

PyTypeObject* ready_exception(const library& lib, int index) {
  PyTypeObject** slot = &lib.raises->types[index];
  if (PyTypeObject* type = __atomic_load_n(slot, __ATOMIC_ACQUIRE)) return type;
  engine_lock lock;
  if (!*slot) __atomic_store_n(slot, make_exception(lib, index), __ATOMIC_RELEASE);
  return *slot;
}

PyTypeObject* exception_for(const library& lib, std::int64_t status) {
  int n = int(lib.raises->classes.size());
  for (int i = 1; i < n; ++i)
    if (lib.raises->classes[std::size_t(i)].status == status) return ready_exception(lib, i);
  return ready_exception(lib, 0);
}

PyObject* raise_status(const library& lib, const char* caller, std::int64_t status, word result) {
  if (PyErr_Occurred()) return nullptr;
  auto* type = reinterpret_cast<PyObject*>(exception_for(lib, status));
  const reference value{type ? PyLong_FromLongLong(status) : nullptr};
  const reference error{value ? PyObject_CallOneArg(type, value) : nullptr};
  if (error && describe(lib, error, caller, status, result) && complete(lib, error, result))
    PyErr_SetObject(type, error);
  return nullptr;
}

bool reject_null(const library& lib, const function& f, const param& p) {
  int has = has_function(lib, f);
  if (has <= 0) return has == 0;
  int status = lib.raises->null_handle;
  raise_status(lib, f.name, status, word(status));
  add_note("argument '%s' is a null handle", parameter_name(f, p.py));
  return false;
}

PyObject* check_status(const library& lib, PyObject* status, bool insufficient_passes) {
  long value = PyLong_AsLong(status);
  if (value == -1 && PyErr_Occurred()) return nullptr;
  if (value && !(insufficient_passes && value == lib.raises->insufficient))
    return raise_status(lib, nullptr, value, word(value));
  return PyLong_FromLong(0);
}

PyObject* op_status_error(const library& lib, PyObject* status) {
  long value = PyLong_AsLong(status);
  const enum_type* statuses =
      value == -1 && PyErr_Occurred() ? nullptr : ready_enum(lib, lib.result_enum);
  if (!statuses) return nullptr;
  const enum_entry* entry = find_entry(statuses, value);
  return PyUnicode_FromString(entry && entry->doc ? entry->doc : "A code that is not known.");
}

int init_error(const library& lib, PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* const names[] = {"status", "cu_err", nullptr};
  static const char* const one_name[] = {"status", nullptr};
  const error_details* details = lib.raises->details;
  bool has_cuda_status = details && details->takes_cuda_status;
  const char* name = short_name(Py_TYPE(self)->tp_name);
  char format[128];
  PyOS_snprintf(format, sizeof format, has_cuda_status ? "O|O:%s" : "O:%s", name);
  PyObject *status_arg, *cuda_status = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, format,
                                   const_cast<char**>(has_cuda_status ? names : one_name),
                                   &status_arg, &cuda_status))
    return failed;
  word status, result = 0;
  if (!integer_argument<kind::i64>(status_arg, status))
    return add_context("%s() argument 'status': ", name) - 1;
  if (cuda_status != Py_None) {
    if (!integer_argument<kind::u32>(cuda_status, result))
      return add_context("%s() argument 'cu_err': ", name) - 1;
    result = result << 32 | has_cuda_status_flag;
  }
  return describe(lib, self, nullptr, std::int64_t(status), result) && complete(lib, self, result)
             ? 0
             : failed;
}

}  // namespace halfwarp::bindings
