// SPDX-License-Identifier: Apache-2.0
// Occupancy queries whose shared memory size is a Python function of the block size.
#include "python/launch/block_size_callback.hpp"

#include "core/lifetime/interpreter.hpp"
#include "driver/call.hpp"
#include "python/errors.hpp"
#include "python/lock/gil.hpp"
#include "python/reference.hpp"

namespace halfwarp::python {
namespace {

// The driver's callback has no user data argument; it runs on the calling thread.
thread_local PyObject* current_function = nullptr;

// Needs the GIL.
std::size_t evaluate_block_size(int block_size) {
  if (PyErr_Occurred() != nullptr) return 0;  // an earlier call failed: only end the query
  const reference result{
      run_python([=] { return PyObject_CallFunction(current_function, "i", block_size); })};
  return result ? PyLong_AsSize_t(result.get()) : 0;
}

std::size_t call_current_function(int block_size) {
  const gil_acquire lock;
  return evaluate_block_size(block_size);
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
  if (PyErr_Occurred() != nullptr) return failed;
  return check(code, "cuOccupancyMaxPotentialBlockSize");
}

}  // namespace halfwarp::python
