// SPDX-License-Identifier: Apache-2.0
// A launch as parameters of a graph node, with the checks and packing of launch().
#include "python/launch/kernel_node.hpp"

#include <span>

#include "python/arguments/pack.hpp"
#include "python/errors.hpp"
#include "python/launch/launch.hpp"
#include "python/launch/launch_config.hpp"

namespace halfwarp::python {
namespace {

// Checks device limits with the legacy stream in place of the stream that a node does not have.
int check_limits_of_current_device(const config_fields& config, core::launch_plan& plan) noexcept {
  try {
    return check_device_limits(config, config.native, core::stream_handle::borrow(CU_STREAM_LEGACY),
                               plan);
  } catch (...) {
    translate_exception();
    return failed;
  }
}

}  // namespace

int packed_launch::prepare(PyObject* config, PyObject* kernel, PyObject* arguments) noexcept {
  config_ = fields_of<config_fields>(config);
  const auto& handle = fields_of<initialized_kernel>(kernel).value_or_null();
  if (!config_.is_valid || !handle.is_open()) {
    raise_uninitialized(config_.is_valid ? kernel : config);
    return failed;
  }
  config_.native.attrs = config_.attributes;
  further_ = reference::borrow(config_.further);
  if (check_further(config_.further) < 0) return failed;
  kernel_ = handle.raw();
  core::launch_plan& plan = *handle.facts().plan;
  const auto count = static_cast<std::size_t>(PyTuple_GET_SIZE(arguments));
  PyObject* const* const items = &PyTuple_GET_ITEM(arguments, 0);
  packing_rule rule;
  if (find_packing_rule(plan, nullptr, items, count, rule) < 0) return failed;
  if (!arguments_.prepare(count)) {
    PyErr_NoMemory();
    return failed;
  }
  if (pack_all(items, &plan, rule.parameters, rule.step, arguments_) < 0) return failed;
  if (arguments_.ran_python() && check_buffers_open(items, count) < 0) return failed;
  return config_.needs_device_check ? check_limits_of_current_device(config_, plan) : 0;
}

CUgraphNodeParams packed_launch::parameters() noexcept {
  CUgraphNodeParams params{};
  const CUlaunchConfig& native = config_.native;
  params.type = CU_GRAPH_NODE_TYPE_KERNEL;
  params.kernel.kern = kernel_;
  params.kernel.gridDimX = native.gridDimX;
  params.kernel.gridDimY = native.gridDimY;
  params.kernel.gridDimZ = native.gridDimZ;
  params.kernel.blockDimX = native.blockDimX;
  params.kernel.blockDimY = native.blockDimY;
  params.kernel.blockDimZ = native.blockDimZ;
  params.kernel.sharedMemBytes = native.sharedMemBytes;
  params.kernel.kernelParams = arguments_.pointers();
  return params;
}

CUresult set_attributes(core::graph_lock& lock, CUgraphNode node,
                        const config_fields& config) noexcept {
  CUlaunchAttribute all[most_attributes];
  for (const CUlaunchAttribute& each :
       std::span{all, gather_attributes(config, config.further, all)}) {
    const CUresult code = core::try_call_alone(lock, driver::table->cuGraphKernelNodeSetAttribute,
                                               node, each.id, &each.value);
    if (code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}

}  // namespace halfwarp::python
