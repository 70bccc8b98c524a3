// SPDX-License-Identifier: Apache-2.0
// Converts C++ exceptions and driver errors to Python exceptions.
#include "python/errors.hpp"

#include <exception>
#include <new>
#include <string>

#include "core/handle.hpp"
#include "driver/call.hpp"
#include "python/lock/held.hpp"
#include "python/lock/initialized.hpp"

namespace halfwarp::python {
namespace {

PyObject* warning_class = nullptr;  // set once

int issue_warning(void* data) noexcept {
  auto* const text = static_cast<std::string*>(data);
  const int result = PyErr_WarnEx(warning_class, text->c_str(), 1);
  if (result < 0) PyErr_WriteUnraisable(nullptr);  // a filter turned the warning into an error
  delete text;
  return 0;
}

// A destruction can fail on any thread, with any lock held. The main thread issues the warning when
// it next runs Python code.
bool queue_warning(const std::string& text) noexcept {
  if (is_finalizing()) return false;
  auto* const copy = new (std::nothrow) std::string{text};
  if (copy == nullptr) return false;
  if (Py_AddPendingCall(issue_warning, copy) == 0) return true;
  delete copy;
  return false;
}

}  // namespace

reference shown(PyObject* value) noexcept {
  PyErr_Clear();  // the caller raises another error
  reference text{run_python([=] { return show_value(value); })};
  if (text) return text;
  PyErr_Clear();
  return reference::borrow(reinterpret_cast<PyObject*>(Py_TYPE(value)));
}

int raise_uninitialized(PyObject* object) noexcept {
  try {
    throw uninitialized_object{object};
  } catch (...) {
    translate_exception();
  }
  return failed;
}

void translate_exception() noexcept {
  if (PyErr_Occurred() != nullptr) return;
  try {
    throw;
  } catch (const driver::driver_error& error) {
    run_python([&] { return raise_driver_error(error.code, error.function); });
  } catch (const closed_object& error) {
    PyErr_Format(PyExc_RuntimeError, "%s has been closed", error.class_name);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an unknown C++ exception reached Python");
  }
}

bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

void set_cleanup_warning(PyObject* new_class) noexcept {
  warning_class = Py_NewRef(new_class);
  core::warning_hook = queue_warning;
}

}  // namespace halfwarp::python
