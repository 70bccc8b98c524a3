// SPDX-License-Identifier: Apache-2.0
// Lists and tuples to C arrays in the call's scratch memory.
#include "bindings/converters/conversions.hpp"

#include <cstring>

#include "bindings/memory/memory.hpp"
#include "bindings/objects/object_arguments.hpp"

namespace halfwarp::bindings {
namespace {

// Converts one element to a word, whose low `bytes` bytes go into the array.
struct element {
  bool (*convert)(frame& c, int type, PyObject* object, word& out);
  int bytes;            // 0: the size of the class
  bool copies = false;  // the word is the address of what goes into the array
  bool keeps = false;   // the word is an address of the element's own memory
};

template <kind K>
bool convert_integer(frame&, int, PyObject* object, word& out) {
  return integer_argument<K>(object, out);
}

bool convert_enum(frame&, int, PyObject* object, word& out) { return enum_argument(object, out); }

bool convert_handle(frame& c, int type, PyObject* object, word& out) {
  return handle_slow(object, c.lib, type, out, false);
}

bool convert_structure(frame& c, int type, PyObject* object, word& out) {
  return structure_argument(object, c.lib, type, false, out);
}

bool convert_text(frame& c, int, PyObject* object, word& out) {
  return text_argument(object, c.memory, out);
}
bool convert_address(frame& c, int, PyObject* object, word& out) {
  return address_argument(object, c.memory, out);
}

constexpr element elements[] = {
    {convert_integer<kind::i32>, 4},
    {convert_integer<kind::u32>, 4},
    {convert_integer<kind::u64>, 8},
    {convert_enum, 4},
    {convert_handle, 4},
    {convert_handle, 8},
    {convert_structure, 0, true},
    {convert_text, 8, false, true},
    {convert_address, 8},
};
static_assert(int(kind::list_address) - int(kind::list_i32) + 1 == std::size(elements));

bool name_element(Py_ssize_t index) { return add_context("element %zd: ", index); }

bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

bool convert_elements(frame& c, int type, PyObject* list, Py_ssize_t n, const element& e, int bytes,
                      char* array) {
  for (Py_ssize_t k = 0; k < n; ++k, array += bytes) {
    // converting may run Python code, which may change the list
    PyObject* item = list_item(list, k);
    if (!item) return false;
    word value;
    bool ok = e.convert(c, type, item, value);
    if (ok)
      std::memcpy(array, e.copies ? reinterpret_cast<void*>(value) : &value, std::size_t(bytes));
    if (e.keeps && ok) {
      ok = c.memory.keep(item);
    } else {
      Py_DECREF(item);
    }
    if (!ok) return name_element(k);
  }
  return true;
}

// One struct is passed in its own memory, so that the caller sees what the call writes.
bool convert_alone(frame& c, int type, PyObject* list, word& out) {
  reference item{list_item(list, 0)};
  if (!item) return false;
  if (convert_structure(c, type, item, out)) return c.memory.keep(item.release());
  return name_element(0);
}

bool is_number_list(kind k) { return k >= kind::list_i32 && k <= kind::list_u64; }

}  // namespace

bool list_argument(frame& c, int i, const param& p, PyObject* object) {
  c.w[i] = 0;
  c.cell[i] = 0;
  if (object == Py_None && !is_number_list(p.k)) return true;
  if (!is_list(object)) return raise_expected("a list or tuple", object);
  const element& e = elements[int(p.k) - int(kind::list_i32)];
  int bytes = e.bytes ? e.bytes : c.lib.classes[p.type].size;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  c.cell[i] = word(n);
  if (n == 1 && p.k == kind::list_structure) return convert_alone(c, p.type, object, c.w[i]);
  std::size_t slack = e.copies ? struct_slack : 0;  // what a call writes may be larger
  auto* array =
      static_cast<char*>(c.memory.allocate(std::size_t(n) * (std::size_t(bytes) + slack)));
  if (!array) return false;
  c.w[i] = n ? reinterpret_cast<word>(array) : 0;
  return convert_elements(c, p.type, object, n, e, bytes, array);
}

bool short_list_argument(frame& c, int i, const param& p, PyObject* object) {
  constexpr Py_ssize_t limit = 5;
  c.w[i] = 0;
  if (object == Py_None) return true;
  if (!is_list(object)) return raise_expected("a list or tuple", object);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  if (n > limit) {
    PyErr_Format(PyExc_ValueError, "expected at most %zd elements, got %zd", limit, n);
    return false;
  }
  int bytes = p.k == kind::short_list_handle32 ? 4 : 8;
  auto* array = static_cast<char*>(c.memory.allocate_zeroed(limit * 8));
  if (!array) return false;
  c.w[i] = reinterpret_cast<word>(array);
  return convert_elements(c, p.type, object, n, {convert_handle, bytes}, bytes, array);
}

bool check_list_length(frame& c, int i, const param& p) {
  if (p.aux < 0) return true;
  word count = c.value_of(p.aux), length = c.cell[i];
  if (c.param_at(p.aux).k == kind::i32 && std::int32_t(count) < 0)
    return true;  // the library's to judge
  if (count <= length || (p.is_optional && length == 0)) return true;
  PyErr_Format(PyExc_RuntimeError, "List is too small: %llu < %llu", length, count);
  return false;
}

}  // namespace halfwarp::bindings
