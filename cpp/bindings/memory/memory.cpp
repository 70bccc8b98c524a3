// SPDX-License-Identifier: Apache-2.0
// Slow paths of a call's memory: heap blocks, exported buffers, addresses and texts.
#include "bindings/memory/memory.hpp"

#include <cstring>
#include <string_view>

#include "bindings/errors/errors.hpp"
#include "bindings/threads/shared_objects.hpp"

namespace halfwarp::bindings {

struct alignas(16) scratch::block {
  block* next;
};

struct scratch::exported {
  Py_buffer view;
  PyObject* object;  // a retained object; null: `view` is exported
  exported* next;
};

bool no_such_buffer() {
  bool is_refusal = PyErr_ExceptionMatches(PyExc_TypeError) ||
                    PyErr_ExceptionMatches(PyExc_BufferError) ||
                    PyErr_ExceptionMatches(PyExc_ValueError);
  if (is_refusal) PyErr_Clear();
  return is_refusal;
}

namespace {

// Exports a contiguous buffer. A Fortran-ordered array is contiguous too, but exports no buffer
// without shape and strides.
bool export_contiguous(PyObject* object, Py_buffer& view, bool writable) {
  int access = writable ? PyBUF_WRITABLE : PyBUF_SIMPLE;
  if (PyObject_GetBuffer(object, &view, access) == 0) return true;
  bool may_have_strides =
      PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_BufferError);
  if (!may_have_strides) return false;
  PyErr_Clear();
  return PyObject_GetBuffer(object, &view, access | PyBUF_ANY_CONTIGUOUS) == 0;
}

bool raise_no_address(PyObject* object) {
  return !PyErr_Occurred() && raise_expected("an address, a contiguous buffer or None", object);
}

// Whether an object is a float. NumPy floats have a buffer, but are no meaningful address.
bool is_float(PyObject* object) {
  PyNumberMethods* number = Py_TYPE(object)->tp_as_number;
  return number && number->nb_float && !converts_to_integer(object);
}

// Converts an object that is both a number and a buffer, such as a one-element array, as a number.
// Returns 1, 0 if it does not convert, or -1 with another error.
int number_before_buffer(PyObject* object, word& out) {
  if (is_float(object)) {
    raise_no_address(object);
    return failed;
  }
  if (!converts_to_integer(object)) return 0;
  if (integer_slow(object, kind::u64, out)) return 1;
  bool is_refusal =
      PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
  if (is_refusal) PyErr_Clear();
  return is_refusal ? 0 : failed;
}

}  // namespace

// Allocates pages that the system zeroes, so that unused parts of a large block cost nothing.
// Python's own allocator clears all of it in free-threaded builds.
void* scratch::allocate_block(std::size_t bytes) {
  bool is_possible = bytes <= std::size_t(PY_SSIZE_T_MAX) - sizeof(block);
  void* memory = is_possible ? PyMem_RawCalloc(1, sizeof(block) + bytes) : nullptr;
  if (!memory) return PyErr_Format(PyExc_MemoryError, "%zu bytes cannot be reserved", bytes);
  auto* header = static_cast<block*>(memory);
  header->next = blocks_;
  blocks_ = header;
  return header + 1;
}

const Py_buffer* scratch::view(PyObject* object, bool writable) {
  auto* entry = static_cast<exported*>(allocate(sizeof(exported)));
  if (!entry) return nullptr;
  if (!export_contiguous(object, entry->view, writable)) return nullptr;
  entry->object = nullptr;
  entry->next = views_;
  views_ = entry;
  return &entry->view;
}

bool scratch::retain(PyObject* object) {
  auto* entry = static_cast<exported*>(allocate(sizeof(exported)));
  if (!entry) {
    Py_DECREF(object);
    return false;
  }
  entry->object = object;
  entry->next = views_;
  views_ = entry;
  return true;
}

void scratch::release() {
  for (; views_; views_ = views_->next) {
    if (views_->object) {
      Py_DECREF(views_->object);
    } else {
      PyBuffer_Release(&views_->view);
    }
  }
  while (blocks_) {
    block* next = blocks_->next;
    PyMem_RawFree(blocks_);
    blocks_ = next;
  }
}

