// SPDX-License-Identifier: Apache-2.0
// Converts strings, lists of strings and buffers of the caller.
#include "bindings/converters/buffers.hpp"

#include <cstring>

#include "bindings/errors/errors.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/records/c_calls.hpp"

namespace halfwarp::bindings {
namespace {

const char* utf8_of(PyObject* text) {
  Py_ssize_t size;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (!utf8 || std::strlen(utf8) == std::size_t(size)) return utf8;
  return raise_error(PyExc_ValueError, "embedded null character");
}

// Copies an option: converting an element may change the list, and other threads may during the
// call.
const char* copy_option(PyObject* item, scratch& memory) {
  bool is_bytes = PyBytes_Check(item);
  if (!is_bytes && !PyUnicode_Check(item)) return raise_expected("str or bytes", item);
  const char* text = is_bytes ? PyBytes_AS_STRING(item) : utf8_of(item);
  if (is_bytes && !check_no_inner_nul(text, std::size_t(PyBytes_GET_SIZE(item)))) return nullptr;
  std::size_t size = text ? std::strlen(text) + 1 : 0;
  void* copy = text ? memory.allocate(size) : nullptr;
  return copy ? static_cast<const char*>(std::memcpy(copy, text, size)) : nullptr;
}

bool copy_options(frame& c, int i, PyObject* list) {
  Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  auto** texts = static_cast<const char**>(c.memory.allocate(std::size_t(n + 1) * sizeof(char*)));
  if (!texts) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    texts[k] = copy_option(PySequence_Fast_GET_ITEM(list, k), c.memory);
    if (!texts[k]) return add_context("element %zd: ", k);
  }
  texts[n] = nullptr;
  c.cell[i] = word(n);
  c.w[i] = reinterpret_cast<word>(texts);
  return true;
}

bool is_text(PyObject* object) {
  return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object);
}

// Checks the size of a buffer that the library fills without a size argument. Calls the size
// function with the same arguments except the buffer.
bool check_written_size(frame& c, int i) {
  if (c.f.size_function < 0 || c.cell[i] == no_length) return true;
  const function& sizes = c.lib.functions[std::size_t(c.f.size_function)];
  word arguments[max_parameters], needed = 0;
  int n = 0;
  for (int j = 0; j < c.f.n; ++j)
    if (j != i) arguments[n++] = c.w[j];
  arguments[n] = reinterpret_cast<word>(&needed);
  // on failure, the call itself reports the error
  if (int(call_c(c.lib, sizes, arguments)) != 0) return !PyErr_Occurred();
  if (needed <= c.cell[i]) return true;
  return raise_error(PyExc_ValueError,
                     "expected a buffer of %llu bytes, the size from %s(), got %llu", needed,
                     sizes.name.c_str(), c.cell[i]);
}

}  // namespace

bool name_argument(PyObject* object, word& out) {
  if (!PyUnicode_Check(object)) return raise_expected("str", object);
  const char* text = utf8_of(object);
  out = reinterpret_cast<word>(text);
  return text != nullptr;
}

bool options_argument(frame& c, int i, PyObject* object) {
  c.cell[i] = no_length;
  if (PyLong_Check(object)) return integer_slow(object, kind::u64, c.w[i]);
  if (is_text(object) || !PySequence_Check(object))
    return raise_expected("a sequence of str or bytes, or the address of an array of texts",
                          object);
  const reference list{PySequence_Tuple(object)};
  return list && copy_options(c, i, list);
}

bool buffer_argument(frame& c, int i, PyObject* object, bool writable) {
  c.cell[i] = no_length;
  if (PyLong_Check(object)) return address_argument(object, c.memory, c.w[i]);
  if (object == Py_None) return c.w[i] = 0, true;
  if (const Py_buffer* view = c.memory.view(object, writable)) {
    c.w[i] = reinterpret_cast<word>(view->buf);
    c.cell[i] = word(view->len);
    return true;
  }
  if (!no_such_buffer()) return false;
  if (PyIndex_Check(object)) return integer_slow(object, kind::u64, c.w[i]);
  return raise_error(PyExc_ValueError, "expected %s, an address or None, got %s",
                     writable ? "a contiguous writable buffer" : "a contiguous buffer",
                     Py_TYPE(object)->tp_name);
}

bool check_buffer_size(frame& c, int i, const param& p) {
  if (!p.has_aux()) return check_written_size(c, i);
  if (c.cell[i] == no_length || c.cell[i] == c.value_of(p.aux)) return true;
  return raise_error(PyExc_ValueError,
                     "expected a buffer of %llu bytes, the value of the size argument, got %llu",
                     c.value_of(p.aux), c.cell[i]);
}

bool check_options_count(frame& c, int i, const param& p) {
  if (!p.has_aux() || c.cell[i] == no_length) return true;
  word count = c.value_of(p.aux);
  if (count <= c.cell[i] || (c.param_at(p.aux).k == kind::i32 && std::int32_t(count) < 0))
    return true;  // the library rejects a negative count
  return raise_short(c.cell[i], count);
}

}  // namespace halfwarp::bindings
