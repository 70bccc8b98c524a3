// SPDX-License-Identifier: Apache-2.0
// Writes each graph as a cluster; child and body graphs are nested in the cluster of their graph.
#include "emulator/graph/graph.hpp"

#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/module/module.hpp"

namespace halfwarp::emulator {
namespace {

std::string_view type_name(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "GRAPH";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "EVENT_WAIT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "EVENT_RECORD";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "MEM_ALLOC";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "MEM_FREE";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return "CONDITIONAL";
    default:
      return "EMPTY";
  }
}

std::string address_text(std::uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "0x%016llX", static_cast<unsigned long long>(value));
  return digits;
}

template <class Handle>
std::string address_text(Handle* value) {
  return address_text(reinterpret_cast<std::uint64_t>(value));
}

// Escapes the characters that have a meaning in labels.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view{"<>{}|\"\\"}.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

std::string row(std::string_view label, const std::string& value) {
  return "| {" + std::string{label} + " | " + value + "}\n";
}

std::string numbers(std::initializer_list<std::uint64_t> list) {
  std::string text;
  for (const auto each : list) text += (text.empty() ? "" : ",") + std::to_string(each);
  return text;
}

CUgraphNodeParams described_params(const graph_node& node) {
  CUgraphNodeParams params{};
  if (node.work.operation) node.work.operation->describe(params);
  return params;
}

std::string kernel_text(const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  const auto match = the_driver().objects.find<function>(p.func);
  const auto name = match ? match->code().name() : std::string{"unloaded"};
  return escaped(name + "<<<" + numbers({p.gridDimX, p.gridDimY, p.gridDimZ}) + ";" +
                 numbers({p.blockDimX, p.blockDimY, p.blockDimZ}) + ";" +
                 std::to_string(p.sharedMemBytes) + ">>>");
}

std::string memory_end(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? "HOST " + address_text(host)
                                    : "DEVICE " + address_text(device);
}

std::string copy_rows(const CUDA_MEMCPY3D& p) {
  return row("src", memory_end(p.srcMemoryType, p.srcHost, p.srcDevice)) +
         row("dst", memory_end(p.dstMemoryType, p.dstHost, p.dstDevice)) +
         row("WidthInBytes,Height,Depth", numbers({p.WidthInBytes, p.Height, p.Depth})) +
         row("srcPitch,srcHeight", numbers({p.srcPitch, p.srcHeight})) +
         row("dstPitch,dstHeight", numbers({p.dstPitch, p.dstHeight}));
}

