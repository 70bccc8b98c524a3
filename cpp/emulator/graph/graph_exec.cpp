// SPDX-License-Identifier: Apache-2.0
// Instantiates and launches graphs.
#include "emulator/graph/graph_exec.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "emulator/driver/findings/misuse.hpp"
#include "emulator/settings/refusal.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator {
namespace {

void for_each_graph(const graph& source, const std::function<void(const graph&)>& visit) {
  visit(source);
  source.for_each_inner(visit);
}

template <class Visit>
void for_each_node(const graph& source, Visit&& visit) {
  for_each_graph(source, [&](const graph& inner) {
    for (const auto& each : inner.nodes()) visit(*each);
  });
}

// The first operation of a launch: assigns the default values of conditional handles.
class launch_begin final : public operation {
 public:
  explicit launch_begin(std::vector<std::shared_ptr<conditional>> handles)
      : operation{operation_kind::bookkeeping}, handles_{std::move(handles)} {}
  failure execute(stream&) override {
    for (const auto& each : handles_) {
      if (each->launch_value()) each->value.store(*each->launch_value(), std::memory_order_relaxed);
    }
    return {};
  }

 private:
  std::vector<std::shared_ptr<conditional>> handles_;
};

// References that a launch holds until it completes.
struct launch_references {
  std::shared_ptr<const emulator::plan> plan;
  user_references references;
  std::vector<std::shared_ptr<conditional_lease>> conditions;
  std::map<int, std::shared_ptr<graph_mapping>> mappings;
};

class launch_end final : public operation {
 public:
  explicit launch_end(launch_references references)
      : operation{operation_kind::bookkeeping}, references_{std::move(references)} {}
  failure execute(stream&) override { return {}; }

 private:
  launch_references references_;
};

launch_references references_of(const graph& source) {
  launch_references result;
  for_each_graph(source, [&](const graph& each) {
    result.references.add(each.references);
    result.conditions.insert(result.conditions.end(), each.conditions.begin(),
                             each.conditions.end());
  });
  return result;
}

// Refuses unloaded kernels and destroyed events, which a graph does not retain. The emulator could
// run them, since nodes share ownership; a device cannot.
void require_alive(driver& d, const graph& source) {
  for_each_node(source, [&d](const graph_node& node) {
    const auto [kind, raw] = node.work->referent();
    if (!raw || d.objects.classify(kind, raw) == handle_state::live) return;
    report_destroyed(d, kind, raw);
    refuse(CUDA_ERROR_INVALID_HANDLE, "a node of the graph uses " + d.objects.describe(kind, raw));
  });
}

// Checked at instantiation: adding such a node to a body graph is not refused.
bool is_refused_in_condition(const graph& source) {
  return source.is_in_condition() && !std::ranges::all_of(source.nodes(), [](const auto& each) {
           return each->work->traits.runs_in_bodies;
         });
}

// Returns a node in or after a cycle, or null.
graph_node* node_in_cycle(const graph& source) {
  const auto order = source.topological_order();
  const std::set<const graph_node*> ordered{order.begin(), order.end()};
  for (const auto& each : source.nodes()) {
    if (!ordered.contains(each.get())) return each.get();
  }
  return nullptr;
}

instantiation_problem check_device_launch(const graph& source) {
  instantiation_problem problem{CUDA_GRAPH_INSTANTIATE_SUCCESS, nullptr, CUDA_SUCCESS, ""};
  const context* common = nullptr;
  for_each_node(source, [&](graph_node& node) {
    if (problem.code != CUDA_SUCCESS) return;
    if (!node.work->traits.runs_in_device_launches) {
      problem = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, &node,
                 CUDA_ERROR_NOT_SUPPORTED,
                 "a graph for device launch cannot have nodes of this type"};
    }
    const auto* const context = node.work->context.get();
    if (context && common && context != common) {
      problem = {CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, &node,
                 CUDA_ERROR_INVALID_VALUE,
                 "the nodes of a graph for device launch must share one context"};
    }
    if (context) common = context;
  });
  if (problem.code == CUDA_SUCCESS && !common) {
    problem = {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr, CUDA_ERROR_INVALID_VALUE,
               "a graph for device launch needs a kernel, copy or memset node"};
  }
  return problem;
}

}  // namespace

instantiation_problem check_instantiation(const graph& source, unsigned long long flags) {
  instantiation_problem problem{CUDA_GRAPH_INSTANTIATE_SUCCESS, nullptr, CUDA_SUCCESS, ""};
  for_each_graph(source, [&](const graph& each) {
    if (problem.code != CUDA_SUCCESS) return;
    if (auto* const node = node_in_cycle(each)) {
      problem = {CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, node, CUDA_ERROR_INVALID_VALUE,
                 "the dependencies of the graph form a cycle"};
    } else if (is_refused_in_condition(each)) {
      problem = {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr, CUDA_ERROR_INVALID_VALUE,
                 "the body of a conditional node can only have kernel, copy, memset, empty, child "
                 "graph and conditional nodes"};
    }
    for (const auto& handle : each.conditions) {
      if (handle->handle()->has_node) continue;
      problem = {CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nullptr,
                 CUDA_ERROR_INVALID_VALUE,
                 "a conditional handle of the graph has no conditional node"};
    }
  });
  if (problem.code != CUDA_SUCCESS) return problem;
  if (!source.executable.expired()) {
    return {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr, CUDA_ERROR_NOT_SUPPORTED,
            "a graph that allocates memory or has conditional nodes can have only one executable "
            "graph"};
  }
  return flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ? check_device_launch(source) : problem;
}

