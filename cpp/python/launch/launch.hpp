// SPDX-License-Identifier: Apache-2.0
// The launch path: checks, packing, one driver call.
#pragma once

#include <Python.h>
#include <cuda.h>

#include "core/module/kernel.hpp"
#include "core/stream.hpp"
#include "driver/call.hpp"
#include "python/launch/flight_recorder.hpp"
#include "python/launch/launch_modes.hpp"
#include "python/lock/gil.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {

// Functions of the Cython layer that launch calls.
struct launch_hooks {
  // Returns a new reference to the Stream that an argument denotes; null with an exception set.
  PyObject* (*accept_stream)(PyObject* value);
  // Raises for a launch that failed with `code`, naming the kernel. `arguments` is a tuple.
  // `config` is null for an error of the execution.
  void (*raise_failed_launch)(CUresult code, const char* function, PyObject* kernel,
                              PyObject* arguments, const CUlaunchConfig* config, CUdevice device);
  // Makes the graph that captures the stream, if any, retain the kernel and a tuple of its
  // arguments. Returns 0, or -1 with an exception set.
  int (*keep_captured_launch)(const core::stream_ref& stream, PyObject* kernel,
                              PyObject* arguments);
};
inline launch_hooks hooks{};  // set once, when the extension is imported

// Creates the function `launch`: a new reference, or null with an exception set.
PyObject* make_launch_function(const launch_hooks& new_hooks) noexcept;

// The parameters for packing: an array (step 1), or one parameter for all arguments (step 0).
struct packing_rule {
  const core::parameter* parameters;
  std::size_t step;
};

// Loads the kernel's layout if needed, in the context of the Stream object `stream` (null: in the
// current context), and checks the number of arguments. Only an error uses `arguments`, which may
// be null. Returns 0, or -1 with an exception set.
int find_packing_rule(core::launch_plan& plan, PyObject* stream, PyObject* const* arguments,
                      std::size_t count, packing_rule& rule) noexcept;

// Returns the ordinal of the device that executes a stream's work. Throws driver_error.
[[nodiscard]] CUdevice device_of(const core::stream_ref& stream);

// Checks cooperative grids, clusters and dynamic shared memory against the device. `launched` is
// the copy of `config.native` to be launched. Returns 0, or -1 with an exception set. Required if
// `config.needs_device_check`.
int check_device_limits(const config_fields& config, const CUlaunchConfig& launched,
                        const core::stream_ref& stream, core::launch_plan& plan) noexcept;

// Checks the Buffers again, because converting one argument may have closed another. Returns 0, or
// -1 with RuntimeError set.
int check_buffers_open(PyObject* const* arguments, std::size_t count) noexcept;

// Raises RuntimeError for a closed stream; returns null.
[[gnu::cold]] PyObject* refuse_closed_stream() noexcept;

// Records the launch if enabled, and submits it to the driver with the GIL released unless no other
// thread can need it. `config` holds the stream. No other thread may change `config` and
// `arguments` during the call.
[[nodiscard]] inline CUresult submit(const CUlaunchConfig& config, const core::stream_ref& stream,
                                     const core::launch_plan& plan, CUfunction function,
                                     void** arguments) noexcept {
  const unsigned modes = launch_modes.load(std::memory_order_relaxed);
  if (modes & launch_records) {
    std::int32_t device = stream.facts().device;
    if (device < 0) {
      device = 0;
      if (modes & launch_many_devices) {
        static_cast<void>(driver::try_call(driver::table->cuCtxGetDevice, &device));
      }
    }
    recorder.record(config, plan.layout()->number, device);
  }
  return submit_call(driver::table->cuLaunchKernelEx, &config, function, arguments, nullptr);
}

// Call finish() after submit() unless is_finished(). It raises if the launch failed, or if
// execution did and launches are synchronous. A capturing graph retains the launch's objects and
// `owner`, if that is not null. Returns 0, or -1 with an exception set.
[[nodiscard]] inline bool is_finished(CUresult code) noexcept {
  return code == CUDA_SUCCESS &&
         !(launch_modes.load(std::memory_order_relaxed) & (launch_synchronizes | launch_captures));
}
int finish(CUresult code, const CUlaunchConfig& config, const core::stream_ref& stream,
           PyObject* kernel, PyObject* const* arguments, std::size_t count,
           PyObject* owner = nullptr) noexcept;

}  // namespace halfwarp::python
