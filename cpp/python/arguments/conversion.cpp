// SPDX-License-Identifier: Apache-2.0
// How objects of one Python type become bytes, found once per type and remembered.
#include "python/arguments/conversion.hpp"

#include <array>
#include <atomic>
#include <bit>

#include "python/names.hpp"
#include "python/objects.hpp"

namespace halfwarp::python {
namespace {

// Python gives each state of each type its own number, never used again, and forgets it when the
// type changes. So a conversion filed under that number needs neither a reference to the type nor a
// lock: one word holds number and conversion.
struct remembered {
  std::uint32_t version;
  conversion found;
};
static_assert(sizeof(remembered) == sizeof(std::uint64_t));

constinit std::array<std::atomic<std::uint64_t>, 256> memory{};

std::uint32_t version_of(PyTypeObject* type) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  if (!PyUnstable_Type_AssignVersionTag(type)) return 0;
#endif
  return __atomic_load_n(&type->tp_version_tag, __ATOMIC_RELAXED);
}

std::atomic<std::uint64_t>& place_of(std::uint32_t version) noexcept {
  return memory[version % memory.size()];
}

bool recall(std::uint32_t version, conversion& found) noexcept {
  const auto entry = std::bit_cast<remembered>(place_of(version).load(std::memory_order_relaxed));
  if (version == 0 || entry.version != version) return false;
  found = entry.found;
  return true;
}

void remember(std::uint32_t version, const conversion& found) noexcept {
  place_of(version).store(std::bit_cast<std::uint64_t>(remembered{version, found}),
                          std::memory_order_relaxed);
}

int classify_own(PyObject* value, conversion& found) noexcept {
  if (is_instance<buffer_fields>(value)) {
    found.how = form::buffer;
  } else if (is_instance<view_fields>(value)) {
    found.how = form::view;
  } else if (PyBool_Check(value)) {
    found.how = form::boolean;
  } else if (value == Py_None) {
    found.how = form::none;
  } else {
    return 0;
  }
  return 1;
}

// After NumPy, some of whose scalars derive from these.
int classify_number(PyObject* value, conversion& found) noexcept {
  if (PyLong_Check(value)) {
    found.how = form::integer;
  } else if (PyFloat_Check(value)) {
    found.how = form::real;
  } else if (PyComplex_Check(value)) {
    found.how = form::complex;
  } else {
    return 0;
  }
  return 1;
}

int classify_protocol(PyObject* value, conversion& found) noexcept {
  if (!class_has<"__cuda_kernel_arg__">(value)) return 0;
  found.how = form::own_protocol;
  return 1;
}

// In the order of precedence: a subclass behaves like the first base found here.
constexpr std::array families{classify_own,      classify_numpy,    classify_number,
                              classify_protocol, classify_bindings, classify_ctypes,
                              classify_array};

}  // namespace

int find_conversion(PyObject* value, conversion& found) noexcept {
  const std::uint32_t version = version_of(Py_TYPE(value));
  if (recall(version, found)) return 0;
  for (const auto classify : families) {
    const int known = classify(value, found);
    if (known < 0) return -1;
    if (known == 0) continue;
    // Under the number that the type had before it was looked at: it may have changed meanwhile.
    if (version_of(Py_TYPE(value)) == version) remember(version, found);
    return 0;
  }
  found.how = form::unsupported;  // not remembered: instances may differ in their attributes
  return 0;
}

bool derives_from(PyTypeObject* type, PyObject* base) noexcept {
  return base != nullptr && PyType_Check(base) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(base));
}

}  // namespace halfwarp::python
