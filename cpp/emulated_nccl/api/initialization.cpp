// SPDX-License-Identifier: Apache-2.0
// Creation of communicators.
#include <algorithm>
#include <span>
#include <vector>

#include "emulated_nccl/api/entry.hpp"
#include "emulated_nccl/communicator/joining.hpp"
#include "emulated_nccl/process/driver.hpp"

namespace halfwarp::emulated_nccl::api {
namespace {

// The size of the configuration of the first release that has one.
constexpr std::size_t smallest_config = 24;

result read_config(const config* source, communicator& target) {
  if (!source) return result::success;
  if (source->magic != magic || source->size < smallest_config) {
    return fail(result::invalid_argument,
                "the configuration was not initialized by NCCL_CONFIG_INITIALIZER");
  }
  const int blocking = source->blocking;
  if (blocking != undefined_int && blocking != 0 && blocking != 1) {
    return failf(result::invalid_argument, "the configuration's `blocking` is %d, not 0 or 1",
                 blocking);
  }
  if (blocking != undefined_int) target.is_blocking = blocking == 1;
  return result::success;
}

int current_device() {
  CUdevice device = 0;  // as the runtime, without a current context
  return driver()->current_device(&device) == CUDA_SUCCESS ? device : 0;
}

// Publishes the communicator and initializes it, or adds it to the open group.
result initialize_rank(const communicator_ref& created, communicator** out) {
  *out = publish(created);
  const auto code = group::add_initialization(created);
  if (code != result::success) {
    record_error(created->error_text());
    retract(*out);
    *out = nullptr;
    return code;
  }
  return created->is_blocking || group::is_open() ? result::success : result::in_progress;
}

// A communicator whose ranks are known.
result create(const segment_name& name, int ranks, int rank, int device, const config* options,
              communicator_ref& out) {
  if (!name.is_valid()) {
    return fail(result::invalid_argument,
                "the unique id is not from ncclGetUniqueId of the emulated NCCL");
  }
  if (ranks < 1 || ranks > max_ranks || rank < 0 || rank >= ranks) {
    return failf(result::invalid_argument,
                 "rank %d of %d is invalid; the emulation has 1 to %d ranks", rank, ranks,
                 max_ranks);
  }
  out = std::make_shared<communicator>();
  out->name = name;
  out->ranks = ranks;
  out->rank = rank;
  out->device = device;
  out->initializing = std::make_unique<joining>(*out);
  if (const auto code = read_config(options, *out); code != result::success) return code;
  return prepare(*out);
}

result init_rank(communicator** out, int ranks, const unique_id& id, int rank,
                 const config* options, const char* call) {
  if (const auto code = require(out, call); code != result::success) return code;
  *out = nullptr;
  if (!initialize()) return result::cuda_error;
  communicator_ref created;
  const auto name = segment_name::from(id);
  const auto code = create(name, ranks, rank, current_device(), options, created);
  return code == result::success ? initialize_rank(created, out) : code;
}

result init_all(communicator** out, int count, const int* devices) {
  if (const auto code = require(out, "ncclCommInitAll"); code != result::success) return code;
  if (!initialize()) return result::cuda_error;
  int available;
  if (const auto code = check(driver()->count_devices(&available), "cuDeviceGetCount");
      code != result::success) {
    return code;
  }
  if (count < 1 || count > available) {
    return failf(
        result::invalid_argument,
        "ncclCommInitAll for %d devices; there are %d (`halfwarp emulate exec --devices N`)", count,
        available);
  }
  const auto name = segment_name::create();
  std::vector<communicator_ref> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int device = devices ? devices[i] : i;
    if (device < 0 || device >= available) {
      return failf(result::invalid_argument, "there is no device %d", device);
    }
    const auto code = create(name, count, i, device, nullptr, all[static_cast<std::size_t>(i)]);
    if (code != result::success) return code;
  }
  group::start();
  for (const auto& each : all) group::add_initialization(each);
  const auto code = group::end();
  for (int i = 0; i < count; ++i) {
    out[i] = code == result::success ? publish(all[static_cast<std::size_t>(i)]) : nullptr;
  }
  return code;
}

result split(void* parent_handle, int color, int key, communicator** out, const config* options) {
  if (const auto code = require(out, "ncclCommSplit"); code != result::success) return code;
  *out = nullptr;
  communicator_ref parent;
  if (const auto code = find_usable(parent_handle, parent); code != result::success) return code;
  if (color < no_color) {
    return failf(result::invalid_argument, "ncclCommSplit: color %d is negative", color);
  }
  const auto created = std::make_shared<communicator>();
  created->device = parent->device;
  created->is_blocking = parent->is_blocking;
  created->initializing = std::make_unique<joining>(*created, parent, color, key);
  auto code = read_config(options, *created);
  if (code == result::success) code = prepare(*created);
  if (code != result::success) return code;
  if (color != no_color) return initialize_rank(created, out);
  return group::add_initialization(created);  // takes part in the exchange only
}

result shrink(void* parent_handle, const int* excluded, int count, communicator** out,
              const config* options, int flags) {
  if (const auto code = require(out, "ncclCommShrink"); code != result::success) return code;
  *out = nullptr;
  const auto parent = find_communicator(parent_handle);
  if (!parent) return result::invalid_argument;
  if (!excluded || count < 1 || flags < 0 || flags > 1) {
    return fail(result::invalid_argument,
                "ncclCommShrink needs ranks to exclude, and flags 0 or 1");
  }
  if (flags == 1) {
    parent->is_aborted = true;
  } else if (const auto code = parent->error(); code != result::success && !parent->is_revoked) {
    record_error(parent->error_text());
    return code;
  }
  std::vector<bool> is_removed(static_cast<std::size_t>(parent->ranks));
  for (const int each : std::span{excluded, static_cast<std::size_t>(count)}) {
    if (each < 0 || each >= parent->ranks || each == parent->rank) {
      return fail(result::invalid_argument,
                  "ncclCommShrink: an excluded rank does not exist, or is the calling rank");
    }
    is_removed[static_cast<std::size_t>(each)] = true;
  }
  auto name = parent->name.child(parent->children++, std::uint64_t{1} << 40);
  int rank = parent->rank, ranks = parent->ranks;
  for (int i = 0; i < parent->ranks; ++i) {
    if (!is_removed[static_cast<std::size_t>(i)]) continue;
    name = name.child(static_cast<std::uint64_t>(i), std::uint64_t{2} << 40);
    rank -= i < parent->rank;
    --ranks;
  }
  communicator_ref created;
  const auto code = create(name, ranks, rank, parent->device, options, created);
  if (code != result::success) return code;
  if (!options) created->is_blocking = parent->is_blocking;
  return initialize_rank(created, out);
}

// The name of the next larger communicator. All ranks compute the same one.
segment_name grown_name(const communicator& parent) {
  return parent.name.child(parent.children, std::uint64_t{3} << 40);
}

result grow(void* parent_handle, int ranks, const unique_id* id, int rank, communicator** out,
            const config* options) {
  if (const auto code = require(out, "ncclCommGrow"); code != result::success) return code;
  *out = nullptr;
  if (!initialize()) return result::cuda_error;
  if (!parent_handle) {
    if (!id) return fail(result::invalid_argument, "ncclCommGrow: a new rank needs the unique id");
    return init_rank(out, ranks, *id, rank, options, "ncclCommGrow");
  }
  communicator_ref parent, created;
  if (const auto code = find_usable(parent_handle, parent); code != result::success) return code;
  if (ranks <= parent->ranks) {
    return failf(result::invalid_argument, "ncclCommGrow to %d ranks from %d", ranks,
                 parent->ranks);
  }
  const auto code =
      create(grown_name(*parent), ranks, parent->rank, parent->device, options, created);
  if (code != result::success) return code;
  ++parent->children;
  return initialize_rank(created, out);
}

}  // namespace

