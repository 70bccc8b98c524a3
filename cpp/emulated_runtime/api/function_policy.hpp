// SPDX-License-Identifier: Apache-2.0
// The properties of runtime functions that the gate needs, by function index.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "emulated_runtime/api.hpp"

namespace halfwarp::emulated_runtime::api {

enum class needs : std::uint8_t {
  nothing,
  connection,  // the table of the driver
  driver,      // an initialized driver
  context,     // a current context in this thread
};

namespace detail {

constexpr bool is_one_of(std::string_view name, std::initializer_list<std::string_view> list) {
  for (const auto each : list) {
    if (name == each) return true;
  }
  return false;
}

// Functions of the library itself, and unsupported ones: a refusal must not retain a device.
constexpr bool needs_nothing(std::string_view name) {
  return is_one_of(name, {"cudaGetLastError", "cudaPeekAtLastError", "cudaRuntimeGetVersion"});
}

// Functions that precede the driver's initialization.
constexpr bool needs_connection_only(std::string_view name) {
  return is_one_of(name, {"cudaDriverGetVersion", "cudaGetDriverEntryPoint",
                          "cudaGetDriverEntryPointByVersion", "cudaGetExportTable"});
}

// Queries of devices, which precede the selection of a device, and the selection itself.
constexpr bool needs_driver_only(std::string_view name) {
  if (name.starts_with("cudaLogs")) return true;
  return is_one_of(
      name, {"cudaGetDeviceCount", "cudaGetDevice", "cudaSetDevice", "cudaInitDevice",
             "cudaChooseDevice", "cudaSetDeviceFlags", "cudaGetDeviceFlags",
             "cudaGetDeviceProperties", "cudaDeviceGetAttribute", "cudaDeviceGetPCIBusId",
             "cudaDeviceGetByPCIBusId", "cudaDeviceGetP2PAttribute", "cudaDeviceCanAccessPeer",
             "cudaDeviceGetTexture1DLinearMaxWidth", "cudaDeviceReset",
             "cudaThreadExchangeStreamCaptureMode", "cudaDeviceGetHostAtomicCapabilities",
             "cudaDeviceGetP2PAtomicCapabilities", "cudaSetValidDevices"});
}

constexpr needs needs_of(std::string_view name) {
  if (needs_nothing(name)) return needs::nothing;
  if (needs_connection_only(name)) return needs::connection;
  return needs_driver_only(name) ? needs::driver : needs::context;
}

}  // namespace detail

inline constexpr auto needs_of = [] {
  std::array<needs, function_count> list{};
  for (unsigned i = 0; i < function_count; ++i) list[i] = detail::needs_of(function_names[i]);
  return list;
}();

// Returns whether the function returns the last error, which must not be recorded again.
constexpr bool returns_last_error(unsigned index) {
  return index == index_of("cudaGetLastError") || index == index_of("cudaPeekAtLastError");
}

}  // namespace halfwarp::emulated_runtime::api
