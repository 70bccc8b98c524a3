// SPDX-License-Identifier: Apache-2.0
// Physical memory without an address and address ranges without memory, as cuMemCreate and
// cuMemAddressReserve create them; cuMemMap maps the memory into the range.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "emulator/memory/address_space.hpp"
#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

// The memory, in a file that other processes can open. Charged to its device while a handle or
// mapping of this process refers to it.
class memory_file {
 public:
  // Takes ownership of `file`. `charged`: whether the destructor returns the charge of the device.
  memory_file(memory::address_space& space, int file, std::uint64_t size,
              const CUmemAllocationProp& properties, bool charged) noexcept
      : space_{space}, properties_{properties}, size_{size}, file_{file}, is_charged_{charged} {}
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

// Creates memory; returns null if the device has not enough.
std::shared_ptr<memory_file> make_memory_file(memory::address_space& space, std::uint64_t size,
                                              const CUmemAllocationProp& properties);
// Opens an exported descriptor of this or another process; returns null if it is not one.
std::shared_ptr<memory_file> open_memory_file(memory::address_space& space, int file);

// The classes below are guarded by the driver's lock.
class physical_memory : public object {
 public:
  static constexpr object_kind kind_of = object_kind::physical_memory;
  explicit physical_memory(std::shared_ptr<memory_file> file, bool is_imported = false)
      : object{kind_of}, content{std::move(file)}, is_import{is_imported} {}

  const std::shared_ptr<memory_file> content;
  const bool is_import;  // from cuMemImportFromShareableHandle
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