extern "C" {

result halfwarp_ncclGetUniqueId(unique_id* id) {
  return run([&] {
    if (const auto code = require(id, "ncclGetUniqueId"); code != result::success) return code;
    if (!initialize()) return result::cuda_error;
    *id = segment_name::create().as_id();
    return result::success;
  });
}

result halfwarp_ncclCommInitAll(communicator** comm, int ndev, const int* devlist) {
  return run([&] { return init_all(comm, ndev, devlist); });
}

result halfwarp_ncclCommInitRank(communicator** comm, int nranks, unique_id id, int rank) {
  return run([&] { return init_rank(comm, nranks, id, rank, nullptr, "ncclCommInitRank"); });
}

result halfwarp_ncclCommInitRankConfig(communicator** comm, int nranks, unique_id id, int rank,
                                       const config* options) {
  return run([&] { return init_rank(comm, nranks, id, rank, options, "ncclCommInitRankConfig"); });
}

// All ranks pass the same ids, so the first one names the communicator.
result halfwarp_ncclCommInitRankScalable(communicator** comm, int nranks, int rank, int count,
                                         const unique_id* ids, const config* options) {
  return run([&] {
    if (!ids || count < 1) {
      return fail(result::invalid_argument, "ncclCommInitRankScalable needs at least one id");
    }
    return init_rank(comm, nranks, ids[0], rank, options, "ncclCommInitRankScalable");
  });
}

result halfwarp_ncclCommSplit(void* comm, int color, int key, communicator** out,
                              const config* options) {
  return run([&] { return split(comm, color, key, out, options); });
}

result halfwarp_ncclCommShrink(void* comm, const int* excluded, int count, communicator** out,
                               const config* options, int flags) {
  return run([&] { return shrink(comm, excluded, count, out, options, flags); });
}

result halfwarp_ncclCommGetUniqueId(void* comm, unique_id* id) {
  return run([&] {
    communicator_ref parent;
    if (const auto code = require(id, "ncclCommGetUniqueId"); code != result::success) return code;
    if (const auto code = find_usable(comm, parent); code != result::success) return code;
    *id = grown_name(*parent).as_id();
    return result::success;
  });
}

result halfwarp_ncclCommGrow(void* comm, int nranks, const unique_id* id, int rank,
                             communicator** out, const config* options) {
  return run([&] { return grow(comm, nranks, id, rank, out, options); });
}

}  // extern "C"

}  // namespace halfwarp::emulated_nccl::api
