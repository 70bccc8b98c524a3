// SPDX-License-Identifier: Apache-2.0
// The slow side of a call's scratch memory: heap blocks and exported buffers.
#include "bindings/memory/memory.hpp"

namespace halfwarp::bindings {

struct alignas(16) scratch::block {
  block* next;
};

struct scratch::exported {
  Py_buffer view;
  PyObject* kept;  // an object instead of a view
  exported* next;
};

namespace {

// Arrays in the order of Fortran are contiguous too, but have no buffer without shape and strides.
bool export_contiguous(PyObject* object, Py_buffer& view, bool writable) {
  int access = writable ? PyBUF_WRITABLE : PyBUF_SIMPLE;
  if (PyObject_GetBuffer(object, &view, access) == 0) return true;
  bool may_have_strides =
      PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_BufferError);
  if (!may_have_strides) return false;
  PyErr_Clear();
  return PyObject_GetBuffer(object, &view, access | PyBUF_ANY_CONTIGUOUS) == 0;
}

}  // namespace

// Zeroed by the system, so that a large block costs what of it is used. Python's own allocator
// clears all of it in builds without the interpreter lock.
void* scratch::allocate_block(std::size_t bytes) {
  bool is_possible = bytes <= std::size_t(PY_SSIZE_T_MAX) - sizeof(block);
  void* memory = is_possible ? PyMem_RawCalloc(1, sizeof(block) + bytes) : nullptr;
  if (!memory) return PyErr_Format(PyExc_MemoryError, "%zu bytes cannot be reserved", bytes);
  auto* made = static_cast<block*>(memory);
  made->next = blocks_;
  blocks_ = made;
  return made + 1;
}

const Py_buffer* scratch::view(PyObject* object, bool writable) {
  auto* made = static_cast<exported*>(allocate(sizeof(exported)));
  if (!made) return nullptr;
  if (!export_contiguous(object, made->view, writable)) return nullptr;
  made->kept = nullptr;
  made->next = views_;
  views_ = made;
  return &made->view;
}

bool scratch::keep(PyObject* object) {
  auto* made = static_cast<exported*>(allocate(sizeof(exported)));
  if (!made) {
    Py_DECREF(object);
    return false;
  }
  made->kept = object;
  made->next = views_;
  views_ = made;
  return true;
}

void scratch::release() {
  for (; views_; views_ = views_->next) {
    if (views_->kept) {
      Py_DECREF(views_->kept);
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

}  // namespace halfwarp::bindings
