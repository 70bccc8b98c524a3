// SPDX-License-Identifier: Apache-2.0
// Attributes and parameters of kernels, whether of a library or in a context.
#include <algorithm>
#include <array>
#include <vector>

#include "emulator/api/module/module_call.hpp"
#include "emulator/ptx/ast.hpp"

namespace halfwarp::emulator::api {
namespace {

using attributes = exec::kernel_attributes;

// A kernel of a library that may be in no context yet.
struct located_kernel {
  std::shared_ptr<library> in;
  std::shared_ptr<library_kernel> kernel;
};

located_kernel locate(const call& c, CUkernel raw) {
  const auto kernel = c.find<library_kernel>(raw);
  return {c.find<library>(kernel->library_handle()), kernel};
}

const attributes& attributes_of(call& c, const located_kernel& where) {
  const auto& stack = this_thread().contexts;
  const auto in = where.in->module_anywhere(c.d, stack.empty() ? nullptr : stack.back());
  return find_function(c.d, *in, where.kernel->name(),
                       where.kernel->settings_on(in->owner().on().ordinal()))
      ->code()
      .attributes();
}

// Parameters are known from the text: no context is needed.
const std::vector<ptx::variable>& parameters_of(const located_kernel& where) {
  return where.in->source().find_function(where.kernel->name())->parameters;
}

void require_parameter(std::size_t index, std::size_t count) {
  if (index >= count) {
    refuse(CUDA_ERROR_INVALID_VALUE, "the kernel has " + std::to_string(count) +
                                         " parameters, there is none with index " +
                                         std::to_string(index));
  }
}

int default_dynamic_shared(const device& on, const attributes& code) {
  return std::max(0, on.attributes()[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] -
                         static_cast<int>(code.static_shared_bytes));
}

void set_cluster(const attributes& code, kernel_settings& settings, unsigned axis, int value) {
  require(code.cluster[0] == 0, CUDA_ERROR_NOT_PERMITTED,
          "the cluster of this kernel was fixed when it was compiled");
  require(value >= 0, CUDA_ERROR_INVALID_VALUE, "the size of a cluster is not negative");
  settings.cluster[axis] = value;
}

void set_attribute(const device& on, const attributes& code, kernel_settings& settings,
                   CUfunction_attribute attribute, int value) {
  const int most_shared = on.attributes()[CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] -
                          static_cast<int>(code.static_shared_bytes);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || value > most_shared) {
        refuse(CUDA_ERROR_INVALID_VALUE, "dynamic shared memory of this kernel is 0 to " +
                                             std::to_string(most_shared) + " bytes, got " +
                                             std::to_string(value));
      }
      settings.maximum_dynamic_shared = value;
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE,
              "the carve-out is -1 or a percentage");
      settings.carveout = value;
      return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return set_cluster(code, settings, 0, value);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return set_cluster(code, settings, 1, value);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return set_cluster(code, settings, 2, value);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      require(value == 0 || value == 1, CUDA_ERROR_INVALID_VALUE, "the value is 0 or 1");
      settings.allows_large_clusters = value != 0;
      return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      require(value >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
                  value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING,
              CUDA_ERROR_INVALID_VALUE, "cuda.h has no such policy");
      settings.cluster_policy = value;
      return;
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "this attribute of a kernel cannot be set");
  }
}

void require_cache(CUfunc_cache config) {
  require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such cache preference");
}

}  // namespace

std::shared_ptr<function> function_of(call& c, CUfunction raw,
                                      const std::shared_ptr<context>& where) {
  const auto number = reinterpret_cast<std::uint64_t>(raw);
  if (!handle::is_ours(number) || handle::kind_of(number) != object_kind::kernel) {
    return c.find<function>(raw);
  }
  const auto [in, kernel] = locate(c, reinterpret_cast<CUkernel>(raw));
  return find_function(c.d, *in->module_in(c.d, where), kernel->name(),
                       kernel->settings_on(where->on().ordinal()));
}

