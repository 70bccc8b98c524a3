// SPDX-License-Identifier: Apache-2.0
// Green contexts: parts of a device with their own streams. Kernels of all contexts run in the same
// threads; only the assignment of multiprocessors is recorded.
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

CUdevResource resource_of(const context& owner, CUdevResourceType type) {
  switch (type) {
    case CU_DEV_RESOURCE_TYPE_SM:
      return owner.is_green() ? as_source(owner.sm) : all_multiprocessors(owner.device());
    case CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG:
      return owner.is_green() ? owner.workqueue : default_workqueue(owner.device());
    case CU_DEV_RESOURCE_TYPE_WORKQUEUE:
      return shared_workqueue(owner.device());
    default:
      refuse(CUDA_ERROR_INVALID_RESOURCE_TYPE, "cuda.h has no such type of resource");
  }
}

// Returns the points at which all submitted work of the context completes.
std::vector<stream_point> work_of(const context& owner) {
  std::vector<stream_point> ends;
  for (const auto& each : owner.active) ends.push_back(each->end());
  return ends;
}

}  // namespace

CUresult cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev,
                          unsigned int flags) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phCtx);
    require((flags & ~static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM)) == 0,
            CUDA_ERROR_INVALID_VALUE, "the flags are invalid for a green context");
    const auto provided = c.find<resource_descriptor>(desc, CUDA_ERROR_INVALID_VALUE)->resources;
    auto& device = c.device_of(dev);
    require(provided.device == dev, CUDA_ERROR_INVALID_DEVICE,
            "the resources belong to another device");
    const auto primary = open_primary(c.d, device);
    const auto view = c.d.objects.make<context>(primary, provided.sm, provided.workqueue);
    view->is_library_owned = true;  // the program destroys the green context
    const auto created = c.d.objects.make<green_context>(view);
    view->green_handle = created->handle_as<CUgreenCtx>();
    primary->greens.push_back(view);
    ++device.primary_retains;
    *phCtx = view->green_handle;
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx) noexcept {
  return run_locked([&](call& c) {
    const auto target = find(c, hCtx);
    const auto primary = target->view->shared_root();
    static_cast<void>(invalidate_captures(c.d, *target->view));
    c.d.objects.remove(*target);
    c.d.objects.remove(*target->view);
    end_green_context(c.d, c.guard, target->view);
    if (primary->device().primary_retains == 0 && primary->is_alive) {
      end_context(c.d, c.guard, *primary);
    }
  });
}

CUresult cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx) noexcept {
  return run_locked([&](call& c) {
    require_outputs(pContext);
    *pContext = find(c, hCtx)->view->handle_as<CUcontext>();
  });
}

CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId) noexcept {
  return run_locked([&](call& c) {
    require_outputs(greenCtxId);
    *greenCtxId = (greenCtx ? find(c, greenCtx)->view : c.current_or_green())->unique_id();
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags,
                                int priority) noexcept {
  return run_locked([&](call& c) {
    require_outputs(phStream);
    require(flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE,
            "a stream of a green context needs CU_STREAM_NON_BLOCKING");
    *phStream = create_stream(c, find(c, greenCtx)->view, flags, priority);
  });
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx hCtx, CUevent hEvent) noexcept {
  return run_locked([&](call& c) {
    const auto view = find(c, hCtx)->view;
    const auto recorded = c.find<event>(hEvent);
    require(&recorded->owner() == &view->root(), CUDA_ERROR_INVALID_HANDLE,
            "the event and the green context belong to different devices");
    require_nothing_captures(c.d, *view);
    auto& last = view->legacy();
    c.submit(last, std::make_shared<marker>(), work_of(*view));
    c.record(*recorded, last);
  });
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx hCtx, CUevent hEvent) noexcept {
  return run_locked([&](call& c) {
    const auto view = find(c, hCtx)->view;
    const auto source = c.find<event>(hEvent);
    require(!source->captured, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "the event was recorded in a capture");
    require_nothing_captures(c.d, *view);
    std::vector<stream_point> points;
    const auto wait = make_wait(*source, points, c.d.streams.hazards() != nullptr);
    if (!wait) return;
    std::vector<std::shared_ptr<stream>> streams;
    c.d.objects.for_each(object_kind::stream, [&](const object& each) {
      const auto match = c.d.objects.find<stream>(each.handle_as<CUstream>());
      if (&match->owner() == view.get()) streams.push_back(match);
    });
    for (const auto& each : streams) c.submit(*each, wait, points);
    const auto last = c.submit(view->legacy(), wait, points);
    std::erase_if(view->gate, [](const stream_point& old) { return old.is_reached(); });
    view->gate.push_back(last);
  });
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource,
                                CUdevResourceType type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(resource);
    const auto& owner = c.device_of(device);
    require(type == CU_DEV_RESOURCE_TYPE_SM || type == CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG ||
                type == CU_DEV_RESOURCE_TYPE_WORKQUEUE,
            CUDA_ERROR_INVALID_RESOURCE_TYPE, "cuda.h has no such type of resource");
    *resource = type == CU_DEV_RESOURCE_TYPE_SM          ? all_multiprocessors(owner)
                : type == CU_DEV_RESOURCE_TYPE_WORKQUEUE ? shared_workqueue(owner)
                                                         : default_workqueue(owner);
  });
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource,
                             CUdevResourceType type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(resource);
    *resource = resource_of(hCtx ? *c.context_of(hCtx) : *c.current_or_green(), type);
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource,
                                  CUdevResourceType type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(resource);
    *resource = resource_of(*find(c, hCtx)->view, type);
  });
}

CUresult cuStreamGetDevResource(CUstream hStream, CUdevResource* resource,
                                CUdevResourceType type) noexcept {
  return run_locked([&](call& c) {
    require_outputs(resource);
    *resource = resource_of(c.stream_of(hStream)->owner(), type);
  });
}

}  // namespace halfwarp::emulator::api
