// SPDX-License-Identifier: Apache-2.0
// What the bodies have in common: checks of arguments, and ways to hand out an answer.
#pragma once

#include <string.h>

#include "emulated_nvml/api.hpp"
#include "emulated_nvml/process/library.hpp"

namespace halfwarp::emulated_nvml::api {

// Whether it is one of the first so many enumerators: a caller in C may pass any number.
template <class Enum>
constexpr bool is_among(Enum value, unsigned count) noexcept {
  return static_cast<unsigned>(value) < count;
}

// One value to one place.
template <class Out, class Value>
nvmlReturn_t give(Out* out, Value value) noexcept {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  *out = static_cast<Out>(value);
  return NVML_SUCCESS;
}

template <class Out>
nvmlReturn_t give_sensor(Out* out, nvmlDevice_t device, sensor which) noexcept {
  return give(out, device->sensors[which]);
}

inline nvmlReturn_t give_text(char* out, unsigned size, const char* text) noexcept {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned length = static_cast<unsigned>(strlen(text)) + 1;
  if (size < length) return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(out, text, length);
  return NVML_SUCCESS;
}

// A list into room for `*count` elements, as NVML does: too few are no answer, but tell how many.
template <class Element, class Source>
nvmlReturn_t give_list(unsigned* count, Element* out, unsigned found, Source source) noexcept {
  if (!count || (*count && !out)) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned room = *count;
  *count = found;
  if (!found) return NVML_SUCCESS;
  if (room < found) return NVML_ERROR_INSUFFICIENT_SIZE;
  for (unsigned i = 0; i < found; ++i) out[i] = source(i);
  return NVML_SUCCESS;
}

// A struct that the caller has told the version of: its size, and a number in the highest byte.
template <class Struct>
nvmlReturn_t check_version(const Struct* given, unsigned version) noexcept {
  if (!given) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned wanted = static_cast<unsigned>(sizeof(Struct)) | version << 24;
  return given->version == wanted ? NVML_SUCCESS : NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

}  // namespace halfwarp::emulated_nvml::api
