// SPDX-License-Identifier: Apache-2.0
// What the null driver puts into output parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace halfwarp::emulator::null_driver {

// A number that nobody has been given before: never zero, and no address of this process.
std::uintptr_t next_handle() noexcept;

// An address that may be read and written by the host, so that code which touches what it was
// given goes on; the memory is shared by all and holds nothing.
std::uintptr_t next_address(std::size_t bytes) noexcept;

template <class T>
void fresh(T* out) noexcept {
  if (out) *out = (T)next_handle();  // NOLINT: T is a pointer or an unsigned integer
}

template <class T>
void zero(T* out, std::size_t count = 1) noexcept {
  if (out) std::memset(static_cast<void*>(out), 0, count * sizeof(T));
}

template <class T, class Value>
void give(T* out, Value value) noexcept {
  if (out) *out = (T)value;  // NOLINT: handles of different kinds, too
}

}  // namespace halfwarp::emulator::null_driver
