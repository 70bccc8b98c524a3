// SPDX-License-Identifier: Apache-2.0
// What the gate must know about each runtime function, by its index.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "emulated_runtime/api.hpp"

namespace halfwarp::emulated_runtime::api {

enum class needs : std::uint8_t {
  nothing,
  driver,   // started
  context,  // one current in this thread
};

namespace detail {

constexpr bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  for (const auto each : list) {
    if (name == each) return true;
  }
  return false;
}

// Answers of the library itself, and what never runs: a refusal takes no device up.
constexpr bool asks_nobody(std::string_view name) {
  return is_one_of(name, {"cudaGetLastError", "cudaPeekAtLastError", "cudaDriverGetVersion",
                          "cudaRuntimeGetVersion", "cudaGetDriverEntryPoint",
                          "cudaGetDriverEntryPointByVersion", "cudaGetExportTable"});
}

// Questions about devices, which a program asks before it chooses one, and the choice.
constexpr bool asks_the_driver_only(std::string_view name) {
  if (name.starts_with("cudaLogs")) return true;
  return is_one_of(
      name, {"cudaGetDeviceCount", "cudaGetDevice", "cudaSetDevice", "cudaInitDevice",
             "cudaChooseDevice", "cudaSetDeviceFlags", "cudaGetDeviceFlags",
             "cudaGetDeviceProperties", "cudaDeviceGetAttribute", "cudaDeviceGetPCIBusId",
             "cudaDeviceGetByPCIBusId", "cudaDeviceGetP2PAttribute", "cudaDeviceCanAccessPeer",
             "cudaDeviceGetTexture1DLinearMaxWidth", "cudaDeviceReset",
             "cudaThreadExchangeStreamCaptureMode", "cudaDeviceGetHostAtomicCapabilities",
             "cudaDeviceGetP2PAtomicCapabilities"});
}

constexpr needs needs_of(std::string_view name) {
  if (asks_nobody(name)) return needs::nothing;
  return asks_the_driver_only(name) ? needs::driver : needs::context;
}

}  // namespace detail

inline constexpr auto needs_of = [] {
  std::array<needs, function_count> list{};
  for (unsigned i = 0; i < function_count; ++i) list[i] = detail::needs_of(function_names[i]);
  return list;
}();

// What these two answer is an error already noted, or already forgotten.
constexpr bool tells_of_last_error(unsigned index) {
  return index == index_of("cudaGetLastError") || index == index_of("cudaPeekAtLastError");
}

}  // namespace halfwarp::emulated_runtime::api
