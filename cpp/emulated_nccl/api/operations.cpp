// SPDX-License-Identifier: Apache-2.0
// Collectives, sends and receives, groups.
#include <cuda.h>

#include "emulated_nccl/api/entry.hpp"
#include "emulated_nccl/call/kinds.hpp"

namespace halfwarp::emulated_nccl::api {
namespace {

struct call_arguments {
  const void* comm;
  CUstream stream;
  task each;
};

result check_root(const message& call, const communicator& owner) {
  if (call.root >= 0 && call.root < owner.ranks) return result::success;
  return failf(result::invalid_argument, "%s: the communicator has ranks 0 to %d",
               describe_call(call).c_str(), owner.ranks - 1);
}

// Replaces the handle of an operation that the program created.
result resolve_operation(task& each, communicator& owner) {
  auto& operation = each.call.operation;
  if (operation < reduction::first_created) return result::success;
  const auto index = static_cast<std::size_t>(operation) - 5;
  const std::lock_guard guard{owner.mutex};
  const bool exists = index < owner.created.size() && !owner.created[index].is_destroyed;
  operation = reduction::first_created;
  if (!exists) return fail(result::invalid_argument, "the reduction operation does not exist");
  if (owner.created[index].type != each.call.type) {
    return failf(result::invalid_argument, "%s: the scalar has type %s",
                 describe_call(each.call).c_str(), name_of(owner.created[index].type));
  }
  each.scalar = owner.created[index];
  return result::success;
}

// Refuses overlapping buffers, except for the forms in place that NCCL documents.
result check_overlap(const task& each, const communicator& owner) {
  const auto& call = each.call;
  if (!sends(call, owner.rank) || !receives(call, owner.rank)) return result::success;
  const auto size = size_of(call.type);
  const auto* const from = static_cast<const char*>(each.send);
  const auto* const to = static_cast<const char*>(each.receive);
  const auto sent = sent_elements(call, owner.ranks) * size;
  const auto received = received_elements(call, owner.ranks) * size;
  if (from + sent <= to || to + received <= from) return result::success;
  const auto own = static_cast<unsigned>(owner.rank) * call.count * size;
  const bool in_place = sent == received  ? from == to && call.kind != call_kind::all_to_all
                        : sent < received ? from == to + own
                                          : to == from + own;
  if (in_place) return result::success;
  return failf(result::invalid_argument,
               "%s: the send and receive buffers overlap, but not in place",
               describe_call(call).c_str());
}

result check_buffers(const task& each, const communicator& owner) {
  const auto& call = each.call;
  if (call.count == 0) return result::success;
  const bool is_pair = !is_collective(call.kind);
  const bool needs_send = is_pair ? call.kind == call_kind::send : sends(call, owner.rank);
  const bool needs_receive = is_pair ? !needs_send : receives(call, owner.rank);
  if ((needs_send && !each.send) || (needs_receive && !each.receive)) {
    return failf(result::invalid_argument, "%s: a buffer is null", describe_call(call).c_str());
  }
  return is_pair ? result::success : check_overlap(each, owner);
}

result call(call_arguments arguments) noexcept {
  return run([&] {
    auto& each = arguments.each;
    const auto type = static_cast<int>(each.call.type);
    if (type < 0 || type >= type_count) {
      return failf(result::invalid_argument, "there is no data type %d", type);
    }
    if (static_cast<int>(each.call.operation) < 0) {
      return fail(result::invalid_argument, "the reduction operation is negative");
    }
    communicator_ref owner;
    auto code = find_usable(arguments.comm, owner);
    const bool is_pair = !is_collective(each.call.kind);
    const bool has_root = is_pair || collective_of(each.call.kind).root_sends_only ||
                          collective_of(each.call.kind).root_receives_only;
    if (code == result::success && has_root) code = check_root(each.call, *owner);
    if (code == result::success) code = resolve_operation(each, *owner);
    if (code == result::success) code = check_buffers(each, *owner);
    return code == result::success ? group::add(owner, each, arguments.stream) : code;
  });
}

result check_config(const collective_config* options) noexcept {
  if (!options || (options->magic == magic && options->size >= sizeof *options)) {
    return result::success;
  }
  return run([] {
    return fail(result::invalid_argument,
                "the configuration was not initialized by NCCL_COLLCONFIG_INITIALIZER");
  });
}

// Makes a call whose configuration is valid.
template <class... Parameters, class... Arguments>
result with_config(const collective_config* options, result (*call)(Parameters...),
                   Arguments... arguments) {
  const auto code = check_config(options);
  return code == result::success ? call(arguments...) : code;
}

call_arguments collective_call(call_kind kind, const void* send, void* receive, std::size_t count,
                               data_type type, reduction operation, int root, const void* comm,
                               CUstream stream) {
  return {comm, stream, {{count, kind, type, operation, root}, send, receive, {}}};
}

}  // namespace

extern "C" {

using enum call_kind;

result halfwarp_ncclAllReduce(const void* send, void* receive, std::size_t count, data_type type,
                              reduction operation, const void* comm, CUstream stream) {
  return call(collective_call(all_reduce, send, receive, count, type, operation, -1, comm, stream));
}

result halfwarp_ncclReduceScatter(const void* send, void* receive, std::size_t count,
                                  data_type type, reduction operation, const void* comm,
                                  CUstream stream) {
  return call(
      collective_call(reduce_scatter, send, receive, count, type, operation, -1, comm, stream));
}

result halfwarp_ncclReduce(const void* send, void* receive, std::size_t count, data_type type,
                           reduction operation, int root, const void* comm, CUstream stream) {
  return call(collective_call(call_kind::reduce, send, receive, count, type, operation, root, comm,
                              stream));
}

result halfwarp_ncclBroadcast(const void* send, void* receive, std::size_t count, data_type type,
                              int root, const void* comm, CUstream stream) {
  return call(
      collective_call(broadcast, send, receive, count, type, reduction::sum, root, comm, stream));
}

result halfwarp_ncclBcast(void* buffer, std::size_t count, data_type type, int root,
                          const void* comm, CUstream stream) {
  return halfwarp_ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

result halfwarp_ncclAllGather(const void* send, void* receive, std::size_t count, data_type type,
                              const void* comm, CUstream stream) {
  return call(
      collective_call(all_gather, send, receive, count, type, reduction::sum, -1, comm, stream));
}

result halfwarp_ncclAlltoAll(const void* send, void* receive, std::size_t count, data_type type,
                             const void* comm, CUstream stream) {
  return call(
      collective_call(all_to_all, send, receive, count, type, reduction::sum, -1, comm, stream));
}

result halfwarp_ncclGather(const void* send, void* receive, std::size_t count, data_type type,
                           int root, const void* comm, CUstream stream) {
  return call(
      collective_call(gather, send, receive, count, type, reduction::sum, root, comm, stream));
}

result halfwarp_ncclScatter(const void* send, void* receive, std::size_t count, data_type type,
                            int root, const void* comm, CUstream stream) {
  return call(
      collective_call(scatter, send, receive, count, type, reduction::sum, root, comm, stream));
}

result halfwarp_ncclSend(const void* buffer, std::size_t count, data_type type, int peer,
                         const void* comm, CUstream stream) {
  return call(
      collective_call(send, buffer, nullptr, count, type, reduction::sum, peer, comm, stream));
}

result halfwarp_ncclRecv(void* buffer, std::size_t count, data_type type, int peer,
                         const void* comm, CUstream stream) {
  return call(
      collective_call(receive, nullptr, buffer, count, type, reduction::sum, peer, comm, stream));
}

// The forms with a configuration, which tunes kernels that the emulation does not have.
result halfwarp_ncclAllReduceConfig(const void* send, void* receive, std::size_t count,
                                    data_type type, reduction operation, const void* comm,
                                    CUstream stream, const collective_config* options) {
  return with_config(options, halfwarp_ncclAllReduce, send, receive, count, type, operation, comm,
                     stream);
}

result halfwarp_ncclReduceScatterConfig(const void* send, void* receive, std::size_t count,
                                        data_type type, reduction operation, const void* comm,
                                        CUstream stream, const collective_config* options) {
  return with_config(options, halfwarp_ncclReduceScatter, send, receive, count, type, operation,
                     comm, stream);
}

result halfwarp_ncclReduceConfig(const void* send, void* receive, std::size_t count, data_type type,
                                 reduction operation, int root, const void* comm, CUstream stream,
                                 const collective_config* options) {
  return with_config(options, halfwarp_ncclReduce, send, receive, count, type, operation, root,
                     comm, stream);
}

result halfwarp_ncclBroadcastConfig(const void* send, void* receive, std::size_t count,
                                    data_type type, int root, const void* comm, CUstream stream,
                                    const collective_config* options) {
  return with_config(options, halfwarp_ncclBroadcast, send, receive, count, type, root, comm,
                     stream);
}

result halfwarp_ncclAllGatherConfig(const void* send, void* receive, std::size_t count,
                                    data_type type, const void* comm, CUstream stream,
                                    const collective_config* options) {
  return with_config(options, halfwarp_ncclAllGather, send, receive, count, type, comm, stream);
}

result halfwarp_ncclAlltoAllConfig(const void* send, void* receive, std::size_t count,
                                   data_type type, const void* comm, CUstream stream,
                                   const collective_config* options) {
  return with_config(options, halfwarp_ncclAlltoAll, send, receive, count, type, comm, stream);
}

result halfwarp_ncclGatherConfig(const void* send, void* receive, std::size_t count, data_type type,
                                 int root, const void* comm, CUstream stream,
                                 const collective_config* options) {
  return with_config(options, halfwarp_ncclGather, send, receive, count, type, root, comm, stream);
}

result halfwarp_ncclScatterConfig(const void* send, void* receive, std::size_t count,
                                  data_type type, int root, const void* comm, CUstream stream,
                                  const collective_config* options) {
  return with_config(options, halfwarp_ncclScatter, send, receive, count, type, root, comm, stream);
}

}  // extern "C"

}  // namespace halfwarp::emulated_nccl::api
