// SPDX-License-Identifier: Apache-2.0
// Instantiation and launch.
#include "emulator/graph/graph_exec.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "emulator/driver/misuse.hpp"
#include "emulator/settings/refusal.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator {
namespace {

void for_each_graph(const graph& of, const std::function<void(const graph&)>& visit) {
  visit(of);
  of.for_each_inner(visit);
}

template <class Visit>
void for_each_node(const graph& of, Visit&& visit) {
  for_each_graph(of, [&](const graph& in) {
    for (const auto& each : in.nodes()) visit(*each);
  });
}

// The beginning of a launch: handles take the values that they were made with.
class beginning final : public operation {
 public:
  explicit beginning(std::vector<std::shared_ptr<conditional>> handles)
      : operation{operation_kind::bookkeeping}, handles_{std::move(handles)} {}
  failure execute(stream&) override {
    for (const auto& each : handles_) {
      if (each->at_launch()) each->value.store(*each->at_launch(), std::memory_order_relaxed);
    }
    return {};
  }

 private:
  std::vector<std::shared_ptr<conditional>> handles_;
};

// What a launch uses, until its end.
struct launch_needs {
  std::shared_ptr<const plan> what;
  user_references references;
  std::vector<std::shared_ptr<conditional_lease>> conditions;
  std::map<int, std::shared_ptr<graph_mapping>> mappings;
};

class end_of_launch final : public operation {
 public:
  explicit end_of_launch(launch_needs kept)
      : operation{operation_kind::bookkeeping}, kept_{std::move(kept)} {}
  failure execute(stream&) override { return {}; }

 private:
  launch_needs kept_;
};

launch_needs needs_of(const graph& of) {
  launch_needs all;
  for_each_graph(of, [&](const graph& each) {
    all.references.add(each.references);
    all.conditions.insert(all.conditions.end(), each.conditions.begin(), each.conditions.end());
  });
  return all;
}

bool may_be_launched_by_kernels(const graph_node& node) {
  const auto type = node.work.type;
  return type <= CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_GRAPH;
}

// Kernels that were unloaded, and events that were destroyed, since their nodes were made: a graph
// keeps neither. Here it would run all the same, since the parts of a node are shared.
void require_alive(driver& d, const graph& of) {
  const auto require_live = [&d](object_kind kind, std::uint64_t raw) {
    if (d.objects.classify(kind, raw) == handle_state::live) return;
    tell_destroyed(d, kind, raw);
    refuse(CUDA_ERROR_INVALID_HANDLE, "a node of the graph uses " + d.objects.describe(kind, raw));
  };
  for_each_node(of, [&](const graph_node& node) {
    CUgraphNodeParams known{};
    if (node.work.type == CU_GRAPH_NODE_TYPE_KERNEL) {
      node.work.done->describe(known);
      require_live(object_kind::function, reinterpret_cast<std::uint64_t>(known.kernel.func));
    } else if (node.work.recorded) {
      require_live(object_kind::event,
                   reinterpret_cast<std::uint64_t>(node.work.recorded->handle_as<CUevent>()));
    }
  });
}

// Nodes of any kind are added to the graph of a condition, without a word.
bool is_refused_in_condition(const graph& of) {
  return of.is_in_condition() && std::ranges::any_of(of.nodes(), [](const auto& each) {
           const auto type = each->work.type;
           return type > CU_GRAPH_NODE_TYPE_MEMSET && type != CU_GRAPH_NODE_TYPE_GRAPH &&
                  type != CU_GRAPH_NODE_TYPE_EMPTY && type != CU_GRAPH_NODE_TYPE_CONDITIONAL;
         });
}

// A node of a cycle, if there is one.
graph_node* node_in_cycle(const graph& of) {
  const auto order = of.in_order();
  const std::set<const graph_node*> ordered{order.begin(), order.end()};
  for (const auto& each : of.nodes()) {
    if (!ordered.contains(each.get())) return each.get();
  }
  return nullptr;
}

instantiation_problem check_device_launch(const graph& of) {
  instantiation_problem found{CUDA_GRAPH_INSTANTIATE_SUCCESS, nullptr, CUDA_SUCCESS, ""};
  const context* where = nullptr;
  for_each_node(of, [&](graph_node& node) {
    if (found.code != CUDA_SUCCESS) return;
    if (!may_be_launched_by_kernels(node)) {
      found = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, &node, CUDA_ERROR_NOT_SUPPORTED,
               "a graph that kernels launch has no nodes of this kind"};
    }
    const auto* const own = node.work.where.get();
    if (own && where && own != where) {
      found = {CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, &node, CUDA_ERROR_INVALID_VALUE,
               "the nodes of a graph that kernels launch are of one context"};
    }
    if (own) where = own;
  });
  if (found.code == CUDA_SUCCESS && !where) {
    found = {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr, CUDA_ERROR_INVALID_VALUE,
             "a graph that kernels launch needs a kernel, a copy or a memset"};
  }
  return found;
}

}  // namespace