bool address_slow(PyObject* object, scratch& memory, word& out) {
  if (object == Py_None) return out = 0, true;
  if (PyLong_Check(object) || (converts_to_integer(object) && !PyObject_CheckBuffer(object)))
    return integer_slow(object, kind::u64, out);
  if (int status = number_before_buffer(object, out)) return status != failed;
  if (const Py_buffer* view = memory.view(object))
    return out = reinterpret_cast<word>(view->buf), true;
  no_such_buffer();
  return raise_no_address(object);
}

PyObject* exported_view(PyObject* object) {
  PyObject* view = PyMemoryView_FromObject(object);
  if (!view) {
    no_such_buffer();
  } else if (!PyBuffer_IsContiguous(PyMemoryView_GET_BUFFER(view), 'A')) {
    Py_CLEAR(view);
  }
  return view;
}

bool retained_address(PyObject* object, scratch& memory, word& out, PyObject*& owner) {
  if (PyLong_Check(object) || !PyObject_CheckBuffer(object))
    return address_argument(object, memory, out);
  if (int status = number_before_buffer(object, out)) return status != failed;
  owner = exported_view(object);
  if (!owner) return raise_no_address(object);
  out = reinterpret_cast<word>(PyMemoryView_GET_BUFFER(owner)->buf);
  return true;
}

PyObject* list_item(PyObject* list, Py_ssize_t index) {
  if (PyObject* item = list_element(list, index)) return item;
  return raise_error(PyExc_RuntimeError, "the list changed its length during the call");
}

bool check_no_inner_nul(const char* text, std::size_t size) {
  const std::size_t length = std::strlen(text);
  if (length == size) [[likely]]
    return true;
  const std::string_view remaining{text + length, size - length};
  if (remaining.find_first_not_of('\0') == remaining.npos) return true;
  return raise_error(PyExc_ValueError, "the text has a NUL at byte %zu, where C would truncate it",
                     length);
}

bool text_slow(PyObject* object, scratch& memory, word& out) {
  if (!PyByteArray_Check(object)) return raise_expected("bytes", object);
  const Py_buffer* view = memory.view(object);  // an exported bytearray cannot be resized
  if (!view) return false;
  out = reinterpret_cast<word>(PyByteArray_AS_STRING(object));
  return check_no_inner_nul(PyByteArray_AS_STRING(object), std::size_t(view->len));
}

bool text_output_argument(PyObject* object, scratch& memory, word& out, word& size) {
  if (PyBytes_Check(object)) {
    size = word(PyBytes_GET_SIZE(object));
    // CPython shares bytes objects of length 0 and 1: writing would change all of them
    void* shared = size <= 1 ? memory.allocate_zeroed(16) : PyBytes_AS_STRING(object);
    out = reinterpret_cast<word>(shared);
    return shared != nullptr;
  }
  if (const Py_buffer* view = memory.view(object, true)) {
    out = reinterpret_cast<word>(view->buf);
    size = word(view->len);
    return true;
  }
  if (!no_such_buffer()) return false;
  return raise_expected("bytes or a writable buffer", object);
}

bool raw_pointer_slow(PyObject* object, word& out) {
  if (!PyLong_Check(object)) return raise_expected("an integer (0 for none)", object);
  return integer_slow(object, kind::u64, out);
}

bool color_argument(PyObject* object, scratch& memory, word& out) {
  auto* channels = static_cast<float*>(memory.allocate_zeroed(4 * sizeof(float)));
  if (!channels) return false;
  out = reinterpret_cast<word>(channels);
  bool is_sequence = PyList_Check(object) || PyTuple_Check(object);
  Py_ssize_t n = is_sequence ? PySequence_Fast_GET_SIZE(object) : 1;
  if (n > 4) return raise_error(PyExc_ValueError, "expected at most 4 channels, got %zd", n);
  for (Py_ssize_t i = 0; i < n; ++i) {
    word value;
    const reference item{is_sequence ? list_item(object, i) : Py_NewRef(object)};
    bool ok = item && float_argument(item, kind::f32, value);
    if (!ok) return false;
    std::memcpy(&channels[i], &value, sizeof(float));
  }
  return true;
}

}  // namespace halfwarp::bindings
