// SPDX-License-Identifier: Apache-2.0
// The one place where what C++ or the driver reports becomes a Python exception.
#include "python/errors.hpp"

#include <exception>
#include <new>
#include <string>

#include "core/handle.hpp"
#include "driver/call.hpp"
#include "python/lock/held.hpp"

namespace halfwarp::python {
namespace {

PyObject* warning = nullptr;  // the class, written once

int give_warning(void* data) noexcept {
  auto* const text = static_cast<std::string*>(data);
  const int result = PyErr_WarnEx(warning, text->c_str(), 1);
  if (result < 0) PyErr_WriteUnraisable(nullptr);  // it was to become an error
  delete text;
  return 0;
}

// A clean-up may fail on any thread, with any lock held, in the middle of anything: the warning is
// given by the main thread, when it next runs code of Python.
bool warn(const std::string& text) noexcept {
  if (is_finalizing()) return false;
  auto* const copy = new (std::nothrow) std::string{text};
  if (copy == nullptr) return false;
  if (Py_AddPendingCall(give_warning, copy) == 0) return true;
  delete copy;
  return false;
}

}  // namespace

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

void warn_of_clean_up(PyObject* warning_class) noexcept {
  warning = Py_NewRef(warning_class);
  core::warning_hook = warn;
}

}  // namespace halfwarp::python
