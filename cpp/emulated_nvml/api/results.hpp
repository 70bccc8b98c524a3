// SPDX-License-Identifier: Apache-2.0
// Checks of arguments, and functions that write results, for all bodies.
#pragma once

#include <string.h>

#include "emulated_nvml/api.hpp"
#include "emulated_nvml/process/library.hpp"

namespace halfwarp::emulated_nvml::api {

// Returns whether a value is one of the first `count` enumerators; C callers can pass any number.
template <class Enum>
constexpr bool is_among(Enum value, unsigned count) noexcept {
  return static_cast<unsigned>(value) < count;
}

// Writes one value to an output pointer.
template <class Out, class Value>
nvmlReturn_t write_value(Out* out, Value value) noexcept {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  *out = static_cast<Out>(value);
  return NVML_SUCCESS;
}

template <class Out>
nvmlReturn_t write_sensor(Out* out, nvmlDevice_t device, sensor which_sensor) noexcept {
  return write_value(out, device->sensors[which_sensor]);
}

inline nvmlReturn_t write_text(char* out, unsigned size, const char* text) noexcept {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned length = static_cast<unsigned>(strlen(text)) + 1;
  if (size < length) return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(out, text, length);
  return NVML_SUCCESS;
}

// Writes a list for a capacity of `*count` elements. As NVML does, a smaller capacity is an error
// and `*count` returns the size of the list.
template <class Element, class Source>
nvmlReturn_t write_list(unsigned* count, Element* out, unsigned total, Source source) noexcept {
  if (!count || (*count && !out)) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned capacity = *count;
  *count = total;
  if (!total) return NVML_SUCCESS;
  if (capacity < total) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < total; ++i) out[i] = source(i);
  return NVML_SUCCESS;
}

// Checks the version field of a struct: its size, and a number in the highest byte.
template <class Struct>
nvmlReturn_t check_version(const Struct* argument, unsigned version) noexcept {
  if (!argument) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned expected = static_cast<unsigned>(sizeof(Struct)) | version << 24;
  return argument->version == expected ? NVML_SUCCESS : NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

}  // namespace halfwarp::emulated_nvml::api
