// SPDX-License-Identifier: Apache-2.0
// Host functions that the driver calls on one of its threads: Python callables and C pointers.
#include "python/host_call.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "interpreter/deferred_releases.hpp"
#include "interpreter/exit_gate.hpp"
#include "python/calls.hpp"

namespace halfwarp::python {
namespace {

// Completed calls.
constinit interpreter::deferred_releases<host_call, discard> finished;

void call_python(PyObject* function) noexcept {
  const gil_acquire lock;
  if (!call(function)) run_python([=] { PyErr_WriteUnraisable(function); });
}

void execute(const host_call& call) noexcept {
  if (call.native != nullptr) {
    call.native(call.argument);
  } else {
    call_python(call.function);
  }
}

}  // namespace

host_call* make_host_call(PyObject* function) noexcept {
  drop_finished_calls();
  auto* const call = new (std::nothrow) host_call;
  if (call == nullptr) {
    PyErr_NoMemory();
    return nullptr;
  }
  call->function = Py_NewRef(function);
  return call;
}

int copy_argument(host_call& call, const void* bytes, std::size_t size) noexcept {
  call.argument = std::malloc(size == 0 ? 1 : size);
  if (call.argument == nullptr) {
    PyErr_NoMemory();
    return failed;
  }
  std::memcpy(call.argument, bytes, size);
  call.owns_argument = true;
  return 0;
}

void discard(host_call* call) noexcept {
  if (call->owns_argument) std::free(call->argument);
  Py_DECREF(call->function);
  delete call;
}

void run_host_call(void* data) noexcept {
  const interpreter::gate_pass pass{interpreter::gate->enter()};
  if (!pass.is_open()) return;  // the process is exiting, which frees the call
  auto* const call = static_cast<host_call*>(data);
  execute(*call);
  finished.add(call);
}

void run_graph_call(void* data) noexcept {
  const interpreter::gate_pass pass{interpreter::gate->enter()};
  if (pass.is_open()) execute(*static_cast<host_call*>(data));
}

void release_host_call(void* call) noexcept {
  const interpreter::gate_pass pass{interpreter::gate->enter()};
  if (pass.is_open()) finished.add(static_cast<host_call*>(call));
}

void drop_finished_calls() noexcept { finished.drain(); }

}  // namespace halfwarp::python
