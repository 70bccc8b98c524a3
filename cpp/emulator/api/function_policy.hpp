// SPDX-License-Identifier: Apache-2.0
// The gate's policy for each driver function, by its index.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "emulator/api.hpp"

namespace halfwarp::emulator::api {

enum : std::uint8_t {
  needs_no_init = 1,        // works before cuInit
  ignores_failure = 2,      // works while the current context is broken
  releases_resource = 4,    // runs in a broken context, then returns its error
  cannot_fail = 8,          // excluded from fault rules for `any`
  is_constant_lookup = 16,  // allowed in host functions and after a fork
};

namespace detail {

constexpr bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  for (const auto each : list) {
    if (name == each) return true;
  }
  return false;
}

constexpr bool has_one_of(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (const auto each : parts) {
    if (name.find(each) != std::string_view::npos) return true;
  }
  return false;
}

// Returns whether a function looks up names, codes or versions, which needs no device.
constexpr bool is_constant(std::string_view name) {
  return name.starts_with("cuGet") || name == "cuDriverGetVersion";
}

constexpr bool is_lookup(std::string_view name) {
  return name.starts_with("cuDevice") || name.starts_with("cuPointerGet") ||
         name.starts_with("cuProfiler") ||
         is_one_of(name, {"cuInit", "cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxPushCurrent",
                          "cuCtxPopCurrent", "cuCtxGetDevice", "cuCtxGetFlags", "cuCtxGetId",
                          "cuCtxGetApiVersion", "cuStreamGetPriority", "cuStreamGetFlags",
                          "cuStreamGetCtx", "cuStreamGetId", "cuStreamGetDevice", "cuKernelGetName",
                          "cuFuncGetName"});
}

constexpr bool releases(std::string_view name) {
  return has_one_of(name, {"Destroy", "Free", "Unload", "Unregister", "Release"});
}

constexpr std::uint8_t policy_of(std::string_view name) {
  std::uint8_t policy = 0;
  if (is_constant(name) || name == "cuInit") policy |= needs_no_init;
  if (is_constant(name) || is_lookup(name)) policy |= ignores_failure;
  if (releases(name)) policy |= releases_resource | cannot_fail;
  if (is_constant(name)) policy |= cannot_fail | is_constant_lookup;
  return policy;
}

}  // namespace detail

inline constexpr auto policies = [] {
  std::array<std::uint8_t, function_count> list{};
  for (unsigned i = 0; i < function_count; ++i) list[i] = detail::policy_of(function_names[i]);
  return list;
}();

}  // namespace halfwarp::emulator::api
