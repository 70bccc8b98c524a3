// SPDX-License-Identifier: Apache-2.0
// Memory without an address, and addresses without memory: what cuMemCreate and
// cuMemAddressReserve make, until cuMemMap brings them together.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "emulator/memory/address_space.hpp"
#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

// The bytes, in a file that other processes can be given. Counted for its device as long as a
// handle or a mapping of this process has it.
class memory_file {
 public:
  // Takes `file` over. `charged`: whether to give the bytes back to the device's account.
  memory_file(memory::address_space& space, int file, std::uint64_t size,
              const CUmemAllocationProp& made_with, bool charged) noexcept
      : space_{space}, properties_{made_with}, size_{size}, file_{file}, is_charged_{charged} {}
  ~memory_file();
  memory_file(const memory_file&) = delete;  // owns a descriptor
  memory_file& operator=(const memory_file&) = delete;

  int file() const noexcept { return file_; }
  std::uint64_t size() const noexcept { return size_; }
  const CUmemAllocationProp& properties() const noexcept { return properties_; }
  const CUmemLocation& location() const noexcept { return properties_.location; }
  bool is_on_device() const noexcept { return location().type == CU_MEM_LOCATION_TYPE_DEVICE; }

 private:
  memory::address_space& space_;
  CUmemAllocationProp properties_;
  std::uint64_t size_;
  int file_;
  bool is_charged_;
};

// New memory; null when the device has not that much.
std::shared_ptr<memory_file> make_memory_file(memory::address_space& space, std::uint64_t size,
                                              const CUmemAllocationProp& properties);
// Memory of a descriptor that this or another process exported; null when it is none.
std::shared_ptr<memory_file> open_memory_file(memory::address_space& space, int file);

// Guarded by the driver's lock, as what follows.
class physical_memory : public object {
 public:
  static constexpr object_kind kind_of = object_kind::physical_memory;
  explicit physical_memory(std::shared_ptr<memory_file> of)
      : object{kind_of}, content{std::move(of)} {}

  const std::shared_ptr<memory_file> content;
  std::uint64_t references = 1;
};

class address_reservation : public object {
 public:
  static constexpr object_kind kind_of = object_kind::address_reservation;
  address_reservation(memory::address at, std::uint64_t bytes)
      : object{kind_of}, base{at}, size{bytes} {}

  const memory::address base;
  const std::uint64_t size;
};

}  // namespace halfwarp::emulator