instantiation_problem check_instantiation(const graph& of, unsigned long long flags) {
  instantiation_problem found{CUDA_GRAPH_INSTANTIATE_SUCCESS, nullptr, CUDA_SUCCESS, ""};
  for_each_graph(of, [&](const graph& each) {
    if (found.code != CUDA_SUCCESS) return;
    if (auto* const node = node_in_cycle(each)) {
      found = {CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, node, CUDA_ERROR_INVALID_VALUE,
               "the dependencies of the graph form a cycle"};
    } else if (is_refused_in_condition(each)) {
      found = {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr, CUDA_ERROR_INVALID_VALUE,
               "the graph of a conditional node has kernels, copies, memsets, empty nodes, child "
               "graphs and conditional nodes alone"};
    }
    for (const auto& handle : each.conditions) {
      if (handle->of()->has_node) continue;
      found = {CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nullptr, CUDA_ERROR_INVALID_VALUE,
               "a conditional handle of the graph has no conditional node"};
    }
  });
  if (found.code != CUDA_SUCCESS) return found;
  if (!of.executable.expired()) {
    return {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr, CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates memory or has conditional nodes can have one executable only"};
  }
  return flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ? check_device_launch(of) : found;
}

graph_exec::graph_exec(driver&, std::shared_ptr<graph> source, unsigned long long flags)
    : object{kind_of}, source_{std::move(source)}, flags_{flags} {
  source_->is_library_owned = true;
  for_each_node(*source_, [&](graph_node& node) { twins_[node.original()] = &node; });
}

graph_node* graph_exec::twin_of(const graph_node& node) const noexcept {
  const auto found = twins_.find(node.id());
  return found == twins_.end() ? nullptr : found->second;
}

void graph_exec::map_memory(driver& d) {
  std::map<int, std::uint64_t> bytes;
  for_each_node(*source_, [&](const graph_node& node) {
    const bool is_counted =
        node.work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && node.work.memory->is_on_device();
    if (is_counted) bytes[node.work.memory->home().ordinal()] += node.work.memory->bytes();
    if (node.work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) node.work.memory->was_mapped = true;
  });
  for (const auto& [ordinal, needed] : bytes) {
    auto& mapping = mappings_[ordinal];
    if (mapping) continue;
    mapping = graph_mapping::make(d, *d.devices[static_cast<std::size_t>(ordinal)], needed);
    require(mapping != nullptr, CUDA_ERROR_OUT_OF_MEMORY,
            "the device has not so much memory left as the graph allocates");
  }
}

void graph_exec::unmap_memory() noexcept {
  std::erase_if(mappings_, [](const auto& each) { return each.second.use_count() <= 1; });
}

// What a launch left behind has to be freed before the next one.
void graph_exec::require_freed(driver& d, driver_guard& guard, stream& in,
                               const std::string& site) {
  std::vector<std::shared_ptr<graph_memory>> unfreed;
  for_each_node(*source_, [&](const graph_node& node) {
    const auto& memory = node.work.memory;
    const bool is_allocation = node.work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    if (memory && is_allocation && d.unfreed.contains(memory)) unfreed.push_back(memory);
    const bool is_foreign =
        memory && !is_allocation && memory->is_left_behind() && !d.unfreed.contains(memory);
    require(!is_foreign, CUDA_ERROR_INVALID_VALUE,
            "the graph frees memory of another graph that is not allocated now");
  });
  if (unfreed.empty()) return;
  require(flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, CUDA_ERROR_INVALID_VALUE,
          "memory that an earlier launch allocated was not freed; free it, or instantiate with "
          "CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH");
  for (const auto& each : unfreed) {
    d.unfreed.erase(each);
    d.streams.submit(guard, in, make_disappearance(each, site), {last_});
  }
}

// Which memory is there, for calls, once the launch is enqueued.
void graph_exec::note_memory(driver& d) {
  for_each_node(*source_, [&](const graph_node& node) {
    const auto& memory = node.work.memory;
    if (!memory || !memory->is_left_behind()) return;
    if (node.work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      d.unfreed.insert(memory);
      const auto mapping = mappings_.find(memory->home().ordinal());
      if (mapping != mappings_.end()) memory->behind = mapping->second;
    } else {
      d.unfreed.erase(memory);
      memory->behind.reset();
    }
  });
}

void graph_exec::launch(driver& d, driver_guard& guard, stream& in, std::string site) {
  require_alive(d, *source_);
  require_freed(d, guard, in, site);
  map_memory(d);
  if (!plan_) {
    std::size_t branches = 0;
    plan_ = make_plan(*source_, branches);
  }
  std::vector<std::shared_ptr<conditional>> handles;
  for_each_node(*source_, [&](const graph_node& node) {
    if (node.work.branches) handles.push_back(node.work.branches->decides);
  });
  const auto start =
      d.streams.enqueue(in, std::make_shared<beginning>(std::move(handles)), {last_});
  const launch_scope scope{streams_,
                           in.shared_owner(),
                           in.number(),
                           in.priority(),
                           (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0,
                           std::move(site)};
  auto ends = enqueue(d, *plan_, scope, start);
  note_memory(d);
  auto needs = needs_of(*source_);
  needs.what = plan_;
  needs.mappings = mappings_;
  last_ = d.streams.submit(guard, in, std::make_shared<end_of_launch>(std::move(needs)),
                           std::move(ends));
}

// What is queued goes on: it holds what it needs.
void graph_exec::close(driver& d) {
  streams_->close(d);
  source_->clear(d);
  d.objects.remove(*source_);
}

}  // namespace halfwarp::emulator
