// SPDX-License-Identifier: Apache-2.0
#include "emulated_nccl/call/kinds.hpp"

#include <cstdio>

namespace halfwarp::emulated_nccl {
namespace {

using enum combination;

constexpr collective collectives[] = {
    {"ncclAllReduce", false, false, false, reduce},
    {"ncclReduce", false, true, false, reduce},
    {"ncclBroadcast", true, false, false, copy_root},
    {"ncclAllGather", false, false, false, copy_each},
    {"ncclReduceScatter", false, false, true, reduce},
    {"ncclAlltoAll", false, false, true, copy_each},
    {"ncclGather", false, true, false, copy_each},
    {"ncclScatter", true, false, true, copy_root},
};

struct type_entry {
  const char* name;
  std::size_t size;
};
constexpr type_entry types[] = {
    {"ncclInt8", 1},    {"ncclUint8", 1},    {"ncclInt32", 4},      {"ncclUint32", 4},
    {"ncclInt64", 8},   {"ncclUint64", 8},   {"ncclFloat16", 2},    {"ncclFloat32", 4},
    {"ncclFloat64", 8}, {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1},
};
static_assert(std::size(types) == type_count);

constexpr const char* reductions[] = {"ncclSum", "ncclProd", "ncclMax",
                                      "ncclMin", "ncclAvg",  "an operation of the program"};

}  // namespace

const collective& collective_of(call_kind kind) noexcept {
  return collectives[static_cast<std::size_t>(kind)];
}

bool sends(const message& call, int rank) noexcept {
  return !collective_of(call.kind).root_sends_only || call.root == rank;
}

bool receives(const message& call, int rank) noexcept {
  return !collective_of(call.kind).root_receives_only || call.root == rank;
}

std::uint64_t sent_elements(const message& call, int ranks) noexcept {
  return call.count * (collective_of(call.kind).has_parts ? static_cast<unsigned>(ranks) : 1);
}

std::uint64_t received_elements(const message& call, int ranks) noexcept {
  const bool is_gathered = collective_of(call.kind).combine == copy_each;
  return call.count * (is_gathered ? static_cast<unsigned>(ranks) : 1);
}

std::size_t size_of(data_type type) noexcept { return types[static_cast<std::size_t>(type)].size; }

const char* name_of(data_type type) noexcept { return types[static_cast<std::size_t>(type)].name; }

const char* name_of(call_kind kind) noexcept {
  if (is_collective(kind)) return collective_of(kind).name;
  return kind == call_kind::send ? "ncclSend" : "ncclRecv";
}

std::string describe_call(const message& call) {
  const bool is_pair = !is_collective(call.kind);
  const bool is_send = call.kind == call_kind::send;
  const bool reduces = !is_pair && collective_of(call.kind).combine == reduce;
  const char* const operation = reduces ? reductions[static_cast<std::size_t>(call.operation)] : "";
  char root[32] = "", text[160];
  const char* const role = !is_pair ? "root" : is_send ? "to rank" : "from rank";
  if (call.root >= 0) std::snprintf(root, sizeof root, ", %s %d", role, call.root);
  std::snprintf(text, sizeof text, "%s(count %llu, %s%s%s%s)", name_of(call.kind),
                static_cast<unsigned long long>(call.count), name_of(call.type),
                reduces ? ", " : "", operation, root);
  return text;
}

}  // namespace halfwarp::emulated_nccl
