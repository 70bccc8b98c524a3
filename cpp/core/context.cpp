// SPDX-License-Identifier: Apache-2.0
// Contexts: the shared primary ones, foreign ones, and making one current for a while.
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

constexpr unsigned long long unknown = 0;  // of a driver that does not tell
constexpr unsigned long long none = ~0ull;

// What the driver counts contexts by: another number after each reset.
unsigned long long number_of(CUcontext raw) noexcept {
  unsigned long long number = unknown;
  const CUresult code = driver::try_call(driver::table->cuCtxGetId, raw, &number);
  if (code == CUDA_SUCCESS) return number;
  const bool is_gone =
      code == CUDA_ERROR_CONTEXT_IS_DESTROYED || code == CUDA_ERROR_INVALID_CONTEXT;
  return is_gone ? none : unknown;
}

// The context whose number tells whether there is still what was made in `context`: a green one
// goes with the primary one, and its own handle may not be asked about then.
CUcontext lives_with(const context_ref& context) noexcept {
  return context.facts().is_green() ? context.facts().primary : context.raw();
}

}  // namespace

CUresult context_traits::destroy(CUcontext, const context_facts& facts) noexcept {
  if (!facts.is_green()) {
    return driver::try_call(driver::table->cuDevicePrimaryCtxRelease, facts.device);
  }
  // A reset of the device took it down with the primary context.
  if (number_of(facts.primary) != facts.primary_number) return CUDA_SUCCESS;
  return driver::try_call(driver::table->cuGreenCtxDestroy, facts.green);
}

context_handle create_green_context(CUdevice device, const CUdevResource* resources,
                                    unsigned count) {
  const gil_release_if_held released;
  std::vector<CUdevResource> named{resources, resources + count};
  // The driver keeps the primary context with the green one; until then it is kept here.
  const context_handle primary = retain_primary_context(device);
  CUdevResourceDesc described = nullptr;  // lives as long as the process
  driver::call(driver::table->cuDevResourceGenerateDesc, &described, named.data(), count);
  context_facts facts{device, context_kind::green};
  facts.primary = primary.raw();
  facts.primary_number = number_of(facts.primary);
  CUgreenCtx green = nullptr;
  context_handle made = context_handle::own({}, std::move(facts), [&](CUcontext* raw) {
    driver::call(driver::table->cuGreenCtxCreate, &green, described, device,
                 static_cast<unsigned>(CU_GREEN_CTX_DEFAULT_STREAM));
    const CUresult code = driver::try_call(driver::table->cuCtxFromGreenCtx, raw, green);
    if (code == CUDA_SUCCESS) return;
    static_cast<void>(driver::try_call(driver::table->cuGreenCtxDestroy, green));
    throw driver::driver_error{code, "cuCtxFromGreenCtx"};
  });
  made.facts().green = green;
  CUdevResource given{};
  get_resource(made, &given, CU_DEV_RESOURCE_TYPE_SM);
  made.facts().multiprocessors = given.sm.smCount;
  return made;
}

void get_resource(const context_ref& context, CUdevResource* resource, CUdevResourceType type) {
  if (context.facts().is_green()) {
    driver::call(driver::table->cuGreenCtxGetDevResource, context.facts().green, resource, type);
  } else {
    driver::call(driver::table->cuCtxGetDevResource, context.raw(), resource, type);
  }
}

context_handle retain_primary_context(CUdevice device) {
  const gil_release_if_held released;  // the first time makes it
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

context_instance::context_instance(context_handle of) noexcept : context_{std::move(of)} {
  if (context_) number_ = number_of(lives_with(context_));
}

bool context_instance::is_gone() const noexcept {
  if (!context_ || number_ == unknown) return false;
  const unsigned long long now = number_of(lives_with(context_));
  return now == none || (now != number_ && now != unknown);
}

bool is_destroyed(const context_ref& context) noexcept {
  if (context.facts().is_green()) {
    return number_of(context.facts().primary) != context.facts().primary_number;
  }
  return number_of(context.raw()) == none;
}

context_handle current_context() { return context_of(raw_current_context()); }

context_handle adopt_current_context(CUdevice device) {
  context_handle current = current_context();
  if (!current || current.facts().device != device) return {};
  if (current.is_owned()) return current;
  // To retain a primary context that is not active would create it.
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
  const long long known = facts.priorities.load(std::memory_order_relaxed);
  if (known != context_facts::unknown_priorities) return unpacked(known);
  const current_scope scope{context.raw()};
  priority_range range;
  driver::call(driver::table->cuCtxGetStreamPriorityRange, &range.least, &range.greatest);
  facts.priorities.store(packed(range), std::memory_order_relaxed);
  return range;
}

}  // namespace halfwarp::core
