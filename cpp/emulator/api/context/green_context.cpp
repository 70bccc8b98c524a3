// SPDX-License-Identifier: Apache-2.0
// Green contexts: parts of a device with streams of their own. Kernels run on the same worker
// threads; what is kept is who was given which multiprocessors.
#include "emulator/stream/green_context.hpp"

#include "emulator/api/call.hpp"
#include "emulator/driver/context_life.hpp"
#include "emulator/stream/event.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

std::shared_ptr<green_context> find(const call& c, CUgreenCtx raw) {
  return c.find<green_context>(raw, CUDA_ERROR_INVALID_CONTEXT);
}

CUdevResource resource_of(const context& of, CUdevResourceType type) {
  switch (type) {
    case CU_DEV_RESOURCE_TYPE_SM:
      return of.is_green() ? as_source(of.sm) : all_multiprocessors(of.on());
    case CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG:
      return of.is_green() ? of.workqueue : default_workqueue(of.on());
    case CU_DEV_RESOURCE_TYPE_WORKQUEUE:
      return shared_workqueue(of.on());
    default:
      refuse(CUDA_ERROR_INVALID_RESOURCE_TYPE, "cuda.h has no such type of resource");
  }
}

// All that was submitted to the context so far.
std::vector<stream_point> work_of(const context& of) {
  std::vector<stream_point> ends;
  for (const auto& each : of.active) ends.push_back(each->end());
  return ends;
}

}  // namespace

CUresult cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev,
                          unsigned int flags) noexcept {
  return answer([&](call& c) {
    require_outputs(phCtx);
    require((flags & ~static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM)) == 0,
            CUDA_ERROR_INVALID_VALUE, "these are no flags of a green context");
    const auto given = c.find<resource_descriptor>(desc, CUDA_ERROR_INVALID_VALUE)->given;
    auto& device = c.device_of(dev);
    require(given.device == dev, CUDA_ERROR_INVALID_DEVICE, "the resources are of another device");
    const auto primary = open_primary(c.d, device);
    const auto view = c.d.objects.make<context>(primary, given.sm, given.workqueue);
    view->is_library_owned = true;  // the green context is what the program has to destroy
    const auto made = c.d.objects.make<green_context>(view);
    view->green_handle = made->handle_as<CUgreenCtx>();
    primary->greens.push_back(view);
    ++device.primary_retains;
    *phCtx = view->green_handle;
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) noexcept {
  return answer([&](call& c) {
    const auto gone = find(c, hCtx);
    const auto primary = gone->view->shared_root();
    static_cast<void>(invalidate_captures(c.d, *gone->view));
    c.d.objects.remove(*gone);
    c.d.objects.remove(*gone->view);
    end_green_context(c.d, c.guard, gone->view);
    if (primary->on().primary_retains == 0 && primary->is_alive) {
      end_context(c.d, c.guard, *primary);
    }
  });
}

CUresult cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx) noexcept {
  return answer([&](call& c) {
    require_outputs(pContext);
    *pContext = find(c, hCtx)->view->handle_as<CUcontext>();
  });
}

CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId) noexcept {
  return answer([&](call& c) {
    require_outputs(greenCtxId);
    *greenCtxId = (greenCtx ? find(c, greenCtx)->view : c.current_or_green())->life();
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags,
                                int priority) noexcept {
  return answer([&](call& c) {
    require_outputs(phStream);
    require(flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE,
            "a stream of a green context is made with CU_STREAM_NON_BLOCKING");
    *phStream = create_stream(c, find(c, greenCtx)->view, flags, priority);
  });
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) noexcept {
  return answer([&](call& c) {
    const auto in = find(c, hCtx)->view;
    const auto recorded = c.find<event>(hEvent);
    require(&recorded->owner() == &in->root(), CUDA_ERROR_INVALID_HANDLE,
            "the event and the green context belong to different devices");
    require_nothing_captures(c.d, *in);
    auto& last = in->legacy();
    c.submit(last, std::make_shared<marker>(), work_of(*in));
    c.record(*recorded, last);
  });
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) noexcept {
  return answer([&](call& c) {
    const auto in = find(c, hCtx)->view;
    const auto waited = c.find<event>(hEvent);
    require(!waited->captured, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "the event was recorded in a capture");
    require_nothing_captures(c.d, *in);
    std::vector<stream_point> until;
    const auto waiting = make_wait(*waited, until);
    if (!waiting) return;
    std::vector<std::shared_ptr<stream>> streams;
    c.d.objects.for_each(object_kind::stream, [&](const object& each) {
      const auto found = c.d.objects.find<stream>(each.handle_as<CUstream>());
      if (&found->owner() == in.get()) streams.push_back(found);
    });
    for (const auto& each : streams) c.submit(*each, waiting, until);
    const auto behind = c.submit(in->legacy(), waiting, until);
    std::erase_if(in->gate, [](const stream_point& old) { return old.is_reached(); });
    in->gate.push_back(behind);
  });
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource,
                                CUdevResourceType type) noexcept {
  return answer([&](call& c) {
    require_outputs(resource);
    const auto& of = c.device_of(device);
    require(type == CU_DEV_RESOURCE_TYPE_SM || type == CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG ||
                type == CU_DEV_RESOURCE_TYPE_WORKQUEUE,
            CUDA_ERROR_INVALID_RESOURCE_TYPE, "cuda.h has no such type of resource");
    *resource = type == CU_DEV_RESOURCE_TYPE_SM          ? all_multiprocessors(of)
                : type == CU_DEV_RESOURCE_TYPE_WORKQUEUE ? shared_workqueue(of)
                                                         : default_workqueue(of);
  });
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource,
                             CUdevResourceType type) noexcept {
  return answer([&](call& c) {
    require_outputs(resource);
    *resource = resource_of(hCtx ? *c.context_of(hCtx) : *c.current_or_green(), type);
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource,
                                  CUdevResourceType type) noexcept {
  return answer([&](call& c) {
    require_outputs(resource);
    *resource = resource_of(*find(c, hCtx)->view, type);
  });
}

CUresult cuStreamGetDevResource(CUstream hStream, CUdevResource* resource,
                                CUdevResourceType type) noexcept {
  return answer([&](call& c) {
    require_outputs(resource);
    *resource = resource_of(c.stream_of(hStream)->owner(), type);
  });
}

}  // namespace halfwarp::emulator::api
