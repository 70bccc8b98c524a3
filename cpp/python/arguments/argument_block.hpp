// SPDX-License-Identifier: Apache-2.0
// Memory for the arguments of one launch while the driver reads them.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace halfwarp::python {

// Holds any scalar; larger values are stored elsewhere. Each argument has its own cell, so that one
// can be replaced in a prepared launch without moving its neighbors.
struct alignas(16) argument_cell {
  std::byte bytes[16];

  template <class Value>
  void store(Value value) noexcept {
    static_assert(sizeof(Value) <= sizeof(bytes));
    std::memcpy(bytes, &value, sizeof(Value));
  }
};

// The driver's `void**` array, the cells that it points to, and storage for large values. Derived
// classes own the memory of pointers and cells.
class argument_block {
 public:
  argument_block(const argument_block&) = delete;  // the pointers refer to the object itself
  argument_block& operator=(const argument_block&) = delete;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] void** pointers() noexcept { return pointers_; }

  // Returns whether Python code may have run while the arguments were packed.
  [[nodiscard]] bool ran_python() const noexcept { return ran_python_; }
  void set_ran_python() noexcept { ran_python_ = true; }

  // A cell per argument, for values of at most 16 bytes; pointers() refers to the used cells.
  [[nodiscard]] argument_cell* cells() noexcept { return cells_; }

  // Returns the cell of an argument of at most 16 bytes, and points to it.
  [[nodiscard]] argument_cell& cell(std::size_t index) noexcept {
    pointers_[index] = &cells_[index];
    return cells_[index];
  }

  // Returns `size` bytes with the alignment of a tensor map, or null if out of memory.
  [[nodiscard]] std::byte* reserve(std::size_t index, std::size_t size) noexcept {
    if (size <= sizeof(argument_cell)) return cell(index).bytes;
    std::byte* const memory = reserve_large(index, size);
    if (memory != nullptr) pointers_[index] = memory;
    return memory;
  }

  // Reuses the previous allocation of a large value if the new one fits, else frees it, so that
  // repeated replacement does not leak.
  [[nodiscard]] std::byte* replace(std::size_t index, std::size_t size) noexcept {
    if (size <= sizeof(argument_cell)) return cell(index).bytes;
    large_value** link = &large_;
    while (*link != nullptr && (*link)->index != index) link = &(*link)->next;
    if (*link == nullptr) return reserve(index, size);
    if (size > (*link)->size) {
      large_value* const larger = make_large(index, size);
      if (larger == nullptr) return nullptr;
      larger->next = (*link)->next;
      ::operator delete(std::exchange(*link, larger), std::align_val_t{large_alignment});
    }
    pointers_[index] = (*link)->bytes();
    return (*link)->bytes();
  }

 protected:
  static constexpr std::size_t large_alignment = 64;

  argument_block() noexcept = default;
  ~argument_block() {
    if (memory_ != nullptr) [[unlikely]]
      ::operator delete(memory_, std::align_val_t{alignof(argument_cell)});
    while (large_ != nullptr) {
      large_value* const next = large_->next;
      ::operator delete(large_, std::align_val_t{large_alignment});
      large_ = next;
    }
  }

  void use(std::size_t count, void** pointers, argument_cell* cells, std::byte* storage,
           std::size_t storage_size) noexcept {
    count_ = count;
    pointers_ = pointers;
    cells_ = cells;
    storage_ = storage;
    storage_size_ = storage_size;
  }

  [[nodiscard]] bool use_heap(std::size_t count, std::byte* storage,
                              std::size_t storage_size) noexcept {
    memory_ = ::operator new(count * (sizeof(argument_cell) + sizeof(void*)),
                             std::align_val_t{alignof(argument_cell)}, std::nothrow);
    if (memory_ == nullptr) return false;
    auto* const cells = static_cast<argument_cell*>(memory_);
    use(count, reinterpret_cast<void**>(cells + count), cells, storage, storage_size);
    return true;
  }

 private:
  struct alignas(large_alignment) large_value {
    large_value* next;
    std::size_t index;
    std::size_t size;
    std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  };

  static large_value* make_large(std::size_t index, std::size_t size) noexcept {
    void* const memory =
        ::operator new(sizeof(large_value) + size, std::align_val_t{large_alignment}, std::nothrow);
    return memory == nullptr ? nullptr : new (memory) large_value{nullptr, index, size};
  }

  std::byte* reserve_large(std::size_t index, std::size_t size) noexcept {
    const std::size_t padded = (size + large_alignment - 1) & ~(large_alignment - 1);
    if (padded <= storage_size_) {
      std::byte* const memory = storage_;
      storage_ += padded;
      storage_size_ -= padded;
      return memory;
    }
    large_value* const value = make_large(index, padded);
    if (value == nullptr) return nullptr;
    value->next = large_;
    large_ = value;
    return value->bytes();
  }

  std::size_t count_ = 0;
  void** pointers_ = nullptr;
  argument_cell* cells_ = nullptr;
  std::byte* storage_ = nullptr;
  std::size_t storage_size_ = 0;
  void* memory_ = nullptr;
  large_value* large_ = nullptr;
  bool ran_python_ = false;
};

// Arguments on the stack, for the time of a call. Only very many or very large values use the heap.
// Intentionally uninitialized: a launch writes only what it uses.
class call_arguments : public argument_block {
 public:
  call_arguments() noexcept = default;

  // Returns false if out of memory.
  [[nodiscard]] bool prepare(std::size_t count) noexcept {
    if (count > inline_count) [[unlikely]] {
      return use_heap(count, storage_, sizeof(storage_));
    }
    use(count, pointers_, cells_, storage_, sizeof(storage_));
    return true;
  }

 private:
  static constexpr std::size_t inline_count = 128;

  void* pointers_[inline_count];
  argument_cell cells_[inline_count];
  alignas(large_alignment) std::byte storage_[1024];
};

// Arguments on the heap, sized to their count.
class owned_arguments : public argument_block {
 public:
  owned_arguments() noexcept = default;

  [[nodiscard]] bool prepare(std::size_t count) noexcept { return use_heap(count, nullptr, 0); }
};

}  // namespace halfwarp::python
