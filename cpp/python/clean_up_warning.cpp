// SPDX-License-Identifier: Apache-2.0
// A clean-up may fail on any thread, with any lock held, in the middle of anything: the warning is
// given by the main thread, when it next runs code of Python.
#include "python/clean_up_warning.hpp"

#include <new>
#include <string>

#include "core/handle.hpp"
#include "python/errors.hpp"

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

bool warn(const std::string& text) noexcept {
  if (is_finalizing()) return false;
  auto* const copy = new (std::nothrow) std::string{text};
  if (copy == nullptr) return false;
  if (Py_AddPendingCall(give_warning, copy) == 0) return true;
  delete copy;
  return false;
}

}  // namespace

void warn_of_clean_up(PyObject* warning_class) noexcept {
  warning = Py_NewRef(warning_class);
  core::give_clean_up_warning = warn;
}

}  // namespace halfwarp::python
