// SPDX-License-Identifier: Apache-2.0
// What PyTorch calls for memory, by name, on any thread: hands on to cuda.core.interop.
#include <Python.h>
#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "python/errors.hpp"
#include "python/lock/interpreter_lock.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

// An exception that is on its way when memory goes back is kept.
class kept_exception {
 public:
  kept_exception() noexcept { PyErr_Fetch(&type_, &value_, &trace_); }
  ~kept_exception() { PyErr_Restore(type_, value_, trace_); }
  kept_exception(const kept_exception&) = delete;  // what is kept is set again once

 private:
  PyObject *type_, *value_, *trace_;
};

std::string text_of_exception() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  const reference kept[] = {reference{type}, reference{value}, reference{trace}};
  const reference text{PyObject_Str(value != nullptr ? value : type)};
  const char* const found = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  std::string result{found != nullptr ? found : "an exception without a text"};
  PyErr_Clear();
  return result;
}

reference call(const char* function, const char* format, auto... arguments) {
  const reference module{PyImport_ImportModule("cuda.core.interop")};
  if (!module) return {};
  return reference{PyObject_CallMethod(module.get(), function, format, arguments...)};
}

constexpr const char* AFTER_THE_END = "the interpreter has ended, and the memory resource with it";

// The address; else 0 and why there is none.
std::uintptr_t allocate(ssize_t size, int device, void* stream, std::string& why) {
  const gil_acquire lock;
  const kept_exception kept;
  if (is_finalizing()) {
    why = AFTER_THE_END;
    return 0;
  }
  return run_python([&] {
    const reference address =
        call("_allocate_for_torch", "niK", size, device,
             static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stream)));
    const auto found = address ? PyLong_AsSize_t(address.get()) : 0;
    if (PyErr_Occurred() == nullptr) return static_cast<std::uintptr_t>(found);
    why = text_of_exception();
    return std::uintptr_t{0};
  });
}

}  // namespace
}  // namespace halfwarp::python

// PyTorch looks at no null: it expects that an allocator throws, and shows the text.
extern "C" [[gnu::visibility("default")]] void* halfwarp_torch_allocate(ssize_t size, int device,
                                                                        void* stream) {
  std::string why;
  if (Py_IsInitialized() == 0) {
    why = halfwarp::python::AFTER_THE_END;
  } else if (const auto found = halfwarp::python::allocate(size, device, stream, why);
             why.empty()) {
    return reinterpret_cast<void*>(found);
  }
  throw std::runtime_error{why};
}

// At the end of the process the memory goes with it.
extern "C" [[gnu::visibility("default")]] void halfwarp_torch_free(void* pointer, ssize_t, int,
                                                                   void*) {
  using namespace halfwarp::python;
  if (Py_IsInitialized() == 0 || pointer == nullptr) return;
  const gil_acquire lock;
  const kept_exception kept;
  if (is_finalizing()) return;
  run_python([=] {
    if (!call("_free_for_torch", "K",
              static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(pointer)))) {
      PyErr_WriteUnraisable(nullptr);
    }
  });
}
