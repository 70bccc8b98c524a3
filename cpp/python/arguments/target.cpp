// SPDX-License-Identifier: Apache-2.0
// The parameter that an argument is packed for, and the errors that name it.
#include "python/arguments/target.hpp"

#include <string>

#include "python/names.hpp"

namespace halfwarp::python {
namespace {

// Returns the known part of the declaration: "float const* x", "float", or "".
std::string declaration_of(const target& to) {
  const core::parameter_layout* layout = to.plan ? to.plan->layout() : nullptr;
  if (layout == nullptr || to.index >= layout->descriptions.size()) return {};
  const core::parameter_description& description = layout->descriptions[to.index];
  std::string text = description.type;
  if (!text.empty() && !description.name.empty()) text += ' ';
  return text + description.name;
}

// Returns the type name as written in source: numpy.float32, but int.
reference qualified_name(PyObject* value) noexcept {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  const reference module = attribute<"__module__">(type);
  reference name = module ? attribute<"__qualname__">(type) : reference{};
  const bool is_plain = name && PyUnicode_Check(module.get()) &&
                        PyUnicode_CompareWithASCIIString(module.get(), "builtins") == 0;
  if (!name || is_plain) return name;
  return reference{PyUnicode_FromFormat("%S.%S", module.get(), name.get())};
}

// Raises "<target>: <text>"; a null text means that an exception is already set.
int raise(PyObject* exception, const target& to, const reference& text) noexcept {
  const reference name{text ? describe_target(to) : nullptr};
  if (name) PyErr_Format(exception, "%U: %U", name.get(), text.get());
  return failed;
}

}  // namespace

PyObject* describe_target(const target& to) noexcept {
  try {
    const std::string kernel = to.plan ? to.plan->readable_name() + "() " : std::string{};
    const std::string declaration = declaration_of(to);
    return PyUnicode_FromFormat("%sargument %zu of %zu%s%s%s", kernel.c_str(), to.index + 1,
                                to.block.count(), declaration.empty() ? "" : " (",
                                declaration.c_str(), declaration.empty() ? "" : ")");
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

std::byte* target::reserve(PyObject* value, std::size_t size) const noexcept {
  if (parameter.size != 0 && parameter.size != size) {
    wrong_size(value, size);
    return nullptr;
  }
  std::byte* const memory = is_replaced ? block.replace(index, size) : block.reserve(index, size);
  if (memory == nullptr) PyErr_NoMemory();
  return memory;
}

int target::copy(PyObject* value, const void* bytes, std::size_t size) const noexcept {
  std::byte* const memory = reserve(value, size);
  if (memory == nullptr) return failed;
  std::memcpy(memory, bytes, size);
  return 0;
}

int target::wrong_size(PyObject* value, std::size_t size) const noexcept {
  const reference name = qualified_name(value);
  if (!name) return failed;
  return raise(PyExc_TypeError, *this,
               reference{PyUnicode_FromFormat("expected %u bytes, got %U (%zu bytes)",
                                              parameter.size, name.get(), size)});
}

int target::unsupported(PyObject* value, const char* advice) const noexcept {
  return raise(PyExc_TypeError, *this,
               reference{PyUnicode_FromFormat("unsupported type: %R; %s", Py_TYPE(value), advice)});
}

int target::fail(PyObject* exception, const char* text, PyObject* value) const noexcept {
  const reference name = qualified_name(value);
  if (!name) return failed;
  return raise(exception, *this, reference{PyUnicode_FromFormat("%s, got %U", text, name.get())});
}

int target::fail(PyObject* exception, const char* text) const noexcept {
  return raise(exception, *this, reference{PyUnicode_FromString(text)});
}

int target::out_of_range(PyObject* value, std::size_t size, long long lowest,
                         unsigned long long highest) const noexcept {
  const reference name = qualified_name(value);
  if (!name) return failed;
  return raise(PyExc_OverflowError, *this,
               reference{PyUnicode_FromFormat(
                   "the value of this %U does not fit %zu bytes: it must be from %lld to %llu",
                   name.get(), size, lowest, highest)});
}

}  // namespace halfwarp::python
