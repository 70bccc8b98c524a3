// SPDX-License-Identifier: Apache-2.0
// Host functions that the driver calls on one of its threads: Python callables and C pointers.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstddef>

namespace halfwarp::python {

using native_function = void (*)(void*);

// A host function, called once or at each launch of a graph. It owns a reference to `function`,
// which for a C pointer is the ctypes object. Releasing that reference may run any code, even CUDA
// calls, so it never happens on a driver thread: see the list of finished calls in host_call.cpp.
struct host_call {
  PyObject* function = nullptr;
  native_function native = nullptr;  // null: `function` is a Python callable
  void* argument = nullptr;
  bool owns_argument = false;
  host_call* next = nullptr;
};

// Need the GIL. Copy `bytes`; return null or -1 with MemoryError set on failure.
[[nodiscard]] host_call* make_host_call(PyObject* function) noexcept;
[[nodiscard]] int copy_argument(host_call& call, const void* bytes, std::size_t size) noexcept;

// Frees a call that the driver will not execute. Needs the GIL.
void discard(host_call* call) noexcept;

// Driver callback for a host_call*: executes the call once, then releases it.
void CUDA_CB run_host_call(void* call) noexcept;

// Driver callback for a graph node: executes the call, which the graph retains.
void CUDA_CB run_graph_call(void* call) noexcept;

// Releases a call that will not be executed again, on any thread: the destructor of a graph's user
// object. Graphs also retain objects that are not functions as host_call.
void CUDA_CB release_host_call(void* call) noexcept;

// Releases the references of completed calls. Needs the GIL.
void drop_finished_calls() noexcept;

}  // namespace halfwarp::python
