// SPDX-License-Identifier: Apache-2.0
// One parameter that is being given its argument, and the errors that name it.
#include "python/arguments/target.hpp"

#include <string>

#include "python/names.hpp"

namespace halfwarp::python {
namespace {

// What the declaration says, as far as it is known: "float const* x", "float", or "".
std::string declaration_of(const target& to) {
  const core::parameter_layout* layout = to.plan ? to.plan->layout() : nullptr;
  if (layout == nullptr || to.index >= layout->descriptions.size()) return {};
  const core::parameter_description& said = layout->descriptions[to.index];
  std::string text = said.type;
  if (!text.empty() && !said.name.empty()) text += ' ';
  return text + said.name;
}

// numpy.float32, but int: what a reader would write.
reference qualified_name(PyObject* value) noexcept {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  const reference module = attribute<"__module__">(type);
  reference name = module ? attribute<"__qualname__">(type) : reference{};
  const bool is_plain = name && PyUnicode_Check(module.get()) &&
                        PyUnicode_CompareWithASCIIString(module.get(), "builtins") == 0;
  if (!name || is_plain) return name;
  return reference{PyUnicode_FromFormat("%S.%S", module.get(), name.get())};
}

// Raises "<target>: <text>"; no text: an exception is set already.
int raise(PyObject* exception, const target& to, const reference& text) noexcept {
  const reference where{text ? describe_target(to) : nullptr};
  if (where) PyErr_Format(exception, "%U: %U", where.get(), text.get());
  return -1;
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

std::byte* target::place(PyObject* value, std::size_t size) const noexcept {
  if (parameter.size != 0 && parameter.size != size) {
    wrong_size(value, size);
    return nullptr;
  }
  std::byte* const room = is_replaced ? block.replace(index, size) : block.reserve(index, size);
  if (room == nullptr) PyErr_NoMemory();
  return room;
}

int target::copy(PyObject* value, const void* bytes, std::size_t size) const noexcept {
  std::byte* const room = place(value, size);
  if (room == nullptr) return -1;
  std::memcpy(room, bytes, size);
  return 0;
}

int target::wrong_size(PyObject* value, std::size_t size) const noexcept {
  const reference name = qualified_name(value);
  if (!name) return -1;
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
  if (!name) return -1;
  return raise(exception, *this, reference{PyUnicode_FromFormat("%s, got %U", text, name.get())});
}

int target::fail(PyObject* exception, const char* text) const noexcept {
  return raise(exception, *this, reference{PyUnicode_FromString(text)});
}

int target::out_of_range(PyObject* value, std::size_t size) const noexcept {
  const reference name = qualified_name(value);
  if (!name) return -1;
  return raise(PyExc_OverflowError, *this,
               reference{PyUnicode_FromFormat("the value of this %U does not fit %zu bytes",
                                              name.get(), size)});
}

}  // namespace halfwarp::python
