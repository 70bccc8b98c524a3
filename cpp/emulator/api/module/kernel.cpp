// SPDX-License-Identifier: Apache-2.0
// Attributes and parameters of library kernels and of functions.
#include <algorithm>
#include <array>
#include <vector>

#include "emulator/api/module/module_call.hpp"
#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::api {
namespace {

using attributes = exec::kernel_attributes;

// A library kernel, which may not be loaded in a context yet.
struct located_kernel {
  std::shared_ptr<emulator::library> library;
  std::shared_ptr<library_kernel> kernel;
};

located_kernel locate(const call& c, CUkernel raw) {
  const auto kernel = c.find<library_kernel>(raw);
  return {c.find<library>(kernel->library_handle()), kernel};
}

const attributes& attributes_of(call& c, const located_kernel& target) {
  const auto& stack = this_thread().contexts;
  const auto loaded = target.library->module_anywhere(c.d, stack.empty() ? nullptr : stack.back());
  return find_function(c.d, *loaded, target.kernel->name(),
                       target.kernel->settings_on(loaded->owner().device().ordinal()))
      ->code()
      .attributes();
}

// Returns the parameters from the PTX, which needs no context.
const std::vector<ptx::variable>& parameters_of(const located_kernel& target) {
  return target.library->source().find_function(target.kernel->name())->parameters;
}

void require_parameter(std::size_t index, std::size_t count) {
  if (index >= count) {
    refuse(CUDA_ERROR_INVALID_VALUE, "the kernel has " + std::to_string(count) +
                                         " parameters, none with index " + std::to_string(index));
  }
}

int default_dynamic_shared(const device& target_device, const attributes& code) {
  return std::max(0, target_device.attributes()[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] -
                         static_cast<int>(code.static_shared_bytes));
}

void set_cluster(const attributes& code, kernel_settings& settings, unsigned axis, int value) {
  require(code.cluster[0] == 0, CUDA_ERROR_NOT_PERMITTED,
          "the cluster size of this kernel was fixed at compile time");
  require(value >= 0, CUDA_ERROR_INVALID_VALUE, "the cluster size must not be negative");
  settings.cluster[axis] = value;
}

void set_attribute(const device& target_device, const attributes& code, kernel_settings& settings,
                   CUfunction_attribute attribute, int value) {
  const int max_shared =
      target_device.attributes()[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] -
      static_cast<int>(code.static_shared_bytes);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > max_shared) {
        refuse(CUDA_ERROR_INVALID_VALUE, "dynamic shared memory of this kernel is 0 to " +
                                             std::to_string(max_shared) + " bytes, got " +
                                             std::to_string(value));
      }
      settings.maximum_dynamic_shared = value;
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE,
              "the carveout must be -1 or a percentage");
      settings.carveout = value;
      return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return set_cluster(code, settings, 0, value);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return set_cluster(code, settings, 1, value);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return set_cluster(code, settings, 2, value);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      require(value == 0 || value == 1, CUDA_ERROR_INVALID_VALUE, "the value must be 0 or 1");
      settings.allows_large_clusters = value != 0;
      return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      require(value >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
                  value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING,
              CUDA_ERROR_INVALID_VALUE, "cuda.h has no such policy");
      settings.cluster_policy = value;
      return;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "this kernel attribute cannot be set");
  }
}

void require_cache(CUfunc_cache config) {
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such cache preference");
}

}  // namespace

std::shared_ptr<function> function_of(call& c, CUfunction raw,
                                      const std::shared_ptr<context>& target) {
  const auto number = reinterpret_cast<std::uint64_t>(raw);
  if (!handle::is_ours(number) || handle::kind_of(number) != object_kind::kernel) {
    return c.find<function>(raw);
  }
  const auto [source, kernel] = locate(c, reinterpret_cast<CUkernel>(raw));
  return find_function(c.d, *source->module_in(c.d, target), kernel->name(),
                       kernel->settings_on(target->device().ordinal()));
}

int maximum_dynamic_shared(const device& target_device, const attributes& code,
                           const kernel_settings& settings) {
  return settings.maximum_dynamic_shared >= 0 ? settings.maximum_dynamic_shared
                                              : default_dynamic_shared(target_device, code);
}

