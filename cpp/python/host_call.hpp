// SPDX-License-Identifier: Apache-2.0
// Host functions that the driver calls on a thread of its own: Python callables and C pointers.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstddef>

namespace halfwarp::python {

using native_function = void (*)(void*);

// A function to be called once, or as often as a graph is launched. It owns a reference to
// `function`, which for a C pointer is the ctypes object behind it. Dropping that reference may run
// any code, CUDA's too, so it never happens on the driver's thread: see the pending list in
// host_call.cpp.
struct host_call {
  PyObject* function = nullptr;
  native_function native = nullptr;  // null: `function` is called as a Python callable
  void* argument = nullptr;
  bool owns_argument = false;
  host_call* next = nullptr;
};

// Needs the interpreter lock. `bytes` are copied; null with MemoryError set on failure.
[[nodiscard]] host_call* make_host_call(PyObject* function) noexcept;
[[nodiscard]] int copy_argument(host_call& call, const void* bytes, std::size_t size) noexcept;

// Frees a call that the driver will not make. Needs the interpreter lock.
void discard(host_call* call) noexcept;

// What the driver is given, with a host_call*: makes the call once, then gives it up.
void CUDA_CB run_host_call(void* call) noexcept;

// What the driver is given for a node of a graph: makes the call, which the graph keeps.
void CUDA_CB run_graph_call(void* call) noexcept;

// For a call that is not to be made any more, on any thread: the destructor of what held it in a
// graph. A host_call is also how a graph keeps an object that is no function.
void CUDA_CB release_host_call(void* call) noexcept;

// Drops the references of calls that were made. Needs the interpreter lock.
void drop_finished_calls() noexcept;

}  // namespace halfwarp::python
