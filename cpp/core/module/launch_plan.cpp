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

bool may_hold_integer(parameter_kind kind) {
  return !is_floating(kind) && kind != parameter_kind::aggregate && kind != parameter_kind::boolean;
}

bool may_hold_negative(parameter_kind kind) {
  return may_hold_integer(kind) && kind != parameter_kind::unsigned_integer &&
         kind != parameter_kind::pointer;
}

// Returns whether a float may be packed in a floating type, as far as the kind is known.
bool may_hold(parameter_kind kind, parameter_kind floating) {
  return kind == floating || kind == parameter_kind::unknown;
}

// Descriptions are valid only if their sizes agree with those that the driver reports.
bool agree(const parameter_descriptions& described, const std::vector<parameter>& parameters) {
  return described.size() == parameters.size() &&
         std::equal(described.begin(), described.end(), parameters.begin(),
                    [](const auto& s, const auto& p) { return s.size == 0 || s.size == p.size; });
}

// Joins the kinds of a parameter in PTX and in a symbol, which knows more if it names a known type.
// Without PTX, a name of 4 bytes is most likely an enumeration, and another one a structure.
parameter_kind joined_kind(parameter_kind from_ptx, parameter_kind from_symbol,
                           std::uint32_t size) {
  if (from_symbol == parameter_kind::unknown) return from_ptx;
  if (from_symbol != parameter_kind::class_or_enum) return from_symbol;
  if (from_ptx != parameter_kind::unknown) return from_ptx;
  return size == 4 ? parameter_kind::integer : parameter_kind::aggregate;
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
  if ((is_8 || is_4) && may_hold_negative(kind)) result.accepts |= accepts_integer;
  if ((is_8 || is_4) && may_hold_integer(kind)) result.accepts |= accepts_natural;
  if (is_8 && may_hold_integer(kind)) result.accepts |= accepts_wide;
  if (is_8 && kind != parameter_kind::signed_integer) result.accepts |= accepts_high;
  if (is_8 && may_hold(kind, parameter_kind::float64)) result.accepts |= accepts_double;
  if (size == 4 && may_hold(kind, parameter_kind::float32)) result.accepts |= accepts_single;
  if (is_8 && !is_floating(kind)) result.accepts |= accepts_address;
  if (is_8) result.accepts |= accepts_8_bytes;
  if (is_4) result.accepts |= accepts_4_bytes;
  return result;
}

launch_plan::launch_plan(CUkernel kernel, std::string symbol, parameter_descriptions from_ptx)
    : kernel_{kernel}, symbol_{std::move(symbol)}, from_ptx_{std::move(from_ptx)} {}

launch_plan::~launch_plan() {
  const parameter_layout* const loaded = layout();
  if (loaded == nullptr) return;
  retire_kernel_name(loaded->number);
  delete loaded;
}

std::string launch_plan::readable_name() const {
  const parameter_layout* loaded = layout();
  const std::string& symbol = loaded ? loaded->symbol : symbol_;
  return symbol.empty() ? std::string{"kernel"} : core::readable_name(symbol);
}

const parameter_layout& launch_plan::load_layout() {
  if (const parameter_layout* loaded = layout()) return *loaded;
  std::unique_ptr<parameter_layout> created = query_layout();
  add_descriptions(*created);
  created->number = register_kernel_name(
      created->symbol.empty() ? std::string{"kernel"} : core::readable_name(created->symbol));
  const parameter_layout* expected = nullptr;
  if (layout_.compare_exchange_strong(expected, created.get(), std::memory_order_acq_rel)) {
    return *created.release();
  }
  retire_kernel_name(created->number);
  return *expected;  // another thread stored it first
}

std::unique_ptr<parameter_layout> launch_plan::query_layout() const {
  auto created = std::make_unique<parameter_layout>();
  created->symbol = symbol_;
  int version = 0;
  driver::call(driver::table->cuDriverGetVersion, &version);
  if (version < first_version_with_parameter_info) return created;
  const char* name = nullptr;
  if (symbol_.empty() && driver::table->cuKernelGetName(&name, kernel_) == CUDA_SUCCESS && name) {
    created->symbol = name;
  }
  created->is_known = true;
  for (std::size_t index = 0;; ++index) {
    std::size_t offset = 0, size = 0;
    const auto get_parameter = driver::table->cuKernelGetParamInfo;
    const CUresult code = get_parameter(kernel_, index, &offset, &size);
    // The driver documents this code as the end of the list; other codes are failures.
    if (code == CUDA_ERROR_INVALID_VALUE) return created;
    if (code != CUDA_SUCCESS) driver::fail(code, reinterpret_cast<const void*>(get_parameter));
    created->parameters.push_back({static_cast<std::uint32_t>(size)});
    created->offsets.push_back(static_cast<std::uint32_t>(offset));
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
      layout.descriptions[i].kind =
          joined_kind(layout.descriptions[i].kind, from_symbol[i].kind, layout.parameters[i].size);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    parameter& p = layout.parameters[i];
    p = make_parameter(p.size, layout.descriptions[i].kind);
  }
}

unsigned launch_plan::grant_shared_memory(CUdevice device, unsigned bytes) {
  const auto slot = static_cast<std::size_t>(device);
  if (slot < cached_devices) {
    const unsigned granted = granted_[slot].load(std::memory_order_relaxed);
    if (bytes <= granted) return granted;
  }
  const gil_release_if_held released;
  const int fixed = kernel_attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel_, device);
  int granted = kernel_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel_, device);
  if (bytes > static_cast<unsigned>(granted)) {
    int limit = 0;
    driver::call(driver::table->cuDeviceGetAttribute, &limit,
                 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    limit = std::max(limit - fixed, granted);
    if (bytes > static_cast<unsigned>(limit)) return static_cast<unsigned>(limit);
    driver::call(driver::table->cuKernelSetAttribute,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit, kernel_, device);
    granted = limit;
  }
  if (slot < cached_devices) {
    granted_[slot].store(static_cast<unsigned>(granted), std::memory_order_relaxed);
  }
  if (fixed < static_cast<int>(shared_memory_of_every_device) &&
      !has_custom_limits_.load(std::memory_order_relaxed)) {
    default_shared_memory_.store(shared_memory_of_every_device - static_cast<unsigned>(fixed),
                                 std::memory_order_relaxed);
  }
  return static_cast<unsigned>(granted);
}

void launch_plan::invalidate_shared_memory(CUdevice device) noexcept {
  const auto slot = static_cast<std::size_t>(device);
  if (slot < cached_devices) granted_[slot].store(0, std::memory_order_relaxed);
  has_custom_limits_.store(true, std::memory_order_relaxed);
  default_shared_memory_.store(0, std::memory_order_relaxed);
}

}  // namespace halfwarp::core
