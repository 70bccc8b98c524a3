// SPDX-License-Identifier: Apache-2.0
// Where the arguments of one launch lie while the driver reads them.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

namespace halfwarp::python {

// Holds any scalar; larger values lie elsewhere. Sixteen bytes for each argument, so that one can
// be replaced in a prepared launch without moving its neighbours.
struct alignas(16) argument_cell {
  std::byte bytes[16];

  template <class Value>
  void store(Value value) noexcept {
    static_assert(sizeof(Value) <= sizeof(bytes));
    std::memcpy(bytes, &value, sizeof(Value));
  }
};

// The `void**` array that the driver takes, the cells that it points to, and room for large values.
// Storage of pointers and cells belongs to the derived class.
class argument_block {
 public:
  argument_block(const argument_block&) = delete;  // the pointers refer to the object itself
  argument_block& operator=(const argument_block&) = delete;

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] void** pointers() noexcept { return pointers_; }

  // Whether code of Python may have run while the arguments were packed.
  [[nodiscard]] bool ran_python() const noexcept { return ran_python_; }
  void note_python() noexcept { ran_python_ = true; }

  // As many as arguments: where a value of at most 16 bytes lies, once a pointer says so.
  [[nodiscard]] argument_cell* cells() noexcept { return cells_; }

  // The cell of an argument of at most 16 bytes.
  [[nodiscard]] argument_cell& cell(std::size_t index) noexcept {
    pointers_[index] = &cells_[index];
    return cells_[index];
  }

  // Room for `size` bytes, aligned as a tensor map must be; null when there is no memory.
  [[nodiscard]] std::byte* reserve(std::size_t index, std::size_t size) noexcept {
    if (size <= sizeof(argument_cell)) return cell(index).bytes;
    std::byte* const place = reserve_large(index, size);
    if (place != nullptr) pointers_[index] = place;
    return place;
  }

  // The same for an argument that has a value already: a large one takes the room of the one before
  // where it fits, else that is freed, so that a prepared launch does not grow.
  [[nodiscard]] std::byte* replace(std::size_t index, std::size_t size) noexcept {
    if (size <= sizeof(argument_cell)) return cell(index).bytes;
    large_value** before = &large_;
    while (*before != nullptr && (*before)->index != index) before = &(*before)->next;
    if (*before == nullptr) return reserve(index, size);
    if (size > (*before)->size) {
      large_value* const larger = make_large(index, size);
      if (larger == nullptr) return nullptr;
      larger->next = (*before)->next;
      ::operator delete(std::exchange(*before, larger), std::align_val_t{large_alignment});
    }
    pointers_[index] = (*before)->bytes();
    return (*before)->bytes();
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

  void use(std::size_t count, void** pointers, argument_cell* cells, std::byte* room,
           std::size_t room_size) noexcept {
    count_ = count;
    pointers_ = pointers;
    cells_ = cells;
    room_ = room;
    room_size_ = room_size;
  }

  [[nodiscard]] bool use_heap(std::size_t count, std::byte* room, std::size_t room_size) noexcept {
    memory_ = ::operator new(count * (sizeof(argument_cell) + sizeof(void*)),
                             std::align_val_t{alignof(argument_cell)}, std::nothrow);
    if (memory_ == nullptr) return false;
    auto* const cells = static_cast<argument_cell*>(memory_);
    use(count, reinterpret_cast<void**>(cells + count), cells, room, room_size);
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
    if (padded <= room_size_) {
      std::byte* const place = room_;
      room_ += padded;
      room_size_ -= padded;
      return place;
    }
    large_value* const made = make_large(index, padded);
    if (made == nullptr) return nullptr;
    made->next = large_;
    large_ = made;
    return made->bytes();
  }

  std::size_t count_ = 0;
  void** pointers_ = nullptr;
  argument_cell* cells_ = nullptr;
  std::byte* room_ = nullptr;
  std::size_t room_size_ = 0;
  void* memory_ = nullptr;
  large_value* large_ = nullptr;
  bool ran_python_ = false;
};

// For the time of a call, on the stack; the heap is asked for very many or very large values only.
// Left uninitialised on purpose: a launch touches what it uses.
class call_arguments : public argument_block {
 public:
  call_arguments() noexcept = default;

  // False when there is no memory.
  [[nodiscard]] bool prepare(std::size_t count) noexcept {
    if (count > inline_count) [[unlikely]] {
      return use_heap(count, room_, sizeof(room_));
    }
    use(count, pointers_, cells_, room_, sizeof(room_));
    return true;
  }

 private:
  static constexpr std::size_t inline_count = 128;

  void* pointers_[inline_count];
  argument_cell cells_[inline_count];
  alignas(large_alignment) std::byte room_[1024];
};

// For as long as the object lives, sized to what it holds.
class kept_arguments : public argument_block {
 public:
  kept_arguments() noexcept = default;

  [[nodiscard]] bool prepare(std::size_t count) noexcept { return use_heap(count, nullptr, 0); }
};

}  // namespace halfwarp::python
