// SPDX-License-Identifier: Apache-2.0
// Nodes that record an event or wait for one.
#include "emulator/api/graph/node_kinds.hpp"
#include "emulator/graph/dot/dot_rows.hpp"
#include "emulator/graph/plan.hpp"
#include "emulator/work/operations.hpp"

namespace halfwarp::emulator::api {
namespace {

class event_work_base : public node_work {
 public:
  event_work_base(const node_traits& kind, std::shared_ptr<event> target)
      : node_work{kind}, event_{std::move(target)} {}

  node_referent referent() const override {
    return {object_kind::event, event_->handle_as<std::uint64_t>()};
  }

  void write_rows(dot_rows& rows) const override {
    if (!rows.is_selected(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS)) return;
    rows.add_address("event", event_->handle_as<CUevent>());
  }

 protected:
  event& target() const noexcept { return *event_; }

 private:
  void describe(CUgraphNodeParams& params) const override {
    params.eventRecord.event = event_->handle_as<CUevent>();  // the same member as in eventWait
  }

  std::shared_ptr<event> event_;
};

class event_record_work final : public event_work_base {
 public:
  using event_work_base::event_work_base;
  std::shared_ptr<operation> make_operation(const node_launch& launch) const override {
    auto& stream = launch.target;
    return std::make_shared<record_event>(
        target().record_at({stream.as_shared(), stream.enqueued() + 1}));
  }
};

class event_wait_work final : public event_work_base {
 public:
  using event_work_base::event_work_base;
  std::shared_ptr<operation> make_operation(const node_launch& launch) const override {
    auto wait = make_wait(target(), launch.waits, true);
    return wait ? wait : node_work::make_operation(launch);
  }
};

std::shared_ptr<node_work> create(const node_request& request) {
  const auto raw = request.params.eventRecord.event;
  return event_work(request.params.type, request.c.find<event>(raw));
}

CUgraphNodeParams* convert(CUgraphNodeType type, CUevent event, CUgraphNodeParams&& params = {}) {
  params.type = type;
  params.eventRecord.event = event;
  return &params;
}

CUresult read_event(CUgraphNode node, CUgraphNodeType type, CUevent* out) {
  return read(node, type, out,
              [](const CUgraphNodeParams& params) { return params.eventRecord.event; });
}

}  // namespace

constexpr node_kind event_record_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .name = "EVENT_RECORD"},
    .create = create,
};

constexpr node_kind event_wait_kind{
    .traits = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .name = "EVENT_WAIT"},
    .create = create,
};

std::shared_ptr<node_work> event_work(CUgraphNodeType type, std::shared_ptr<event> target) {
  if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    return std::make_shared<event_record_work>(event_record_kind.traits, std::move(target));
  }
  return std::make_shared<event_wait_work>(event_wait_kind.traits, std::move(target));
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                   const CUgraphNode* dependencies, size_t numDependencies,
                                   CUevent event) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies},
                  convert(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph,
                                 const CUgraphNode* dependencies, size_t numDependencies,
                                 CUevent event) noexcept {
  return add_node({phGraphNode, hGraph, dependencies, numDependencies},
                  convert(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read_event(hNode, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event_out);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) noexcept {
  return read_event(hNode, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_out);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) noexcept {
  return set_node(hNode, convert(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) noexcept {
  return set_node(hNode, convert(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUevent event) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,
                                          CUevent event) noexcept {
  return set_exec_node(hGraphExec, hNode, convert(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

}  // namespace halfwarp::emulator::api
