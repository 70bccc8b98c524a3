// SPDX-License-Identifier: Apache-2.0
// Writes each graph as a cluster; child and body graphs are nested in the cluster of their graph.
#include <cstdio>
#include <map>
#include <utility>

#include "emulator/graph/dot/dot_rows.hpp"
#include "emulator/graph/graph.hpp"

namespace halfwarp::emulator {

std::string address_text(std::uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "0x%016llX", static_cast<unsigned long long>(value));
  return digits;
}

std::string list_text(std::initializer_list<std::uint64_t> values) {
  std::string text;
  for (const auto each : values) text += (text.empty() ? "" : ",") + std::to_string(each);
  return text;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view{"<>{}|\"\\"}.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

void dot_rows::add(std::string_view label, const std::string& value) {
  text_ += "| {" + std::string{label} + " | " + value + "}\n";
}

void dot_rows::add(std::string_view label, std::initializer_list<std::uint64_t> values) {
  add(label, list_text(values));
}

void dot_rows::add_address(std::string_view label, std::uint64_t value) {
  add(label, address_text(value));
}

namespace {

class writer {
 public:
  explicit writer(unsigned flags) : flags_{flags} {}

  std::string write(const graph& source) {
    text_ = "digraph dot {\n";
    write_cluster(source, "graph_" + std::to_string(source.id()));
    return std::move(text_) + "}\n";
  }

 private:
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
    dot_rows rows{flags_};
    if (rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) {
      rows.add_address("node handle", node.handle_as<CUgraphNode>());
    }
    node.work->write_rows(rows);
    std::string label = std::to_string(node.local_id());
    if (rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO)) {
      label += " (topoId: " + std::to_string(order) + ")";
    }
    const std::string kind = node.work->traits.name, own_title = node.work->title();
    const bool is_titled = !own_title.empty();
    text_ += "\"" + name_of(node) + "\"[style=\"" + (is_titled ? "bold" : "solid") + "\" shape=\"";
    if (rows.text().empty()) {
      text_ += std::string{is_titled ? "octagon" : "rectangle"} + "\" label=\"" + label + "\n" +
               (is_titled ? own_title : kind) + "\n\"];\n\n";
    } else {
      dot_rows head{flags_};
      head.add("ID", is_titled ? label + " | " + own_title : label);
      text_ += "record\" label=\"{" + kind + "\n" + head.text() + rows.text() + "}\"];\n\n";
    }
  }

  void write_edge(const graph_edge& e) {
    text_ += "\"" + name_of(*e.from) + "\" -> \"" + name_of(*e.to) + "\"";
    if (e.data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) text_ += "[style=\"dashed\"]";
    text_ += ";\n";
  }

  void write_inner(const graph_node& node) {
    const auto& graphs = node.work->graphs;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      auto label = "graph_" + std::to_string(graphs[i]->id());
      if (node.work->selector()) {
        label += " (body " + std::to_string(i) + " of " + name_of(node) + ")";
      }
      write_cluster(*graphs[i], label);
      if (graphs[i]->is_empty()) continue;
      const auto& first = **graphs[i]->nodes().begin();
      text_ += "\"" + name_of(node) + "\" -> \"" + name_of(first) + "\"[style=\"dotted\"];\n";
    }
  }

  unsigned flags_;
  std::string text_;
};

}  // namespace

std::string dot_of(const graph& source, unsigned flags) { return writer{flags}.write(source); }

}  // namespace halfwarp::emulator
