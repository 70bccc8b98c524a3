// SPDX-License-Identifier: Apache-2.0
// Maps, activates and deactivates graph memory.
#include "emulator/graph/graph_memory.hpp"

#include <algorithm>
#include <utility>

#include "emulator/stream/schedule/hazards.hpp"
#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {
namespace {

constexpr std::uint64_t piece_bytes = 32 << 20;  // granularity of device reservations

std::uint64_t round_to_pieces(std::uint64_t bytes) {
  return (bytes + piece_bytes - 1) / piece_bytes * piece_bytes;
}

class activation final : public operation {
 public:
  explicit activation(std::shared_ptr<graph_memory> memory)
      : memory_{std::move(memory)}, is_internal_{!memory_->outlives_launch()} {}
  failure execute(stream& target) override {
    the_driver().memory.activate(memory_->base(), is_internal_, target.number());
    return {};
  }
  std::string title() const override { return "an allocation node"; }
  std::vector<byte_range> ranges() const override {
    return {{memory_->base(), memory_->bytes(), byte_use::allocate}};
  }

 private:
  std::shared_ptr<graph_memory> memory_;
  bool is_internal_;  // the program must free other memory
};

class deactivation final : public operation {
 public:
  deactivation(std::shared_ptr<graph_memory> memory, std::string site)
      : memory_{std::move(memory)}, site_{std::move(site)} {}
  failure execute(stream& target) override {
    the_driver().memory.deactivate(memory_->base(), {target.number(), site_});
    return {};
  }
  void drop() noexcept override { the_driver().memory.deactivate(memory_->base(), {}); }
  bool releases_memory() const noexcept override { return true; }
  std::string title() const override { return "a free of graph memory"; }
  std::vector<byte_range> ranges() const override {
    return {{memory_->base(), memory_->bytes(), byte_use::release}};
  }

 private:
  std::shared_ptr<graph_memory> memory_;
  std::string site_;
};

device& device_of(driver& d, const memory::allocation& allocation) {
  return *d.devices[static_cast<std::size_t>(allocation.device)];
}

}  // namespace

std::shared_ptr<graph_mapping> graph_mapping::make(driver& d, device& home, std::uint64_t bytes) {
  auto& usage = home.graph_memory;
  const auto pieces = round_to_pieces(bytes);
  if (usage.mapped + pieces > usage.cached) {
    if (!d.memory.charge(home.ordinal(), usage.mapped + pieces - usage.cached)) return nullptr;
    usage.cached = usage.mapped + pieces;
  }
  usage.mapped += pieces;
  usage.used_high = std::max(usage.used_high, usage.cached);
  usage.reserved_high = std::max(usage.reserved_high, usage.cached);
  return std::shared_ptr<graph_mapping>{new graph_mapping{home, pieces}};
}

void trim_graph_memory(driver& d, device& home) {
  auto& usage = home.graph_memory;
  d.memory.discharge(home.ordinal(), usage.cached - usage.mapped);
  usage.cached = usage.mapped;
}

graph_memory::graph_memory(driver& d, const memory::allocation& reserved,
                           const CUDA_MEM_ALLOC_NODE_PARAMS_v2& params)
    : driver_{d}, home_{device_of(d, reserved)}, base_{reserved.base}, parameters_{params} {
  access_.assign(params.accessDescs, params.accessDescs + params.accessDescCount);
  parameters_.accessDescs = access_.empty() ? nullptr : access_.data();
  parameters_.dptr = base_;
  for (const auto& each : access_) {
    driver_.memory.set_access(base_, each.location.id,
                              each.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  }
}

graph_memory::~graph_memory() {
  if (auto* const hazards = driver_.streams.hazards()) hazards->forget(base_);
  driver_.graph_memories.erase(base_);
  driver_.memory.unreserve(base_);
}

bool graph_memory::is_on_device() const noexcept {
  return parameters_.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
         parameters_.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED;
}

std::shared_ptr<graph_memory> find_unfreed(const driver& d, memory::address address) {
  const auto match = d.graph_memories.find(address);
  if (match == d.graph_memories.end()) return nullptr;
  auto memory = match->second.lock();
  return memory && d.unfreed.contains(memory) ? memory : nullptr;
}

std::shared_ptr<operation> make_activation(std::shared_ptr<graph_memory> memory) {
  return std::make_shared<activation>(std::move(memory));
}

std::shared_ptr<operation> make_deactivation(std::shared_ptr<graph_memory> memory,
                                             std::string site) {
  return std::make_shared<deactivation>(std::move(memory), std::move(site));
}

}  // namespace halfwarp::emulator
