// SPDX-License-Identifier: Apache-2.0
// Launches: the limits of the device, the attributes, the parameters.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "emulator/api/module/launch_limits.hpp"
#include "emulator/api/module/module_call.hpp"
#include "emulator/module/kernel_launch.hpp"
#include "emulator/stream/event.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

// What a launch asks for.
struct asked_launch {
  launch_shape shape;
  bool is_programmatic = false;
  launch_attributes attributes;  // of a node too, when the launch is captured
  CUevent completion = nullptr;  // recorded when the kernel is done
};

CUevent recordable(call& c, CUevent raw, int flags) {
  require((c.find<event>(raw)->flags() & CU_EVENT_DISABLE_TIMING) != 0 && flags == 0,
          CUDA_ERROR_INVALID_VALUE,
          "the event of a launch takes no time, and is recorded without flags");
  return raw;
}

void read_attribute(const CUlaunchAttribute& attribute, asked_launch& asked) {
  const auto& value = attribute.value;
  if (!launch_attributes::is_of_launches(attribute.id)) {
    refuse(CUDA_ERROR_INVALID_VALUE, "launches have no attribute " + std::to_string(attribute.id));
  }
  if (const auto why = launch_attributes::refusal(attribute.id, value); !why.empty()) {
    refuse(CUDA_ERROR_INVALID_VALUE, why);
  }
  if (launch_attributes::is_of_nodes(attribute.id)) asked.attributes.set(attribute.id, value);
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      asked.is_programmatic = value.programmaticStreamSerializationAllowed != 0;
      return;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: {
      call c;
      asked.completion =
          recordable(c, value.launchCompletionEvent.event, value.launchCompletionEvent.flags);
      return;
    }
    default:  // hints about timing and caches, which are not modelled, and the shape
      return;
  }
}

// A node that kernels update exists in a graph only, and there the emulator has none.
void require_no_updatable_node(const asked_launch& asked, bool is_captured) {
  const auto& value = asked.attributes.get(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE);
  if (value.deviceUpdatableKernelNode.deviceUpdatable == 0) return;
  require(is_captured, CUDA_ERROR_INVALID_VALUE,
          "device_updatable_kernel_node is for launches that are captured");
  refuse(CUDA_ERROR_NOT_SUPPORTED, "the emulator has no nodes that kernels update");
}

// The two forms of arguments: one pointer per parameter, or one packed buffer.
class argument_source {
 public:
  argument_source(void** pointers, void** extra) : pointers_{pointers} {
    require(!pointers || !extra, CUDA_ERROR_INVALID_VALUE,
            "arguments come as kernelParams or as extra, not both");
    if (extra) read_extra(extra);
  }

  parameter_block pack(const exec::kernel_attributes& code) const {
    parameter_block block{code.parameter_bytes};
    if (code.parameters.empty()) return block;
    if (buffer_) {
      require(buffer_bytes_ == code.parameter_bytes, CUDA_ERROR_INVALID_VALUE,
              "the packed arguments have another size than the parameters of the kernel");
      std::memcpy(block.data(), buffer_, buffer_bytes_);
      return block;
    }
    require(pointers_ != nullptr, CUDA_ERROR_INVALID_VALUE, "the kernel has parameters, none came");
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
        refuse(CUDA_ERROR_INVALID_VALUE, "extra holds an unknown option");
      }
    }
    require(buffer_ && size, CUDA_ERROR_INVALID_VALUE, "extra lacks the buffer or its size");
    buffer_bytes_ = *size;
  }

  void** pointers_;
  const void* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
};

// A kernel that can reach an instruction which the emulator lacks does not start.
void require_runnable(const call& c, const exec::kernel& code) {
  const auto why = exec::refusal(code);
  if (!why) return;
  c.d.faults.record(*why);
  refuse(report::code(why->kind), report::first_line(*why));
}

// A node takes the priority of the stream, unless the launch has its own.
node_work captured(CUfunction raw, const asked_launch& asked, const stream& in,
                   std::shared_ptr<operation> made) {
  node_work work{.type = CU_GRAPH_NODE_TYPE_KERNEL, .done = std::move(made)};
  CUlaunchAttributeValue value{};
  value.priority = in.priority();
  work.attributes.set(CU_LAUNCH_ATTRIBUTE_PRIORITY, value);
  work.attributes.merge(in.attributes);
  work.attributes.merge(asked.attributes);
  if (asked.shape.is_cooperative) {
    value = {};
    value.cooperative = 1;
    work.attributes.set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value);
  }
  const auto number = reinterpret_cast<std::uint64_t>(raw);
  if (handle::kind_of(number) == object_kind::kernel) work.kernel = reinterpret_cast<CUkernel>(raw);
  return work;
}

CUresult launch(CUfunction raw, const asked_launch& asked, CUstream raw_stream, void** pointers,
                void** extra) {
  return answer([&](call& c) {
    const auto in = c.stream_of(raw_stream);
    const auto what = function_of(c, raw, in->owner().root().as_shared());
    require(&what->on() == &in->owner().on(), CUDA_ERROR_INVALID_HANDLE,
            "the kernel was loaded on another device than that of the stream");
    require_no_updatable_node(asked, capture_of(*in) != nullptr);
    auto shape = asked.shape;
    shape.multiprocessors = static_cast<unsigned>(in->owner().multiprocessors());
    auto made = make_launch(c, *what, shape, in->number(), pointers, extra);
    if (capture_of(*in)) {
      add_captured(c.d, *in, captured(raw, asked, *in, std::move(made)), asked.is_programmatic);
    } else {
      c.submit(*in, std::move(made));
    }
    if (asked.completion) c.record(*c.find<event>(asked.completion), *in);
  });
}

}  // namespace

std::shared_ptr<operation> make_launch(call& c, const function& what, const launch_shape& shape,
                                       std::uint64_t stream_number, void** pointers, void** extra) {
  const argument_source arguments{pointers, extra};
  const auto request = admit_launch(what, shape, stream_number);
  require_runnable(c, what.code());
  return std::make_shared<kernel_launch>(what.handle_as<CUfunction>(), what.executable(), request,
                                         arguments.pack(what.code().attributes()));
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                        unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                        unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
                        void** kernelParams, void** extra) noexcept {
  asked_launch asked;
  asked.shape.grid = {gridDimX, gridDimY, gridDimZ};
  asked.shape.block = {blockDimX, blockDimY, blockDimZ};
  asked.shape.dynamic_shared = sharedMemBytes;
  return launch(f, asked, hStream, kernelParams, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                                   unsigned int gridDimZ, unsigned int blockDimX,
                                   unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream,
                                   void** kernelParams) noexcept {
  asked_launch asked;
  asked.shape.grid = {gridDimX, gridDimY, gridDimZ};
  asked.shape.block = {blockDimX, blockDimY, blockDimZ};
  asked.shape.dynamic_shared = sharedMemBytes;
  asked.shape.is_cooperative = true;
  return launch(f, asked, hStream, kernelParams, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** kernelParams,
                          void** extra) noexcept {
  return answer_unlocked([&] {
    require(config != nullptr, CUDA_ERROR_INVALID_VALUE, "the launch configuration is null");
    require(config->numAttrs == 0 || config->attrs, CUDA_ERROR_INVALID_VALUE,
            "the list of launch attributes is null");
    asked_launch asked;
    asked.shape = shape_of(*config);
    for (const auto& each : std::span{config->attrs, config->numAttrs}) read_attribute(each, asked);
    asked.shape.take(asked.attributes);
    return launch(f, asked, config->hStream, kernelParams, extra);
  });
}

}  // namespace halfwarp::emulator::api
