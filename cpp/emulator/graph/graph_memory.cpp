// SPDX-License-Identifier: Apache-2.0
// Reserving, mapping, appearing, vanishing.
#include "emulator/graph/graph_memory.hpp"

#include <algorithm>
#include <utility>

#include "emulator/stream/stream.hpp"

namespace halfwarp::emulator {
namespace {

constexpr std::uint64_t piece = 32 << 20;  // what a device keeps for graphs at once

std::uint64_t whole_pieces(std::uint64_t bytes) { return (bytes + piece - 1) / piece * piece; }

class appearance final : public operation {
 public:
  explicit appearance(std::shared_ptr<graph_memory> what)
      : what_{std::move(what)}, is_internal_{!what_->is_left_behind()} {}
  failure execute(stream& in) override {
    the_driver().memory.activate(what_->base(), is_internal_, in.number());
    return {};
  }

 private:
  std::shared_ptr<graph_memory> what_;
  bool is_internal_;  // what is left behind is the program's to free
};

class disappearance final : public operation {
 public:
  disappearance(std::shared_ptr<graph_memory> what, std::string site)
      : what_{std::move(what)}, site_{std::move(site)} {}
  failure execute(stream& in) override {
    the_driver().memory.deactivate(what_->base(), {in.number(), site_});
    return {};
  }
  void drop() noexcept override { the_driver().memory.deactivate(what_->base(), {}); }
  bool releases_memory() const noexcept override { return true; }

 private:
  std::shared_ptr<graph_memory> what_;
  std::string site_;
};

device& device_of(driver& d, const memory::allocation& made) {
  return *d.devices[static_cast<std::size_t>(made.device)];
}

}  // namespace

std::shared_ptr<graph_mapping> graph_mapping::make(driver& d, device& on, std::uint64_t bytes) {
  auto& of = on.graph_memory;
  const auto pieces = whole_pieces(bytes);
  if (of.mapped + pieces > of.cached) {
    if (!d.memory.charge(on.ordinal(), of.mapped + pieces - of.cached)) return nullptr;
    of.cached = of.mapped + pieces;
  }
  of.mapped += pieces;
  of.used_high = std::max(of.used_high, of.cached);
  of.reserved_high = std::max(of.reserved_high, of.cached);
  return std::shared_ptr<graph_mapping>{new graph_mapping{on, pieces}};
}

void trim_graph_memory(driver& d, device& on) {
  auto& of = on.graph_memory;
  d.memory.discharge(on.ordinal(), of.cached - of.mapped);
  of.cached = of.mapped;
}

graph_memory::graph_memory(driver& d, const memory::allocation& made,
                           const CUDA_MEM_ALLOC_NODE_PARAMS_v2& as)
    : driver_{d}, home_{device_of(d, made)}, base_{made.base}, parameters_{as} {
  access_.assign(as.accessDescs, as.accessDescs + as.accessDescCount);
  parameters_.accessDescs = access_.empty() ? nullptr : access_.data();
  parameters_.dptr = base_;
  for (const auto& each : access_) {
    driver_.memory.set_access(base_, each.location.id,
                              each.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  }
}

graph_memory::~graph_memory() {
  driver_.graph_memories.erase(base_);
  driver_.memory.unreserve(base_);
}

bool graph_memory::is_on_device() const noexcept {
  return parameters_.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
         parameters_.poolProps.allocType == CU_MEM_ALLOCATION_TYPE_PINNED;
}

std::shared_ptr<graph_memory> find_unfreed(const driver& d, memory::address at) {
  const auto found = d.graph_memories.find(at);
  if (found == d.graph_memories.end()) return nullptr;
  auto what = found->second.lock();
  return what && d.unfreed.contains(what) ? what : nullptr;
}

std::shared_ptr<operation> make_appearance(std::shared_ptr<graph_memory> what) {
  return std::make_shared<appearance>(std::move(what));
}

std::shared_ptr<operation> make_disappearance(std::shared_ptr<graph_memory> what,
                                              std::string site) {
  return std::make_shared<disappearance>(std::move(what), std::move(site));
}

}  // namespace halfwarp::emulator
