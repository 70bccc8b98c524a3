// SPDX-License-Identifier: Apache-2.0
// How objects of one Python type become bytes, determined once per type and cached.
#include "python/arguments/conversion.hpp"

#include <array>
#include <atomic>
#include <bit>

#include "python/names.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {
namespace {

// CPython gives each state of each type a unique version tag, and invalidates it when the type
// changes. A conversion cached under the tag needs neither a reference to the type nor a lock: one
// word holds both.
struct cached_conversion {
  std::uint32_t version;
  conversion value;
};
static_assert(sizeof(cached_conversion) == sizeof(std::uint64_t));

constinit std::array<std::atomic<std::uint64_t>, 256> cache{};

std::uint32_t version_of(PyTypeObject* type) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  if (!PyUnstable_Type_AssignVersionTag(type)) return 0;
#endif
  return __atomic_load_n(&type->tp_version_tag, __ATOMIC_RELAXED);
}

std::atomic<std::uint64_t>& slot_of(std::uint32_t version) noexcept {
  return cache[version % cache.size()];
}

bool find_cached(std::uint32_t version, conversion& result) noexcept {
  const auto entry =
      std::bit_cast<cached_conversion>(slot_of(version).load(std::memory_order_relaxed));
  if (version == 0 || entry.version != version) return false;
  result = entry.value;
  return true;
}

void store_cached(std::uint32_t version, const conversion& result) noexcept {
  slot_of(version).store(std::bit_cast<std::uint64_t>(cached_conversion{version, result}),
                         std::memory_order_relaxed);
}

int classify_own(PyObject* value, conversion& result) noexcept {
  if (is_instance<buffer_fields>(value)) {
    result.kind = form::buffer;
  } else if (is_instance<view_fields>(value)) {
    result.kind = form::view;
  } else if (PyBool_Check(value)) {
    result.kind = form::boolean;
  } else if (value == Py_None) {
    result.kind = form::none;
  } else {
    return 0;
  }
  return 1;
}

// Runs after the NumPy classifier, because some NumPy scalars derive from these types.
int classify_number(PyObject* value, conversion& result) noexcept {
  if (PyLong_Check(value)) {
    result.kind = form::integer;
  } else if (PyFloat_Check(value)) {
    result.kind = form::real;
  } else if (PyComplex_Check(value)) {
    result.kind = form::complex;
  } else {
    return 0;
  }
  return 1;
}

int classify_protocol(PyObject* value, conversion& result) noexcept {
  if (!class_has<"__cuda_kernel_arg__">(value)) return 0;
  result.kind = form::own_protocol;
  return 1;
}

// In order of precedence: a subclass is treated like the first matching base.
constexpr std::array families{classify_own,      classify_numpy,    classify_number,
                              classify_protocol, classify_bindings, classify_ctypes,
                              classify_array};

}  // namespace

int find_conversion(PyObject* value, conversion& result) noexcept {
  const std::uint32_t version = version_of(Py_TYPE(value));
  if (find_cached(version, result)) return 0;
  for (const auto classify : families) {
    const int status = classify(value, result);
    if (status < 0) return failed;
    if (status == 0) continue;
    // Cached only if the type did not change during classification.
    if (version_of(Py_TYPE(value)) == version) store_cached(version, result);
    return 0;
  }
  result.kind = form::unsupported;  // not cached: instances may have different attributes
  return 0;
}

bool derives_from(PyTypeObject* type, PyObject* base) noexcept {
  return base != nullptr && PyType_Check(base) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base));
}

}  // namespace halfwarp::python
