// SPDX-License-Identifier: Apache-2.0
// Launches kernels: attributes, arguments, capture.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "emulator/api/graph/graph_call.hpp"
#include "emulator/api/module/launch_limits.hpp"
#include "emulator/api/module/module_call.hpp"
#include "emulator/module/kernel_launch.hpp"
#include "emulator/stream/event.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

// The parameters of a launch.
struct requested_launch {
  launch_shape shape;
  bool is_programmatic = false;
  launch_attributes attributes;  // of the node, if captured
  CUevent completion = nullptr;  // recorded after the kernel
};

CUevent require_untimed_event(call& c, CUevent raw, int flags) {
  require((c.find<event>(raw)->flags() & CU_EVENT_DISABLE_TIMING) != 0 && flags == 0,
          CUDA_ERROR_INVALID_VALUE,
          "the event of a launch needs CU_EVENT_DISABLE_TIMING and no flags");
  return raw;
}

void read_attribute(const CUlaunchAttribute& attribute, requested_launch& request) {
  const auto& value = attribute.value;
  if (!launch_attributes::applies_to_launches(attribute.id)) {
    refuse(CUDA_ERROR_INVALID_VALUE, "launches have no attribute " + std::to_string(attribute.id));
  }
  if (const auto reason = launch_attributes::refusal(attribute.id, value); !reason.empty()) {
    refuse(CUDA_ERROR_INVALID_VALUE, reason);
  }
  if (launch_attributes::applies_to_nodes(attribute.id))
    request.attributes.set(attribute.id, value);
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      request.is_programmatic = value.programmaticStreamSerializationAllowed != 0;
      return;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: {
      call c;
      request.completion = require_untimed_event(c, value.launchCompletionEvent.event,
                                                 value.launchCompletionEvent.flags);
      return;
    }
    default:  // hints, which are not modeled, and the shape
      return;
  }
}

// Refuses device-updatable nodes: invalid outside of a capture, not emulated in a capture.
void require_no_updatable_node(const requested_launch& request, bool is_captured) {
  const auto& value = request.attributes.get(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE);
  if (value.deviceUpdatableKernelNode.deviceUpdatable == 0) return;
  require(is_captured, CUDA_ERROR_INVALID_VALUE,
          "device_updatable_kernel_node needs a captured launch");
  refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulator does not support device-updatable nodes");
}

// The two forms of arguments: one pointer per parameter, or one packed buffer.
class argument_source {
 public:
  argument_source(void** pointers, void** extra) : pointers_{pointers} {
    require(!pointers || !extra, CUDA_ERROR_INVALID_VALUE,
            "pass the arguments as kernelParams or as extra, not both");
    if (extra) read_extra(extra);
  }

  parameter_block pack(const exec::kernel_attributes& code) const {
    parameter_block block{code.parameter_bytes};
    if (code.parameters.empty()) return block;
    if (buffer_) {
      require(buffer_bytes_ == code.parameter_bytes, CUDA_ERROR_INVALID_VALUE,
              "the size of the packed arguments does not match the parameters of the kernel");
      std::memcpy(block.data(), buffer_, buffer_bytes_);
      return block;
    }
    require(pointers_ != nullptr, CUDA_ERROR_INVALID_VALUE,
            "the kernel has parameters, but no arguments were passed");
    for (std::size_t i = 0; i < code.parameters.size(); ++i) {
      const auto& layout = code.parameters[i];
      if (!pointers_[i])
        refuse(CUDA_ERROR_INVALID_VALUE, "argument " + std::to_string(i) + " is null");
      std::memcpy(block.data() + layout.offset, pointers_[i], layout.size);
    }
    return block;
  }

 private:
  void read_extra(void** extra) {
    const std::size_t* size = nullptr;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
        buffer_ = extra[1];
      } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        size = static_cast<const std::size_t*>(extra[1]);
      } else {
        refuse(CUDA_ERROR_INVALID_VALUE, "extra contains an unknown option");
      }
    }
    require(buffer_ && size, CUDA_ERROR_INVALID_VALUE, "extra lacks the buffer or its size");
    buffer_bytes_ = *size;
  }

  void** pointers_;
  const void* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
};

