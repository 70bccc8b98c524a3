// SPDX-License-Identifier: Apache-2.0
// Values typed by an attribute: found in the table of the attribute's enumeration.
#include "bindings/converters/conversions.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/numbers/numbers.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/objects/enum_type.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {
namespace {

const attribute* find(const attribute_table& table, std::int32_t member) {
  for (const attribute& a : table.attributes)
    if (std::int32_t(a.member) == member) return &a;
  return nullptr;
}

// The type of the value of an attribute; nullptr with TypeError when it has none.
const attribute* type_of(frame& c, const param& p, std::int32_t member) {
  const attribute_table& table = c.lib.attributes[std::size_t(p.type)];
  if (const attribute* found = find(table, member)) return found;
  const reference name{enum_member(c.lib, table.enumeration, member)};
  if (name.get()) PyErr_Format(PyExc_TypeError, "Unsupported attribute: %R", name.get());
  if (p.py < 0) raise_for_argument(c.f, c.param_at(p.aux));  // an output has no name of its own
  return nullptr;
}

// A list of enumerators that another parameter holds.
const std::int32_t* members_of(const frame& c, const param& p) {
  return reinterpret_cast<const std::int32_t*>(c.w[p.aux]);
}

word count_of(const frame& c, const param& p) { return c.value_of(c.param_at(p.aux).aux); }

// The list of attributes holds at least as many as the count says.
bool check_count(frame& c, const param& p) {
  word count = count_of(c, p);
  if (count <= c.cell[p.aux]) return true;
  PyErr_Format(PyExc_RuntimeError, "List is too small: %llu < %llu", c.cell[p.aux], count);
  return false;
}

// Numbers of devices. No machine has as many; each takes three times its size as a list, for which
// a size that makes no sense would take the memory of the machine.
constexpr word most_listed = word(1) << 20;

void* reserve(frame& c, const attribute& a, word asked) {
  word bytes = value_size(c.lib, a) +
               (a.k == value_kind::structure || a.k == value_kind::data ? struct_slack : 0);
  if (a.k == value_kind::list_i32 && asked > most_listed)
    return PyErr_Format(PyExc_ValueError, "%s(): a list of devices in %llu bytes, at most %llu",
                        c.f.name.c_str(), asked, most_listed);
  return c.memory.allocate_zeroed(asked > bytes ? asked : bytes);
}

bool raise_short(Py_ssize_t length, word count) {
  PyErr_Format(PyExc_RuntimeError, "List is too small: %zd < %llu", length, count);
  return false;
}

}  // namespace

bool attribute_argument(frame& c, int i, const param& p) {
  const attribute* a = type_of(c, p, std::int32_t(c.w[p.aux]));
  word size = 0;
  if (!a || !value_to_memory(c, *a, c.argument(p), c.w[i], size)) return false;
  if (p.size >= 0) c.cell[p.size] = size;
  return true;
}

bool attribute_options_argument(frame& c, int i, const param& p) {
  PyObject* object = c.argument(p);
  c.w[i] = c.cell[i] = 0;
  if (!check_count(c, p)) return false;
  word count = count_of(c, p);
  if (object == Py_None && !count) return true;
  if (!PyList_Check(object) && !PyTuple_Check(object))
    return raise_expected("a list or tuple", object);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (count > word(n)) return raise_short(n, count);
  auto* values = static_cast<word*>(c.memory.allocate_zeroed(std::size_t(count) * sizeof(word)));
  if (!values) return false;
  c.w[i] = reinterpret_cast<word>(values);
  c.cell[i] = count;
  for (word k = 0; k < count; ++k) {
    const attribute* a = type_of(c, p, members_of(c, p)[k]);
    PyObject* value = a ? list_element(object, Py_ssize_t(k)) : nullptr;
    if (!value) return a && raise_short(Py_ssize_t(k), count);
    if (!c.memory.keep(value)) return false;
    if (!option_to_word(c, *a, value, values[k])) return add_context("element %llu: ", k);
  }
  return true;
}

bool make_attribute_output(frame& c, int i, const param& p) {
  const attribute* a = type_of(c, p, std::int32_t(c.w[p.aux]));
  if (!a) return false;
  bool is_asked = p.size >= 0 && c.param_at(p.size).k != kind::attribute_size;
  c.w[i] = reinterpret_cast<word>(reserve(c, *a, is_asked ? c.value_of(p.size) : 0));
  if (p.size >= 0 && !is_asked) c.cell[p.size] = value_size(c.lib, *a);
  return c.w[i] != 0;
}

PyObject* attribute_result(frame& c, int i, const param& p) {
  const attribute* a = type_of(c, p, std::int32_t(c.w[p.aux]));
  word bytes = p.size >= 0 ? c.value_of(p.size) : 0;
  return a ? value_from_memory(c.lib, *a, reinterpret_cast<void*>(c.w[i]), bytes) : nullptr;
}

bool make_attribute_outputs(frame& c, int i, const param& p) {
  if (!check_count(c, p)) return false;
  word count = count_of(c, p);
  auto** pointers =
      static_cast<void**>(c.memory.allocate_zeroed(std::size_t(count) * sizeof(void*)));
  if (!pointers) return false;
  c.w[i] = reinterpret_cast<word>(pointers);
  auto* sizes = p.size >= 0 ? reinterpret_cast<const word*>(c.w[p.size]) : nullptr;
  if (p.size >= 0 && count > c.cell[p.size]) return raise_short(Py_ssize_t(c.cell[p.size]), count);
  for (word k = 0; k < count; ++k) {
    const attribute* a = type_of(c, p, members_of(c, p)[k]);
    if (!a || !(pointers[k] = reserve(c, *a, sizes ? sizes[k] : 0))) return false;
  }
  return true;
}

PyObject* attribute_results(frame& c, int i, const param& p) {
  auto** pointers = reinterpret_cast<void**>(c.w[i]);
  auto* sizes = p.size >= 0 ? reinterpret_cast<const word*>(c.w[p.size]) : nullptr;
  auto count = Py_ssize_t(count_of(c, p));
  PyObject* list = PyList_New(count);
  for (Py_ssize_t k = 0; list && k < count; ++k) {
    const attribute* a = type_of(c, p, members_of(c, p)[k]);
    PyObject* value = a ? value_from_memory(c.lib, *a, pointers[k], sizes ? sizes[k] : 0) : nullptr;
    if (value) {
      PyList_SET_ITEM(list, k, value);
    } else {
      Py_CLEAR(list);
    }
  }
  return list;
}

}  // namespace halfwarp::bindings
