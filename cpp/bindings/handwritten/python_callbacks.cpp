// SPDX-License-Identifier: Apache-2.0
// Python callables and ctypes functions as callbacks of streams.
#include "bindings/handwritten/python_callbacks.hpp"

#include <cstring>

#include "bindings/calls/engine.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/enum_type.hpp"

namespace halfwarp::bindings {
namespace {

constexpr int stream_at = 0, function_at = 1, data_at = 2;

// Returns 1 for an instance of ctypes' class of functions, -1 with an error set. Without the module
// there is no instance.
int is_ctypes_function(PyObject* object) {
  const reference name{PyUnicode_FromString("_ctypes")};
  const reference module{name ? PyImport_GetModule(name) : nullptr};
  if (!module) return PyErr_Occurred() ? failed : 0;
  const reference type{PyObject_GetAttrString(module, "CFuncPtr")};
  return type ? PyObject_IsInstance(object, type) : failed;
}

// Returns the address of a ctypes function as an int. Its buffer contains the address.
PyObject* address_of_ctypes(PyObject* object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) < 0) return nullptr;
  void* address = nullptr;
  if (view.len == Py_ssize_t(sizeof address)) std::memcpy(&address, view.buf, sizeof address);
  PyBuffer_Release(&view);
  return PyLong_FromVoidPtr(address);
}

bool is_address(PyObject* object) {
  const PyNumberMethods* numbers = Py_TYPE(object)->tp_as_number;
  return numbers && (numbers->nb_int || numbers->nb_index);
}

// Restores the owner of an outer call, whose arguments may call back.
class owner_scope {
 public:
  explicit owner_scope(const callback_owner* owner) : outer_{current_callback_owner} {
    current_callback_owner = owner;
  }
  owner_scope(const owner_scope&) = delete;  // one call
  ~owner_scope() { current_callback_owner = outer_; }

 private:
  const callback_owner* outer_;
};

void report(const callback_owner& owner, PyObject* result) {
  if (!result) PyErr_WriteUnraisable(owner.callable);
  Py_XDECREF(result);
}

void call_with_status(const callback_owner& owner, void* stream, int status) {
  const reference handle{new_handle(*owner.lib, owner.stream_type)};
  if (handle) std::memcpy(address_of(handle), &stream, sizeof stream);
  const reference code{handle ? enum_member(*owner.lib, owner.lib->result_enum, status) : nullptr};
  PyObject* arguments[] = {handle, code, owner.argument};
  report(owner, code ? PyObject_Vectorcall(owner.callable, arguments, 3, nullptr) : nullptr);
}

}  // namespace

thread_local const callback_owner* current_callback_owner = nullptr;

PyObject* call_with_callable(const library& lib, const function& f, PyObject* const* args,
                             Py_ssize_t n, PyObject* names) {
  PyObject* bound[max_parameters];
  if (!bind_arguments(lib, f, args, n, names, bound)) return nullptr;
  PyObject* callable = bound[function_at];
  if (!PyCallable_Check(callable) || is_address(callable) || any_class_of(callable)) {
    const owner_scope none{nullptr};
    return call_by_record(lib, f, bound, f.positional, nullptr);
  }
  const int is_ctypes = is_ctypes_function(callable);
  // The record replaces this address, which only has to differ from null.
  const reference address{is_ctypes < 0 ? nullptr
                          : is_ctypes   ? address_of_ctypes(callable)
                                        : PyLong_FromLong(1)};
  if (!address) return nullptr;
  const reference retained{Py_NewRef(callable)};  // its caller may release it meanwhile
  const reference argument{Py_NewRef(bound[data_at])};
  const callback_owner owner{callable, is_ctypes ? nullptr : argument.get(), &lib,
                             lib.param_of(f, stream_at).type};
  bound[function_at] = address;
  if (!is_ctypes) bound[data_at] = Py_None;
  const owner_scope scope{&owner};
  return call_by_record(lib, f, bound, f.positional, nullptr);
}

void call_python(const callback_owner& owner, void*) {
  report(owner, PyObject_CallOneArg(owner.callable, owner.argument));
}

void call_python(const callback_owner& owner, CUstream stream, CUresult status, void*) {
  call_with_status(owner, stream, status);
}

void call_python(const callback_owner& owner, CUstream stream, cudaError_t status, void*) {
  call_with_status(owner, stream, status);
}

}  // namespace halfwarp::bindings
