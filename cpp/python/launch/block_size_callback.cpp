// SPDX-License-Identifier: Apache-2.0
// Occupancy queries whose shared memory depends on the block size through a Python function.
#include "python/launch/block_size_callback.hpp"

#include "core/lifetime/interpreter.hpp"
#include "driver/call.hpp"
#include "python/errors.hpp"
#include "python/lock/interpreter_lock.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

// The driver's callback has no argument for data of ours, and is called on the calling thread.
thread_local PyObject* current_function = nullptr;

// With the interpreter's lock.
std::size_t ask_current_function(int block_size) {
  if (PyErr_Occurred() != nullptr) return 0;  // an earlier call failed: only the end matters now
  const reference answer{
      run_python([=] { return PyObject_CallFunction(current_function, "i", block_size); })};
  return answer ? PyLong_AsSize_t(answer.get()) : 0;
}

std::size_t call_current_function(int block_size) {
  const gil_acquire lock;
  return ask_current_function(block_size);
}

CUresult query(int* grid, int* block, CUkernel kernel, int limit) noexcept {
  const core::gil_release_if_held released;
  return driver::table->cuOccupancyMaxPotentialBlockSize(
      grid, block, reinterpret_cast<CUfunction>(kernel), call_current_function, 0, limit);
}

}  // namespace

int query_block_size(int* grid, int* block, CUkernel kernel, PyObject* function,
                     int limit) noexcept {
  PyObject* const outer = current_function;
  current_function = function;
  const CUresult code = query(grid, block, kernel, limit);
  current_function = outer;
  if (PyErr_Occurred() != nullptr) return -1;
  return check(code, "cuOccupancyMaxPotentialBlockSize");
}

}  // namespace halfwarp::python