std::string attribute_rows(const launch_attributes& attributes) {
  const auto cluster = attributes.get(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
  return row("cooperative", std::to_string(attributes.is_cooperative())) +
         row("clusterDim", numbers({cluster.x, cluster.y, cluster.z})) +
         row("priority", std::to_string(attributes.priority()));
}

std::string_view condition_name(CUgraphConditionalNodeType type) {
  if (type == CU_GRAPH_COND_TYPE_IF) return "IF";
  return type == CU_GRAPH_COND_TYPE_WHILE ? "WHILE" : "SWITCH";
}

class writer {
 public:
  explicit writer(unsigned flags) : flags_{flags} {}

  std::string write(const graph& source) {
    text_ = "digraph dot {\n";
    write_cluster(source, "graph_" + std::to_string(source.id()));
    return std::move(text_) + "}\n";
  }

 private:
  bool is_selected(unsigned flag) const {
    return flags_ & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
  }

  static std::string name_of(const graph_node& node) {
    return "graph_" + std::to_string(node.owner().id()) + "_node_" +
           std::to_string(node.local_id());
  }

  void write_cluster(const graph& source, const std::string& label) {
    text_ += "subgraph cluster_" + std::to_string(source.id()) + " {\n";
    text_ += "label=\"" + label + "\" graph[style=\"dashed\"];\n";
    std::map<const graph_node*, std::size_t> order;
    for (const auto* each : source.topological_order()) order.emplace(each, order.size());
    for (const auto& each : source.nodes()) write_node(*each, order[each.get()]);
    for (const auto& e : source.edges()) write_edge(e);
    for (const auto& each : source.nodes()) write_inner(*each);
    text_ += "}\n";
  }

  void write_node(const graph_node& node, std::size_t order) {
    const bool is_kernel = node.work.type == CU_GRAPH_NODE_TYPE_KERNEL;
    const auto rows = rows_of(node);
    std::string label = std::to_string(node.local_id());
    if (is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) {
      label += " (topoId: " + std::to_string(order) + ")";
    }
    const auto title = is_kernel ? kernel_text(described_params(node).kernel)
                                 : std::string{type_name(node.work.type)};
    text_ += "\"" + name_of(node) + "\"[style=\"" + (is_kernel ? "bold" : "solid") + "\" shape=\"";
    if (rows.empty()) {
      text_ += std::string{is_kernel ? "octagon" : "rectangle"} + "\" label=\"" + label + "\n" +
               title + "\n\"];\n\n";
    } else {
      const std::string head = is_kernel ? "KERNEL\n" + row("ID", label + " | " + title)
                                         : title + "\n" + row("ID", label);
      text_ += "record\" label=\"{" + head + rows + "}\"];\n\n";
    }
  }

  std::string rows_of(const graph_node& node) const {
    std::string rows = parameter_rows(node);
    if (!is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) return rows;
    if (node.work.type == CU_GRAPH_NODE_TYPE_KERNEL) {
      rows = row("func handle", address_text(described_params(node).kernel.func)) + rows;
    }
    return row("node handle", address_text(node.handle_as<CUgraphNode>())) + rows;
  }

  std::string parameter_rows(const graph_node& node) const {
    const auto& work = node.work;
    const auto params = described_params(node);
    switch (work.type) {
      case CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel_rows(work, params.kernel);
      case CU_GRAPH_NODE_TYPE_MEMCPY:
        return if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS,
                           copy_rows(params.memcpy.copyParams));
      case CU_GRAPH_NODE_TYPE_MEMSET:
        return if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS, fill_rows(params.memset));
      case CU_GRAPH_NODE_TYPE_HOST:
        return if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS,
                           row("fn", address_text(reinterpret_cast<void*>(params.host.fn))) +
                               row("userData", address_text(params.host.userData)));
      case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS,
                           row("event", address_text(work.event->handle_as<CUevent>())));
      case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS,
                           row("dptr", address_text(work.memory->base())) +
                               row("bytesize", std::to_string(work.memory->bytes())));
      case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS,
                           row("dptr", address_text(work.memory->base())));
      case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return if_selected(
            CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS,
            row("handle", address_text(work.branches->selector->handle_as<std::uint64_t>())) +
                row("type", std::string{condition_name(work.branches->type)}) +
                row("size", std::to_string(work.branches->bodies.size())));
      default:
        return {};
    }
  }

  std::string if_selected(unsigned flag, std::string rows) const {
    return is_selected(flag) ? std::move(rows) : std::string{};
  }

  std::string kernel_rows(const node_work& work, const CUDA_KERNEL_NODE_PARAMS_v3& p) const {
    return if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS,
                       row("gridDim", numbers({p.gridDimX, p.gridDimY, p.gridDimZ})) +
                           row("blockDim", numbers({p.blockDimX, p.blockDimY, p.blockDimZ})) +
                           row("sharedMemBytes", std::to_string(p.sharedMemBytes))) +
           if_selected(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES,
                       attribute_rows(work.attributes));
  }

  static std::string fill_rows(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
    return row("dptr", address_text(p.dst)) + row("pitch", std::to_string(p.pitch)) +
           row("value", std::to_string(p.value)) +
           row("elementSize", std::to_string(p.elementSize)) +
           row("width,height", numbers({p.width, p.height}));
  }

  void write_edge(const graph_edge& e) {
    text_ += "\"" + name_of(*e.from) + "\" -> \"" + name_of(*e.to) + "\"";
    if (e.data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) text_ += "[style=\"dashed\"]";
    text_ += ";\n";
  }

  void write_inner(const graph_node& node) {
    const auto enter = [&](const graph& inner, const std::string& label) {
      write_cluster(inner, label);
      if (inner.is_empty()) return;
      const auto& first = **inner.nodes().begin();
      text_ += "\"" + name_of(node) + "\" -> \"" + name_of(first) + "\"[style=\"dotted\"];\n";
    };
    if (node.work.child) {
      enter(*node.work.child, "graph_" + std::to_string(node.work.child->id()));
    }
    if (!node.work.branches) return;
    for (std::size_t i = 0; i < node.work.branches->bodies.size(); ++i) {
      const auto& body = *node.work.branches->bodies[i];
      enter(body, "graph_" + std::to_string(body.id()) + " (body " + std::to_string(i) + " of " +
                      name_of(node) + ")");
    }
  }

  unsigned flags_;
  std::string text_;
};

}  // namespace

std::string dot_of(const graph& source, unsigned flags) { return writer{flags}.write(source); }

}  // namespace halfwarp::emulator