int maximum_dynamic_shared(const device& on, const attributes& code,
                           const kernel_settings& settings) {
  return settings.maximum_dynamic_shared >= 0 ? settings.maximum_dynamic_shared
                                              : default_dynamic_shared(on, code);
}

int maximum_threads(const attributes& code) {
  constexpr unsigned all_registers = 65536, warp = 32;
  const unsigned by_registers = all_registers / (std::max(code.registers, 1u) * warp) * warp;
  return static_cast<int>(std::min(code.max_threads, by_registers));
}

int attribute_of(const device& on, const attributes& code, const kernel_settings& settings,
                 CUfunction_attribute attribute) {
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
      return on.kind().major * 10 + on.kind().minor;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return maximum_dynamic_shared(on, code, settings);
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
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such attribute of a kernel");
  }
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel,
                              CUdevice dev) noexcept {
  return answer([&](call& c) {
    require_outputs(pi);
    const auto where = locate(c, kernel);
    const auto& on = c.device_of(dev);
    *pi = attribute_of(on, attributes_of(c, where), *where.kernel->settings_on(dev), attrib);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel,
                              CUdevice dev) noexcept {
  return answer([&](call& c) {
    const auto where = locate(c, kernel);
    const auto& on = c.device_of(dev);
    set_attribute(on, attributes_of(c, where), *where.kernel->settings_on(dev), attrib, val);
  });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) noexcept {
  return answer([&](call& c) {
    require_cache(config);
    c.device_of(dev);
    locate(c, kernel).kernel->settings_on(dev)->cache = config;
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset,
                              size_t* paramSize) noexcept {
  return answer([&](call& c) {
    require_outputs(paramOffset);
    static_cast<void>(c.current());  // a device asks for a context too
    const auto& all = parameters_of(locate(c, kernel));
    require_parameter(paramIndex, all.size());
    *paramOffset = all[paramIndex].offset;
    if (paramSize) *paramSize = all[paramIndex].size;
  });
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t* paramCount) noexcept {
  return answer([&](call& c) {
    require_outputs(paramCount);
    *paramCount = parameters_of(locate(c, kernel)).size();
  });
}

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc) noexcept {
  return answer([&](call& c) {
    require_outputs(pi);
    const auto asked = function_of(c, hfunc, c.current());
    *pi = attribute_of(asked->on(), asked->code().attributes(), asked->settings(), attrib);
  });
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value) noexcept {
  return answer([&](call& c) {
    const auto target = function_of(c, hfunc, c.current());
    set_attribute(target->on(), target->code().attributes(), target->settings(), attrib, value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config) noexcept {
  return answer([&](call& c) {
    require_cache(config);
    function_of(c, hfunc, c.current())->settings().cache = config;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction hfunc) noexcept {
  return answer([&](call& c) {
    require_outputs(name);
    *name = function_of(c, hfunc, c.current())->code().name().c_str();
  });
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc) noexcept {
  return answer([&](call& c) {
    require_outputs(hmod);
    *hmod = c.find<function>(hfunc)->module_handle();
  });
}

CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t* paramOffset,
                            size_t* paramSize) noexcept {
  return answer([&](call& c) {
    require_outputs(paramOffset);
    const auto asked = function_of(c, func, c.current());
    const auto& all = asked->code().attributes().parameters;
    require_parameter(paramIndex, all.size());
    *paramOffset = all[paramIndex].offset;
    if (paramSize) *paramSize = all[paramIndex].size;
  });
}

CUresult cuFuncGetParamCount(CUfunction func, size_t* paramCount) noexcept {
  return answer([&](call& c) {
    require_outputs(paramCount);
    *paramCount = function_of(c, func, c.current())->code().attributes().parameters.size();
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) noexcept {
  return answer([&](call& c) {
    require_outputs(state);
    function_of(c, function, c.current());
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
  });
}

CUresult cuFuncLoad(CUfunction function) noexcept {
  return answer([&](call& c) { function_of(c, function, c.current()); });
}

}  // namespace halfwarp::emulator::api