int maximum_threads(const attributes& code) {
  constexpr unsigned all_registers = 65536, warp = 32;
  const unsigned by_registers = all_registers / (std::max(code.registers, 1u) * warp) * warp;
  return static_cast<int>(std::min(code.max_threads, by_registers));
}

int attribute_of(const device& target_device, const attributes& code,
                 const kernel_settings& settings, CUfunction_attribute attribute) {
  const auto cluster = [&](unsigned axis) {
    return code.cluster[0] ? static_cast<int>(code.cluster[axis]) : settings.cluster[axis];
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return maximum_threads(code);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(code.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return static_cast<int>(code.constant_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(code.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(code.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return code.binary_version;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return target_device.kind().major * 10 + target_device.kind().minor;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return maximum_dynamic_shared(target_device, code, settings);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return settings.carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return cluster(0);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return cluster(1);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return cluster(2);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return settings.allows_large_clusters;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return settings.cluster_policy;
    case CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED:
    case CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE:
      return 0;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such kernel attribute");
  }
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel,
                              CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pi);
    const auto target = locate(c, kernel);
    const auto& target_device = c.device_of(dev);
    *pi = attribute_of(target_device, attributes_of(c, target), *target.kernel->settings_on(dev),
                       attrib);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                              CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    const auto target = locate(c, kernel);
    const auto& target_device = c.device_of(dev);
    set_attribute(target_device, attributes_of(c, target), *target.kernel->settings_on(dev), attrib,
                  val);
  });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) noexcept {
  return run_locked([&](call& c) {
    require_cache(config);
    c.device_of(dev);
    locate(c, kernel).kernel->settings_on(dev)->cache = config;
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset,
                              size_t* paramSize) noexcept {
  return run_locked([&](call& c) {
    require_outputs(paramOffset);
    static_cast<void>(c.current());  // a device requires a context, too
    const auto& parameters = parameters_of(locate(c, kernel));
    require_parameter(paramIndex, parameters.size());
    *paramOffset = parameters[paramIndex].offset;
    if (paramSize) *paramSize = parameters[paramIndex].size;
  });
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t* paramCount) noexcept {
  return run_locked([&](call& c) {
    require_outputs(paramCount);
    *paramCount = parameters_of(locate(c, kernel)).size();
  });
}

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pi);
    const auto target = function_of(c, hfunc, c.current());
    *pi = attribute_of(target->device(), target->code().attributes(), target->settings(), attrib);
  });
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) noexcept {
  return run_locked([&](call& c) {
    const auto target = function_of(c, hfunc, c.current());
    set_attribute(target->device(), target->code().attributes(), target->settings(), attrib, value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) noexcept {
  return run_locked([&](call& c) {
    require_cache(config);
    function_of(c, hfunc, c.current())->settings().cache = config;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) noexcept {
  return run_locked([&](call& c) {
    require_outputs(name);
    *name = function_of(c, hfunc, c.current())->code().name().c_str();
  });
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) noexcept {
  return run_locked([&](call& c) {
    require_outputs(hmod);
    *hmod = c.find<function>(hfunc)->module_handle();
  });
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset,
                            size_t* paramSize) noexcept {
  return run_locked([&](call& c) {
    require_outputs(paramOffset);
    const auto target = function_of(c, func, c.current());
    const auto& parameters = target->code().attributes().parameters;
    require_parameter(paramIndex, parameters.size());
    *paramOffset = parameters[paramIndex].offset;
    if (paramSize) *paramSize = parameters[paramIndex].size;
  });
}

CUresult cuFuncGetParamCount(CUfunction func, size_t* paramCount) noexcept {
  return run_locked([&](call& c) {
    require_outputs(paramCount);
    *paramCount = function_of(c, func, c.current())->code().attributes().parameters.size();
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) noexcept {
  return run_locked([&](call& c) {
    require_outputs(state);
    function_of(c, function, c.current());
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}

CUresult cuFuncLoad(CUfunction function) noexcept {
  return run_locked([&](call& c) { function_of(c, function, c.current()); });
}

}  // namespace halfwarp::emulator::api
