// SPDX-License-Identifier: Apache-2.0
// The one place where what C++ or the driver reports becomes a Python exception.
#include "python/errors.hpp"

#include <exception>
#include <new>

#include "driver/call.hpp"
#include "python/lock/held.hpp"

namespace halfwarp::python {

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

}  // namespace halfwarp::python