// Refuses a kernel that can reach an instruction that is not emulated.
void require_runnable(const call& c, const exec::kernel& code) {
  const auto reason = exec::refusal(code);
  if (!reason) return;
  c.d.faults.record(*reason);
  refuse(report::code(reason->kind), report::first_line(*reason));
}

// Returns the work of a captured launch; the stream's priority and attributes are the defaults.
std::shared_ptr<node_work> captured_work(CUfunction raw, const requested_launch& request,
                                         const stream& target,
                                         std::shared_ptr<operation> kernel_operation) {
  launch_attributes attributes;
  CUlaunchAttributeValue value{};
  value.priority = target.priority();
  attributes.set(CU_LAUNCH_ATTRIBUTE_PRIORITY, value);
  attributes.merge(target.attributes);
  attributes.merge(request.attributes);
  if (request.shape.is_cooperative) {
    value = {};
    value.cooperative = 1;
    attributes.set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value);
  }
  const auto number = reinterpret_cast<std::uint64_t>(raw);
  const bool is_kernel = handle::kind_of(number) == object_kind::kernel;
  return kernel_work(std::move(kernel_operation), std::move(attributes),
                     is_kernel ? reinterpret_cast<CUkernel>(raw) : nullptr);
}

CUresult launch(CUfunction raw, const requested_launch& request, CUstream raw_stream,
                void** pointers, void** extra) {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(raw_stream);
    const auto kernel = function_of(c, raw, target->owner().root().as_shared());
    require(&kernel->device() == &target->owner().device(), CUDA_ERROR_INVALID_HANDLE,
            "the kernel was loaded on a device other than the stream's");
    require_no_updatable_node(request, capture_of(*target) != nullptr);
    auto shape = request.shape;
    shape.multiprocessors = static_cast<unsigned>(target->owner().multiprocessors());
    auto kernel_operation = make_launch(c, *kernel, shape, target->number(), pointers, extra);
    if (capture_of(*target)) {
      add_captured(c.d, *target, captured_work(raw, request, *target, std::move(kernel_operation)),
                   request.is_programmatic);
    } else {
      c.submit(*target, std::move(kernel_operation));
    }
    if (request.completion) c.record(*c.find<event>(request.completion), *target);
  });
}

}  // namespace

std::shared_ptr<operation> make_launch(call& c, const function& target, const launch_shape& shape,
                                       std::uint64_t stream_number, void** pointers, void** extra) {
  const argument_source arguments{pointers, extra};
  const auto request = admit_launch(target, shape, stream_number);
  require_runnable(c, target.code());
  return std::make_shared<kernel_launch>(target.handle_as<CUfunction>(), target.executable(),
                                         request, arguments.pack(target.code().attributes()));
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void** kernelParams, void** extra) noexcept {
  requested_launch request;
  request.shape.grid = {gridDimX, gridDimY, gridDimZ};
  request.shape.block = {blockDimX, blockDimY, blockDimZ};
  request.shape.dynamic_shared = sharedMemBytes;
  return launch(f, request, hStream, kernelParams, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void** kernelParams) noexcept {
  requested_launch request;
  request.shape.grid = {gridDimX, gridDimY, gridDimZ};
  request.shape.block = {blockDimX, blockDimY, blockDimZ};
  request.shape.dynamic_shared = sharedMemBytes;
  request.shape.is_cooperative = true;
  return launch(f, request, hStream, kernelParams, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                          void** extra) noexcept {
  return run_unlocked([&] {
    require(config != nullptr, CUDA_ERROR_INVALID_VALUE, "the launch configuration is null");
    require(config->numAttrs == 0 || config->attrs, CUDA_ERROR_INVALID_VALUE,
            "the list of launch attributes is null");
    requested_launch request;
    request.shape = shape_of(*config);
    for (const auto& each : std::span{config->attrs, config->numAttrs})
      read_attribute(each, request);
    request.shape.apply(request.attributes);
    return launch(f, request, config->hStream, kernelParams, extra);
  });
}

}  // namespace halfwarp::emulator::api
