// SPDX-License-Identifier: Apache-2.0
// Memory and buffer views of one call; conversion of addresses, buffers and texts to words.
#pragma once

#include <cstddef>
#include <cstring>

#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {

class scratch {
 public:
  scratch() = default;
  scratch(const scratch&) = delete;  // returns addresses of itself
  ~scratch() {
    if (views_ || blocks_) [[unlikely]]
      release();
  }

  // Allocates memory aligned for any C type; nullptr with MemoryError set.
  void* allocate(std::size_t bytes) {
    std::size_t rounded = (bytes + 15) & ~std::size_t{15};
    if (rounded <= capacity - used_ && rounded >= bytes) [[likely]] {
      void* memory = inline_ + used_;
      used_ += rounded;
      return memory;
    }
    return allocate_block(bytes);
  }
  // Allocates zeroed memory; `slack` more bytes after it are not zeroed.
  void* allocate_zeroed(std::size_t bytes, std::size_t slack = 0) {
    const block* former = blocks_;
    void* memory = allocate(bytes + slack);
    if (memory && blocks_ == former) [[likely]] {
      std::memset(memory, 0, at_once);  // the bytes after it are not in use yet
      if (bytes > at_once)
        std::memset(static_cast<std::byte*>(memory) + at_once, 0, bytes - at_once);
    }
    return memory;
  }

  // Exports the contiguous buffer of an object until the call ends; nullptr with an error set if it
  // has none. `writable` requests writable memory.
  const Py_buffer* view(PyObject* object, bool writable = false);

  // Retains an object until the call ends, since the call uses its memory; steals the reference.
  // Returns false with MemoryError set.
  bool retain(PyObject* object);

 private:
  struct block;
  struct exported;
  void* allocate_block(std::size_t bytes);  // zeroed, and the first of `blocks_`
  void release();

  std::size_t used_ = 0;
  block* blocks_ = nullptr;
  exported* views_ = nullptr;
  // Fits the largest struct that a text is read from (2052 bytes), with slack.
  static constexpr std::size_t capacity = 2304;
  // Number of bytes zeroed without checking the length, which would need a function call.
  static constexpr std::size_t at_once = 64;
  alignas(16) std::byte inline_[capacity + at_once];
};

bool address_slow(PyObject* object, scratch& memory, word& out);
// Converts an address that is used after the call. `owner` receives a view that keeps the memory
// exported (a new reference), or nullptr. Exports the buffer once, since a second export may return
// other memory.
bool retained_address(PyObject* object, scratch& memory, word& out, PyObject*& owner);
// Returns a contiguous view of an object's buffer (a new reference); nullptr if it has none. Sets
// an error only for other failures.
PyObject* exported_view(PyObject* object);
// Call when `scratch::view` failed: clears the error if the object has no (contiguous, writable)
// buffer. Returns false and keeps any other error.
bool no_such_buffer();

// Returns an element of a list or tuple, a new reference. Raises RuntimeError if converting an
// earlier element ran code that shortened the list.
PyObject* list_item(PyObject* list, Py_ssize_t index);

bool text_slow(PyObject* object, scratch& memory, word& out);
bool raw_pointer_slow(PyObject* object, word& out);
// Converts one number or a sequence of up to four to float[4]; missing channels are 0.
bool color_argument(PyObject* object, scratch& memory, word& out);

inline bool address_argument(PyObject* object, scratch& memory, word& out) {
  if (PyLong_Check(object) && (digit_value(object, out) || two_digit_value(object, out))) [[likely]]
    return true;
  return address_slow(object, memory, out);
}

inline bool raw_pointer_argument(PyObject* object, word& out) {
  return (PyLong_Check(object) && digit_value(object, out)) || raw_pointer_slow(object, out);
}

// Checks that C reads the whole text of `size` bytes: only NULs may follow the first NUL.
bool check_no_inner_nul(const char* text, std::size_t size);

inline bool text_argument(PyObject* object, scratch& memory, word& out) {
  if (PyBytes_Check(object)) [[likely]] {
    const char* text = PyBytes_AS_STRING(object);
    out = reinterpret_cast<word>(text);
    return check_no_inner_nul(text, std::size_t(PyBytes_GET_SIZE(object)));
  }
  return text_slow(object, memory, out);
}

// Converts memory that the call writes: a writable buffer, or bytes, which existing code passes.
// `size` receives its length.
bool text_output_argument(PyObject* object, scratch& memory, word& out, word& size);

}  // namespace halfwarp::bindings
