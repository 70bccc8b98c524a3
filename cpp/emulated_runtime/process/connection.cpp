// SPDX-License-Identifier: Apache-2.0
// Sets the driver table of the process.
#include "emulated_runtime/process/connection.hpp"

#include <dlfcn.h>

#include <cstring>
#include <mutex>

#include "emulator/control/load_emulator.hpp"

namespace halfwarp::emulated_runtime {
namespace {

void* emulated_driver() noexcept {
  static void* const handle =
      load_emulator(reinterpret_cast<const void*>(&halfwarp_cudart_connect), "the runtime library");
  return handle;
}

// Returns a function of the emulator beyond the driver's API; null without an emulated driver.
template <class Function>
Function* find_control(const char* name) noexcept {
  void* const driver = emulated_driver();
  return driver ? reinterpret_cast<Function*>(dlsym(driver, name)) : nullptr;
}

const driver::driver_table* emulated_table() noexcept {
  static driver::driver_table slots;
  void* const driver = emulated_driver();
  if (!driver) return nullptr;
  void* addresses[driver::driver_slot_count];
  const char* name = driver_names;
  for (void*& address : addresses) {
    address = dlsym(driver, name);
    name += std::strlen(name) + 1;
  }
  std::memcpy(static_cast<void*>(&slots), addresses, sizeof slots);
  return &slots;
}

}  // namespace

bool ensure_connection() noexcept {
  static std::mutex connecting;
  if (__atomic_load_n(&table, __ATOMIC_ACQUIRE)) return true;
  const std::scoped_lock guard{connecting};
  if (!table) __atomic_store_n(&table, emulated_table(), __ATOMIC_RELEASE);
  return table != nullptr;
}

std::string reason_of(CUresult code) {
  static auto* const read =
      find_control<size_t(int, char*, size_t)>("halfwarp_emulator_error_text");
  char text[2048] = "";
  if (read) read(code, text, sizeof text);
  return text;
}

void allow_undefined(CUlinkState state) noexcept {
  static auto* const allow = find_control<int(void*)>("halfwarp_emulator_allow_undefined");
  if (allow) allow(state);
}

bool select_per_thread_streams(bool is_selected) noexcept {
  static auto* const select = find_control<int(int)>("halfwarp_emulator_select_per_thread_streams");
  return select && select(is_selected) != 0;
}

}  // namespace halfwarp::emulated_runtime

void halfwarp_cudart_connect(const halfwarp::driver::driver_table* driver) noexcept {
  halfwarp::emulated_runtime::table = driver;
}
