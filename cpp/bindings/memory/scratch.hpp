// SPDX-License-Identifier: Apache-2.0
// Memory and buffer views of one call: on the stack first, the heap beyond; released together.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstring>

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
  bool keep(PyObject* object);

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

}  // namespace halfwarp::bindings