graph_exec::graph_exec(driver&, std::shared_ptr<graph> source, unsigned long long flags)
    : object{kind_of}, source_{std::move(source)}, flags_{flags} {
  source_->is_library_owned = true;
  for_each_node(*source_, [&](graph_node& node) { clones_[node.original()] = &node; });
}

graph_node* graph_exec::clone_of(const graph_node& node) const noexcept {
  const auto match = clones_.find(node.id());
  return match == clones_.end() ? nullptr : match->second;
}

void graph_exec::map_memory(driver& d) {
  std::map<int, std::uint64_t> bytes;
  for_each_node(*source_, [&](const graph_node& node) {
    const auto memory = node.work->allocated_memory();
    if (!memory) return;
    if (memory->is_on_device()) bytes[memory->home().ordinal()] += memory->bytes();
    memory->was_mapped = true;
  });
  for (const auto& [ordinal, needed] : bytes) {
    auto& mapping = mappings_[ordinal];
    if (mapping) continue;
    mapping = graph_mapping::make(d, *d.devices[static_cast<std::size_t>(ordinal)], needed);
    require(mapping != nullptr, CUDA_ERROR_OUT_OF_MEMORY,
            "the device has less free memory than the graph allocates");
  }
}

void graph_exec::unmap_memory() noexcept {
  std::erase_if(mappings_, [](const auto& each) { return each.second.use_count() <= 1; });
}

// Frees the memory that the previous launch did not free, or refuses the launch.
void graph_exec::require_freed(driver& d, driver_guard& guard, stream& target,
                               const std::string& site) {
  std::vector<std::shared_ptr<graph_memory>> unfreed;
  for_each_node(*source_, [&](const graph_node& node) {
    const auto allocated = node.work->allocated_memory(), freed = node.work->freed_memory();
    if (allocated && d.unfreed.contains(allocated)) unfreed.push_back(allocated);
    require(!freed || !freed->outlives_launch() || d.unfreed.contains(freed),
            CUDA_ERROR_INVALID_VALUE,
            "the graph frees memory of another graph that is not allocated");
  });
  if (unfreed.empty()) return;
  require(flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, CUDA_ERROR_INVALID_VALUE,
          "memory that an earlier launch allocated was not freed; free it, or instantiate with "
          "CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH");
  for (const auto& each : unfreed) {
    d.unfreed.erase(each);
    d.streams.submit(guard, target, make_deactivation(each, site), {last_});
  }
}

// Updates the set of unfreed allocations after a launch was enqueued.
void graph_exec::track_memory(driver& d) {
  for_each_node(*source_, [&](const graph_node& node) {
    const auto allocated = node.work->allocated_memory(), freed = node.work->freed_memory();
    if (allocated && allocated->outlives_launch()) {
      d.unfreed.insert(allocated);
      const auto mapping = mappings_.find(allocated->home().ordinal());
      if (mapping != mappings_.end()) allocated->mapping = mapping->second;
    }
    if (freed && freed->outlives_launch()) {
      d.unfreed.erase(freed);
      freed->mapping.reset();
    }
  });
}

void graph_exec::launch(driver& d, driver_guard& guard, stream& target, std::string site) {
  require_alive(d, *source_);
  require_freed(d, guard, target, site);
  map_memory(d);
  if (!plan_) {
    std::size_t branches = 0;
    plan_ = make_plan(*source_, branches);
  }
  std::vector<std::shared_ptr<conditional>> handles;
  for_each_node(*source_, [&](const graph_node& node) {
    if (auto selector = node.work->selector()) handles.push_back(std::move(selector));
  });
  const auto start =
      d.streams.enqueue(target, std::make_shared<launch_begin>(std::move(handles)), {last_});
  const launch_scope scope{streams_,
                           target.shared_owner(),
                           target.number(),
                           target.priority(),
                           (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0,
                           std::move(site)};
  auto ends = enqueue(d, *plan_, scope, start);
  track_memory(d);
  auto launch_state = references_of(*source_);
  launch_state.plan = plan_;
  launch_state.mappings = mappings_;
  last_ = d.streams.submit(guard, target, std::make_shared<launch_end>(std::move(launch_state)),
                           std::move(ends));
}

// Pending launches continue; they hold references.
void graph_exec::close(driver& d) {
  streams_->close(d);
  source_->clear(d);
  d.objects.remove(*source_);
}

}  // namespace halfwarp::emulator
