// SPDX-License-Identifier: Apache-2.0
// Allocation functions that PyTorch calls, on any thread; they forward to cuda.core.interop.
#include <Python.h>
#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "python/errors.hpp"
#include "python/lock/gil.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

// Preserves an exception that is being raised while memory is freed.
class saved_exception {
 public:
  saved_exception() noexcept { PyErr_Fetch(&type_, &value_, &trace_); }
  ~saved_exception() { PyErr_Restore(type_, value_, trace_); }
  saved_exception(const saved_exception&) = delete;  // restores once

 private:
  PyObject *type_, *value_, *trace_;
};

std::string exception_text() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  const reference references[] = {reference{type}, reference{value}, reference{trace}};
  const reference text{PyObject_Str(value != nullptr ? value : type)};
  const char* const text_utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string result{text_utf8 != nullptr ? text_utf8 : "an exception without a message"};
  PyErr_Clear();
  return result;
}

reference call(const char* function, const char* format, auto... arguments) {
  const reference module{PyImport_ImportModule("cuda.core.interop")};
  if (!module) return {};
  return reference{PyObject_CallMethod(module.get(), function, format, arguments...)};
}

constexpr const char* interpreter_ended =
    "the interpreter has ended, and the memory resource with it";

// Returns the address, or 0 with the reason in `error`.
std::uintptr_t allocate(ssize_t size, int device, void* stream, std::string& error) {
  const gil_acquire lock;
  const saved_exception saved;
  if (is_finalizing()) {
    error = interpreter_ended;
    return 0;
  }
  return run_python([&] {
    const reference address =
        call("_allocate_for_torch", "niK", size, device,
             static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stream)));
    const auto result = address ? PyLong_AsSize_t(address.get()) : 0;
    if (PyErr_Occurred() == nullptr) return static_cast<std::uintptr_t>(result);
    error = exception_text();
    return std::uintptr_t{0};
  });
}

}  // namespace
}  // namespace halfwarp::python

// Throws on failure, because PyTorch does not check for null and shows the exception's text.
extern "C" [[gnu::visibility("default")]] void* halfwarp_torch_allocate(ssize_t size, int device,
                                                                        void* stream) {
  std::string error;
  if (Py_IsInitialized() == 0) {
    error = halfwarp::python::interpreter_ended;
  } else if (const auto address = halfwarp::python::allocate(size, device, stream, error);
             error.empty()) {
    return reinterpret_cast<void*>(address);
  }
  throw std::runtime_error{error};
}

// Does nothing after the interpreter's end: process exit frees the memory.
extern "C" [[gnu::visibility("default")]] void halfwarp_torch_free(void* pointer, ssize_t, int,
                                                                   void*) {
  using namespace halfwarp::python;
  if (Py_IsInitialized() == 0 || pointer == nullptr) return;
  const gil_acquire lock;
  const saved_exception saved;
  if (is_finalizing()) return;
  run_python([=] {
    if (!call("_free_for_torch", "K",
              static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(pointer)))) {
      PyErr_WriteUnraisable(nullptr);
    }
  });
}
