// SPDX-License-Identifier: Apache-2.0
// Memory and buffer views of one call, and the addresses, buffers and texts that become its words.
#pragma once

#include <cstddef>
#include <cstring>

#include "bindings/numbers/numbers.hpp"

namespace halfwarp::bindings {

class scratch {
 public:
  scratch() = default;
  scratch(const scratch&) = delete;  // hands out addresses of itself
  ~scratch() {
    if (views_ || blocks_) [[unlikely]]
      release();
  }

  // Aligned for any C type; nullptr with MemoryError set when there is no more.
  void* allocate(std::size_t bytes) {
    std::size_t rounded = (bytes + 15) & ~std::size_t{15};
    if (rounded <= capacity - used_ && rounded >= bytes) [[likely]] {
      void* memory = inline_ + used_;
      used_ += rounded;
      return memory;
    }
    return allocate_block(bytes);
  }
  // Zeroed but for `slack` bytes behind.
  void* allocate_zeroed(std::size_t bytes, std::size_t slack = 0) {
    const block* former = blocks_;
    void* memory = allocate(bytes + slack);
    if (memory && blocks_ == former) [[likely]] {
      std::memset(memory, 0, at_once);  // what lies behind is not in use yet
      if (bytes > at_once)
        std::memset(static_cast<std::byte*>(memory) + at_once, 0, bytes - at_once);
    }
    return memory;
  }

  // The bytes of an object's contiguous buffer, exported until the call ends; nullptr when it has
  // none (the Python error is left set). `writable` asks for memory that may be written.
  const Py_buffer* view(PyObject* object, bool writable = false);

  // Holds an object until the call ends, since the call uses its memory; steals the reference.
  // False with MemoryError set.
  bool retain(PyObject* object);

 private:
  struct block;
  struct exported;
  void* allocate_block(std::size_t bytes);  // zeroed, and the first of `blocks_`
  void release();

  std::size_t used_ = 0;
  block* blocks_ = nullptr;
  exported* views_ = nullptr;
  // Holds the largest struct that a text comes out of (2052 bytes), with slack.
  static constexpr std::size_t capacity = 2304;
  // Zeroed without a look at the length, which would take a call.
  static constexpr std::size_t at_once = 64;
  alignas(16) std::byte inline_[capacity + at_once];
};

bool address_slow(PyObject* object, scratch& memory, word& out);
// The same for what is kept after the call: `owner` becomes a view that keeps the memory exported
// (a new reference), nullptr when there is nothing to keep. An object is asked for its buffer once,
// since it may show other memory the next time.
bool retained_address(PyObject* object, scratch& memory, word& out, PyObject*& owner);
// A contiguous view of an object's buffer (a new reference); nullptr when it has none, without an
// error but for those of other kinds.
PyObject* exported_view(PyObject* object);
// After `scratch::view` failed: clears what says that the object has no (contiguous, writable)
// buffer; false for any other error, which stays.
bool no_such_buffer();

// An element of a list or tuple, as a new reference; nullptr with RuntimeError when converting the
// elements before it has run code that made the list shorter.
PyObject* list_item(PyObject* list, Py_ssize_t index);

bool text_slow(PyObject* object, scratch& memory, word& out);
bool raw_pointer_slow(PyObject* object, word& out);
// float[4] of one number or a sequence of up to four; what is missing is 0.
bool color_argument(PyObject* object, scratch& memory, word& out);

inline bool address_argument(PyObject* object, scratch& memory, word& out) {
  if (PyLong_Check(object) && (digit_value(object, out) || two_digit_value(object, out))) [[likely]]
    return true;
  return address_slow(object, memory, out);
}

inline bool raw_pointer_argument(PyObject* object, word& out) {
  return (PyLong_Check(object) && digit_value(object, out)) || raw_pointer_slow(object, out);
}

inline bool text_argument(PyObject* object, scratch& memory, word& out) {
  if (PyBytes_Check(object)) [[likely]] {
    out = reinterpret_cast<word>(PyBytes_AS_STRING(object));
    return true;
  }
  return text_slow(object, memory, out);
}

// Memory that the call writes: bytes (in place, as existing code does it) or a writable buffer.
// `size` becomes its length.
bool text_output_argument(PyObject* object, scratch& memory, word& out, word& size);

}  // namespace halfwarp::bindings
