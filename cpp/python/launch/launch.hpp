// SPDX-License-Identifier: Apache-2.0
// The way of a launch: checks, packing, one driver call.
#pragma once

#include <Python.h>
#include <cuda.h>

#include "core/module/kernel.hpp"
#include "core/stream.hpp"
#include "driver/call.hpp"
#include "python/launch/flight_recorder.hpp"
#include "python/launch/launch_modes.hpp"
#include "python/lock/interpreter_lock.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {

// What launch needs of the classes above it.
struct launch_hooks {
  // A new reference to the Stream that an argument stands for; null with an exception set.
  PyObject* (*accept_stream)(PyObject* given);
  // Raises for a launch that failed with `code`, naming the kernel. `arguments` is a tuple of what
  // the kernel was given.
  void (*raise_failed_launch)(CUresult code, const char* function, PyObject* kernel,
                              PyObject* arguments);
  // Lets the graph that the stream is being captured into, if it is, keep the kernel and a tuple of
  // its arguments. 0, or -1 with an exception set.
  int (*keep_captured_launch)(const core::stream_ref& stream, PyObject* kernel,
                              PyObject* arguments);
};
inline launch_hooks hooks{};  // written once, when the extension is imported

// The function `launch`: a new reference, or null with an exception set.
PyObject* make_launch_function(const launch_hooks& from) noexcept;

// Where packing finds the parameters: one after the other, or the same for all.
struct packing_rule {
  const core::parameter* parameters;
  std::size_t step;
};

// Asks for the kernel's layout if it is not known, in the context of the Stream object `stream`
// (null: in the current one), and compares the number of arguments. 0, or -1 with an exception set.
int find_packing_rule(core::launch_plan& plan, PyObject* stream, std::size_t count,
                      packing_rule& rule) noexcept;

// The ordinal of the device that a stream's work runs on. Throws driver_error.
[[nodiscard]] CUdevice device_of(const core::stream_ref& stream);

// What only the device can tell: cooperative grids, clusters, dynamic shared memory. `launched` is
// the copy of `config.native` that is going to be launched. 0, or -1 with an exception set. For
// configurations that need care.
int take_care(const config_fields& config, const CUlaunchConfig& launched,
              const core::stream_ref& stream, core::launch_plan& plan) noexcept;

// What Python ran for one argument may have closed the Buffer of another. 0, or -1 with
// RuntimeError set.
int check_buffers_open(PyObject* const* arguments, std::size_t count) noexcept;

// Null with RuntimeError set for a stream that is closed.
[[gnu::cold]] PyObject* refuse_closed_stream() noexcept;

// Records the launch if asked to, and hands it to the driver without the interpreter lock. `config`
// names the stream already; it and `arguments` are what no other thread changes meanwhile.
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
  const gil_release released;
  return driver::table->cuLaunchKernelEx(&config, function, arguments, nullptr);
}

// After submit(): raises if the launch failed, or, when launches are to be waited for, if its
// execution did; what was captured keeps what it uses, `kept` too if it is not null. 0 or -1.
[[nodiscard]] inline bool is_finished(CUresult code) noexcept {
  return code == CUDA_SUCCESS &&
         !(launch_modes.load(std::memory_order_relaxed) & (launch_synchronises | launch_captures));
}
int finish(CUresult code, const core::stream_ref& stream, PyObject* kernel,
           PyObject* const* arguments, std::size_t count, PyObject* kept = nullptr) noexcept;

}  // namespace halfwarp::python
