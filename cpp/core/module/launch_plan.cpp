// SPDX-License-Identifier: Apache-2.0
// Parameter layout and shared memory limits of a kernel.
#include "core/module/launch_plan.hpp"

#include <algorithm>
#include <utility>

#include "core/lifetime/interpreter.hpp"
#include "core/module/kernel_names.hpp"
#include "driver/call.hpp"

namespace halfwarp::core {
namespace {

constexpr int first_version_with_parameter_info = 12040;
constexpr unsigned shared_memory_of_every_device = 48 * 1024;

bool is_floating(parameter_kind kind) {
  return kind == parameter_kind::half || kind == parameter_kind::bfloat16 ||
         kind == parameter_kind::float32 || kind == parameter_kind::float64;
}

bool may_hold_address(parameter_kind kind) { return !is_floating(kind); }

// Whether raw bytes of a floating type may go there: nothing known says otherwise.
bool may_hold(parameter_kind kind, parameter_kind floating) {
  return kind == floating || kind == parameter_kind::unknown || kind == parameter_kind::aggregate;
}

// What is said about a parameter holds only if it agrees with the size that the driver reports.
bool agree(const parameter_descriptions& said, const std::vector<parameter>& parameters) {
  return said.size() == parameters.size() &&
         std::equal(said.begin(), said.end(), parameters.begin(),
                    [](const auto& s, const auto& p) { return s.size == 0 || s.size == p.size; });
}

int kernel_attribute(CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  int value = 0;
  driver::call(driver::table->cuKernelGetAttribute, &value, attribute, kernel, device);
  return value;
}

}  // namespace

parameter make_parameter(std::uint32_t size, parameter_kind kind) noexcept {
  parameter result{size, kind, 0};
  const bool is_8 = size == 0 || size == 8, is_4 = size == 0 || size == 4;
  if ((is_8 || is_4) && !is_floating(kind)) result.accepts |= accepts_integer;
  if (is_8 && may_hold(kind, parameter_kind::float64)) result.accepts |= accepts_double;
  if (size == 4 && may_hold(kind, parameter_kind::float32)) result.accepts |= accepts_single;
  if (is_8 && may_hold_address(kind)) result.accepts |= accepts_address;
  if (is_8) result.accepts |= accepts_8_bytes;
  if (is_4) result.accepts |= accepts_4_bytes;
  return result;
}

launch_plan::launch_plan(CUkernel kernel, std::string symbol, parameter_descriptions from_ptx)
    : kernel_{kernel}, symbol_{std::move(symbol)}, from_ptx_{std::move(from_ptx)} {}

launch_plan::~launch_plan() {
  const parameter_layout* const known = layout();
  if (known == nullptr) return;
  retire_kernel_name(known->number);
  delete known;
}

std::string launch_plan::readable_name() const {
  const parameter_layout* known = layout();
  const std::string& symbol = known ? known->symbol : symbol_;
  return symbol.empty() ? std::string{"kernel"} : core::readable_name(symbol);
}

const parameter_layout& launch_plan::load_layout() {
  if (const parameter_layout* known = layout()) return *known;
  std::unique_ptr<parameter_layout> made = ask_layout();
  add_descriptions(*made);
  made->number = register_kernel_name(made->symbol.empty() ? std::string{"kernel"}
                                                           : core::readable_name(made->symbol));
  const parameter_layout* expected = nullptr;
  if (layout_.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  retire_kernel_name(made->number);
  return *expected;  // another thread was first
}

std::unique_ptr<parameter_layout> launch_plan::ask_layout() const {
  auto made = std::make_unique<parameter_layout>();
  made->symbol = symbol_;
  int version = 0;
  driver::call(driver::table->cuDriverGetVersion, &version);
  if (version < first_version_with_parameter_info) return made;
  const char* name = nullptr;
  if (symbol_.empty() && driver::table->cuKernelGetName(&name, kernel_) == CUDA_SUCCESS && name) {
    made->symbol = name;
  }
  made->is_known = true;
  for (std::size_t index = 0;; ++index) {
    std::size_t offset = 0, size = 0;
    const auto ask = driver::table->cuKernelGetParamInfo;
    const CUresult code = ask(kernel_, index, &offset, &size);
    // The documented end of the list; anything else is a failure and must not end it.
    if (code == CUDA_ERROR_INVALID_VALUE) return made;
    if (code != CUDA_SUCCESS) driver::fail(code, reinterpret_cast<const void*>(ask));
    made->parameters.push_back({static_cast<std::uint32_t>(size)});
    made->offsets.push_back(static_cast<std::uint32_t>(offset));
  }
}

void launch_plan::add_descriptions(parameter_layout& layout) const {
  const std::size_t count = layout.parameters.size();
  layout.descriptions.resize(count);
  if (agree(from_ptx_, layout.parameters)) layout.descriptions = from_ptx_;
  const parameter_descriptions from_symbol = signature_of_symbol(layout.symbol);
  if (agree(from_symbol, layout.parameters)) {
    for (std::size_t i = 0; i < count; ++i) {
      layout.descriptions[i].type = from_symbol[i].type;
      if (from_symbol[i].kind != parameter_kind::unknown) {
        layout.descriptions[i].kind = from_symbol[i].kind;
      }
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    parameter& p = layout.parameters[i];
    p = make_parameter(p.size, layout.descriptions[i].kind);
  }
}

unsigned launch_plan::grant_shared_memory(CUdevice device, unsigned bytes) {
  const auto slot = static_cast<std::size_t>(device);
  if (slot < remembered_devices) {
    const unsigned granted = granted_[slot].load(std::memory_order_relaxed);
    if (bytes <= granted) return granted;
  }
  const gil_release_if_held released;
  const int fixed = kernel_attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel_, device);
  int granted = kernel_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel_, device);
  if (bytes > static_cast<unsigned>(granted)) {
    int most = 0;
    driver::call(driver::table->cuDeviceGetAttribute, &most,
                 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    most = std::max(most - fixed, granted);
    if (bytes > static_cast<unsigned>(most)) return static_cast<unsigned>(most);
    driver::call(driver::table->cuKernelSetAttribute,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most, kernel_, device);
    granted = most;
  }
  if (slot < remembered_devices) {
    granted_[slot].store(static_cast<unsigned>(granted), std::memory_order_relaxed);
  }
  if (fixed < static_cast<int>(shared_memory_of_every_device) &&
      !has_limits_of_its_own_.load(std::memory_order_relaxed)) {
    unasked_shared_memory_.store(shared_memory_of_every_device - static_cast<unsigned>(fixed),
                                 std::memory_order_relaxed);
  }
  return static_cast<unsigned>(granted);
}

void launch_plan::forget_shared_memory(CUdevice device) noexcept {
  const auto slot = static_cast<std::size_t>(device);
  if (slot < remembered_devices) granted_[slot].store(0, std::memory_order_relaxed);
  has_limits_of_its_own_.store(true, std::memory_order_relaxed);
  unasked_shared_memory_.store(0, std::memory_order_relaxed);
}

}  // namespace halfwarp::core
