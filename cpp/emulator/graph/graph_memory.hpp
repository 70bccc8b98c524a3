// SPDX-License-Identifier: Apache-2.0
// Memory that graphs allocate. The addresses are reserved with the allocation node; the memory is
// accessible between the allocation and the free.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/driver/driver.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// Device memory for the allocations of an executable graph, mapped from its first launch on.
class graph_mapping {
 public:
  // Returns null if the device is out of memory.
  static std::shared_ptr<graph_mapping> make(driver& d, device& home, std::uint64_t bytes);
  ~graph_mapping() { home_.graph_memory.mapped -= bytes_; }
  graph_mapping(const graph_mapping&) = delete;  // accounts for its bytes once
  graph_mapping& operator=(const graph_mapping&) = delete;

 private:
  graph_mapping(device& home, std::uint64_t bytes) noexcept : home_{home}, bytes_{bytes} {}

  device& home_;
  std::uint64_t bytes_;
};

// Frees the reserved memory of a device that no mapping uses.
void trim_graph_memory(driver& d, device& home);

// Guarded by the driver's lock.
class graph_memory {
 public:
  // `reserved` is the reservation of the addresses.
  graph_memory(driver& d, const memory::allocation& reserved,
               const CUDA_MEM_ALLOC_NODE_PARAMS_v2& params);
  ~graph_memory();
  graph_memory(const graph_memory&) = delete;  // owns the addresses
  graph_memory& operator=(const graph_memory&) = delete;

  memory::address base() const noexcept { return base_; }
  std::uint64_t bytes() const noexcept { return parameters_.bytesize; }
  bool is_on_device() const noexcept;
  device& home() const noexcept { return home_; }
  const CUDA_MEM_ALLOC_NODE_PARAMS_v2& parameters() const noexcept { return parameters_; }

  std::uint64_t allocated_in = 0, freed_in = 0;  // ids of graphs; 0: by none
  // Returns whether the memory outlives each launch that allocates it.
  bool outlives_launch() const noexcept { return freed_in != allocated_in; }
  bool was_mapped =
      false;  // by an upload or a launch; before, the address is unknown to the driver
  std::shared_ptr<graph_mapping> mapping;  // while it is unfreed after a launch

 private:
  driver& driver_;
  device& home_;
  memory::address base_;
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 parameters_;
  std::vector<CUmemAccessDesc> access_;
};

// Returns the memory of an earlier launch that neither a call nor a launch has freed, or null.
std::shared_ptr<graph_memory> find_unfreed(const driver& d, memory::address address);

// Return the operations of allocation and free nodes.
std::shared_ptr<operation> make_activation(std::shared_ptr<graph_memory> memory);
std::shared_ptr<operation> make_deactivation(std::shared_ptr<graph_memory> memory,
                                             std::string site);

}  // namespace halfwarp::emulator
