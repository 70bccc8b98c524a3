// SPDX-License-Identifier: Apache-2.0
// Memory that graphs allocate: addresses that are fixed when the node is made, and what is there
// between the turn of that node and the free.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/driver/driver.hpp"
#include "emulator/stream/operation.hpp"

namespace halfwarp::emulator {

// The memory of a device behind the allocations of an executable graph, from its first launch on.
class graph_mapping {
 public:
  // Null when the device has not so much left.
  static std::shared_ptr<graph_mapping> make(driver& d, device& on, std::uint64_t bytes);
  ~graph_mapping() { on_.graph_memory.mapped -= bytes_; }
  graph_mapping(const graph_mapping&) = delete;  // counts once
  graph_mapping& operator=(const graph_mapping&) = delete;

 private:
  graph_mapping(device& on, std::uint64_t bytes) noexcept : on_{on}, bytes_{bytes} {}

  device& on_;
  std::uint64_t bytes_;
};

// Gives back what the mappings on a device no longer need.
void trim_graph_memory(driver& d, device& on);

// Guarded by the driver's lock, except what says otherwise.
class graph_memory {
 public:
  // `made`: addresses that were reserved.
  graph_memory(driver& d, const memory::allocation& made, const CUDA_MEM_ALLOC_NODE_PARAMS_v2& as);
  ~graph_memory();
  graph_memory(const graph_memory&) = delete;  // owns the addresses
  graph_memory& operator=(const graph_memory&) = delete;

  memory::address base() const noexcept { return base_; }
  std::uint64_t bytes() const noexcept { return parameters_.bytesize; }
  bool is_on_device() const noexcept;
  device& home() const noexcept { return home_; }
  const CUDA_MEM_ALLOC_NODE_PARAMS_v2& parameters() const noexcept { return parameters_; }

  std::uint64_t allocated_in = 0, freed_in = 0;  // ids of graphs; 0: by none
  // Whether it outlives each launch that allocates it.
  bool is_left_behind() const noexcept { return freed_in != allocated_in; }
  bool was_mapped = false;  // by an upload or a launch; before, nothing is known of the address
  std::shared_ptr<graph_mapping> behind;  // while it is left behind

 private:
  driver& driver_;
  device& home_;
  memory::address base_;
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 parameters_;
  std::vector<CUmemAccessDesc> access_;
};

// What a launch left behind and nobody has freed yet, by a call or a later launch; null: other
// memory.
std::shared_ptr<graph_memory> find_unfreed(const driver& d, memory::address at);

// The turns of the nodes.
std::shared_ptr<operation> make_appearance(std::shared_ptr<graph_memory> what);
std::shared_ptr<operation> make_disappearance(std::shared_ptr<graph_memory> what, std::string site);

}  // namespace halfwarp::emulator
