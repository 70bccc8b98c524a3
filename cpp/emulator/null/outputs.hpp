// SPDX-License-Identifier: Apache-2.0
// Output values of the null driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace halfwarp::emulator::null_driver {

// Returns a new handle: unique, never zero, and no address of this process.
std::uintptr_t next_handle() noexcept;

// Returns an address that the host may access, so that programs that access their allocations
// continue. Allocations may share memory; its contents are undefined.
std::uintptr_t next_address(std::size_t bytes) noexcept;

template <class T>
void store_handle(T* out) noexcept {
  if (out) *out = (T)next_handle();  // NOLINT: T is a pointer or an unsigned integer
}

template <class T>
void zero(T* out, std::size_t count = 1) noexcept {
  if (out) std::memset(static_cast<void*>(out), 0, count * sizeof(T));
}

template <class T, class Value>
void store(T* out, Value value) noexcept {
  if (out) *out = (T)value;  // NOLINT: handles of different kinds, too
}

}  // namespace halfwarp::emulator::null_driver
