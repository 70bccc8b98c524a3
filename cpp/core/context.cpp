// SPDX-License-Identifier: Apache-2.0
// Contexts: primary, green and foreign ones, and the scope that makes one current.
#include "core/context.hpp"

#include <utility>
#include <vector>

namespace halfwarp::core {
namespace {

[[nodiscard]] constexpr long long packed(priority_range range) noexcept {
  return static_cast<long long>(static_cast<unsigned>(range.least)) << 32 |
         static_cast<unsigned>(range.greatest);
}

[[nodiscard]] constexpr priority_range unpacked(long long both) noexcept {
  return {static_cast<int>(both >> 32), static_cast<int>(both)};
}

static_assert(unpacked(packed({0, -5})).least == 0 && unpacked(packed({0, -5})).greatest == -5);

constexpr unsigned long long unknown_id = 0;  // for a driver without cuCtxGetId
constexpr unsigned long long destroyed_id = ~0ull;

// Returns the driver's id of a context, which changes with each reset of the device.
unsigned long long id_of(CUcontext raw) noexcept {
  unsigned long long id = unknown_id;
  const CUresult code = driver::try_call(driver::table->cuCtxGetId, raw, &id);
  if (code == CUDA_SUCCESS) return id;
  const bool is_destroyed =
      code == CUDA_ERROR_CONTEXT_IS_DESTROYED || code == CUDA_ERROR_INVALID_CONTEXT;
  return is_destroyed ? destroyed_id : unknown_id;
}

// Returns the context whose id shows whether objects created in `context` still exist: for a green
// context, its primary context. The handle of a destroyed green context must not be passed to the
// driver.
CUcontext context_with_id(const context_ref& context) noexcept {
  return context.facts().is_green() ? context.facts().primary : context.raw();
}

}  // namespace

CUresult context_traits::destroy(CUcontext, const context_facts& facts) noexcept {
  if (!facts.is_green()) {
    return driver::try_call(driver::table->cuDevicePrimaryCtxRelease, facts.device);
  }
  // A reset of the device destroyed it together with the primary context.
  if (id_of(facts.primary) != facts.primary_id) return CUDA_SUCCESS;
  return driver::try_call(driver::table->cuGreenCtxDestroy, facts.green);
}

context_handle create_green_context(CUdevice device, const CUdevResource* resources,
                                    unsigned count) {
  const gil_release_if_held released;
  std::vector<CUdevResource> resources_copy{resources, resources + count};
  // The driver retains the primary context once the green one exists; until then this handle does.
  const context_handle primary = retain_primary_context(device);
  CUdevResourceDesc descriptor = nullptr;  // the driver has no call that destroys it
  driver::call(driver::table->cuDevResourceGenerateDesc, &descriptor, resources_copy.data(), count);
  context_facts facts{device, context_kind::green};
  facts.primary = primary.raw();
  facts.primary_id = id_of(facts.primary);
  CUgreenCtx green = nullptr;
  context_handle context = context_handle::own({}, std::move(facts), [&](CUcontext* raw) {
    driver::call(driver::table->cuGreenCtxCreate, &green, descriptor, device,
                 static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM));
    const CUresult code = driver::try_call(driver::table->cuCtxFromGreenCtx, raw, green);
    if (code == CUDA_SUCCESS) return;
    static_cast<void>(driver::try_call(driver::table->cuGreenCtxDestroy, green));
    throw driver::driver_error{code, "cuCtxFromGreenCtx"};
  });
  context.facts().green = green;
  CUdevResource resource{};
  get_resource(context, &resource, CU_DEV_RESOURCE_TYPE_SM);
  context.facts().multiprocessors = resource.sm.smCount;
  return context;
}

void get_resource(const context_ref& context, CUdevResource* resource, CUdevResourceType type) {
  if (context.facts().is_green()) {
    driver::call(driver::table->cuGreenCtxGetDevResource, context.facts().green, resource, type);
  } else {
    driver::call(driver::table->cuCtxGetDevResource, context.raw(), resource, type);
  }
}

context_handle retain_primary_context(CUdevice device) {
  const gil_release_if_held released;  // the first retain creates the context
  return context_handle::own({}, context_facts{device, context_kind::primary},
                             [device](CUcontext* raw) {
                               driver::call(driver::table->cuDevicePrimaryCtxRetain, raw, device);
                             });
}

context_handle context_of(CUcontext raw) {
  if (raw == nullptr) return {};
  if (context_handle known = context_handle::find(raw)) return known;
  CUdevice device = -1;
  {
    const current_scope scope{raw};
    driver::call(driver::table->cuCtxGetDevice, &device);
  }
  return context_handle::borrow(raw, {}, context_facts{device, context_kind::foreign});
}

context_instance::context_instance(context_handle context) noexcept : context_{std::move(context)} {
  if (context_) id_ = id_of(context_with_id(context_));
}

bool context_instance::is_destroyed() const noexcept {
  if (!context_ || id_ == unknown_id) return false;
  const unsigned long long current_id = id_of(context_with_id(context_));
  return current_id == destroyed_id || (current_id != id_ && current_id != unknown_id);
}

bool is_destroyed(const context_ref& context) noexcept {
  if (context.facts().is_green()) {
    return id_of(context.facts().primary) != context.facts().primary_id;
  }
  return id_of(context.raw()) == destroyed_id;
}

context_handle current_context() { return context_of(raw_current_context()); }

context_handle adopt_current_context(CUdevice device) {
  context_handle current = current_context();
  if (!current || current.facts().device != device) return {};
  if (current.is_owned()) return current;
  // Retaining a primary context that is not active would create it.
  unsigned flags = 0;
  int is_active = 0;
  driver::call(driver::table->cuDevicePrimaryCtxGetState, device, &flags, &is_active);
  if (is_active != 0) {
    context_handle primary = retain_primary_context(device);
    if (primary.raw() == current.raw()) return primary;
  }
  return current;
}

void get_memory_info(const context_ref& context, std::size_t* free_bytes, std::size_t* total) {
  const current_scope scope{context.raw()};
  driver::call(driver::table->cuMemGetInfo, free_bytes, total);
}

void synchronize_context(const context_ref& context) {
  const current_scope scope{context.raw()};
  driver::call(driver::table->cuCtxSynchronize);
}

priority_range stream_priorities(const context_ref& context) {
  const context_facts& facts = context.facts();
  const long long cached = facts.priorities.load(std::memory_order_relaxed);
  if (cached != context_facts::unknown_priorities) return unpacked(cached);
  const current_scope scope{context.raw()};
  priority_range range;
  driver::call(driver::table->cuCtxGetStreamPriorityRange, &range.least, &range.greatest);
  facts.priorities.store(packed(range), std::memory_order_relaxed);
  return range;
}

}  // namespace halfwarp::core
