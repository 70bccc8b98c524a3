// SPDX-License-Identifier: Apache-2.0
// Each function returns an error code, which is also the thread's last error.
#include "emulator/exec/builtin/device_runtime.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/device_queue.hpp"
#include "emulator/exec/schedule/state.hpp"
#include "emulator/memory/device_heap.hpp"

namespace halfwarp::emulator::exec {
namespace {

// Values of cudaError_t.
enum status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  too_deep = 65,
  too_many_pending = 69,
  invalid_function = 98,
  invalid_handle = 400,
  not_supported = 801,
};

struct error_texts {
  int error;
  const char *name, *text;
};
constexpr error_texts texts[] = {
    {success, "cudaSuccess", "no error"},
    {invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {out_of_memory, "cudaErrorMemoryAllocation", "out of memory"},
    {invalid_configuration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {too_deep, "cudaErrorLaunchMaxDepthExceeded",
     "launch would exceed maximum depth of nested launches"},
    {too_many_pending, "cudaErrorLaunchPendingCountExceeded",
     "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
    {invalid_function, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {invalid_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {not_supported, "cudaErrorNotSupported", "operation not supported"},
};
constexpr error_texts unknown_error = {-1, "unrecognized error code", "unrecognized error code"};

constexpr std::uint64_t tail_stream = 3, fire_and_forget_stream = 4;

// A call by one lane.
struct lane_call {
  warp& w;
  const instruction& instr;
  int lane;

  launch_state& launch() const { return *w.block->launch; }
  std::uint64_t argument(std::size_t n) const { return builtin_argument(w, instr, lane, n); }
  extent size_argument(std::size_t n) const {
    extent value;
    copy_builtin_argument(w, instr, lane, n, &value, sizeof value);
    return value;
  }
  // Stores an integer at the address that argument n gives.
  template <class T>
  void store(std::size_t n, T value) const {
    instruction any_space = instr;
    any_space.flags = 0;
    any_space.immediate = 0;
    const report::access_kind kind = report::access_kind::store;
    std::memcpy(locate_bytes(w, any_space, lane, argument(n), {kind, sizeof value}), &value,
                sizeof value);
  }
  device_queue& queue() const {
    launch_state& l = launch();
    const std::lock_guard guard{l.mutex};
    if (!l.children) {
      l.children = std::make_unique<device_queue>(l.space, l.request.entry->owner().device,
                                                  l.options.pending_launches);
    }
    return *l.children;
  }
  std::string site() const { return site_of(w, instr, lane); }
  std::uint64_t thread() const {
    const extent& size = launch().request.block;
    const std::uint64_t in_block =
        w.thread[0][lane] +
        size.x * (w.thread[1][lane] + std::uint64_t{size.y} * w.thread[2][lane]);
    return w.block->number * size.count() + in_block;
  }
};

using call_function = int (*)(const lane_call&);

template <call_function function>
void run_call(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) {
    const lane_call call{w, instr, lane};
    const int error = function(call);
    if (error != success) call.queue().set_error(call.thread(), error);
    set_builtin_result(w, instr, lane, static_cast<std::uint32_t>(error));
  });
}

// ---- launches

bool is_configuration_valid(const device_work& work) {
  const kernel_attributes& a = work.entry->attributes();
  const extent &grid = work.grid, &block = work.block, &cluster = work.cluster;
  constexpr std::uint32_t largest_axis = 65535, largest_shared = 227 << 10;
  const bool has_grid =
      grid.count() != 0 && grid.x <= 0x7FFFFFFF && grid.y <= largest_axis && grid.z <= largest_axis;
  const bool has_block = block.count() != 0 && block.x <= 1024 && block.y <= 1024 &&
                         block.z <= 64 && block.count() <= a.max_threads;
  const bool fits_required =
      a.required_block[0] == 0 || a.required_block == std::array{block.x, block.y, block.z};
  const bool has_clusters =
      grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
  return has_grid && has_block && fits_required && has_clusters &&
         std::uint64_t{a.static_shared_bytes} + work.dynamic_shared_bytes <= largest_shared;
}

int check_launch(const lane_call& call, const device_work& work) {
  if (!work.entry) return invalid_function;
  if (!is_configuration_valid(work)) return invalid_configuration;
  if (call.launch().request.nesting >= device_queue::most_nested) return too_deep;
  return success;
}

int submit(const lane_call& call, device_work work, std::uint64_t stream) {
  work.is_tail = stream == tail_stream;
  return call.queue().submit(std::move(work)) ? success : too_many_pending;
}

void set_kernel(const lane_call& call, std::uint64_t pointer, device_work& work) {
  work.entry = call.launch().request.entry->owner().kernel_at(pointer);
  if (!work.entry) return;
  const auto& cluster = work.entry->attributes().cluster;
  for (auto [from, to] : {std::pair{cluster[0], &work.cluster.x},
                          {cluster[1], &work.cluster.y},
                          {cluster[2], &work.cluster.z}}) {
    *to = std::max(from, 1u);
  }
}

// Returns a buffer, or null with the thread's last error set.
std::uint64_t prepare(const lane_call& call, device_work work, std::size_t bytes) {
  device_queue& queue = call.queue();
  const bool is_full = queue.is_full();
  if (!is_full) {
    if (const auto buffer = queue.prepare(std::move(work), bytes)) return *buffer;
  }
  queue.set_error(call.thread(), is_full ? too_many_pending : out_of_memory);
  return 0;
}

// GetParameterBufferV2(function, grid, block, shared bytes) -> buffer
void run_get_buffer_of_launch(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) {
    const lane_call call{w, instr, lane};
    device_work work;
    work.grid = call.size_argument(1);
    work.block = call.size_argument(2);
    work.dynamic_shared_bytes = static_cast<std::uint32_t>(call.argument(3));
    set_kernel(call, call.argument(0), work);
    std::uint64_t buffer = 0;
    if (const int error = check_launch(call, work)) {
      call.queue().set_error(call.thread(), error);
    } else {
      const std::size_t bytes = work.entry->attributes().parameter_bytes;
      buffer = prepare(call, std::move(work), bytes);
    }
    set_builtin_result(w, instr, lane, buffer);
  });
}

// GetParameterBuffer(alignment, bytes) -> buffer
void run_get_buffer(warp& w, const instruction& instr) {
  constexpr std::uint64_t most_bytes = 32764;  // of the parameters of a kernel
  for_each_lane(w.active, [&](int lane) {
    const lane_call call{w, instr, lane};
    const std::uint64_t bytes = call.argument(1);
    const bool is_valid = call.argument(0) <= memory::alignment && bytes <= most_bytes;
    if (!is_valid) call.queue().set_error(call.thread(), invalid_value);
    set_builtin_result(w, instr, lane, is_valid ? prepare(call, {}, bytes) : 0);
  });
}

// LaunchDeviceV2(buffer, stream)
int launch_prepared(const lane_call& call) {
  auto work = call.queue().take(call.argument(0));
  if (!work || !work->entry) return invalid_value;
  return submit(call, std::move(*work), call.argument(1));
}

// LaunchDevice(function, buffer, grid, block, shared bytes, stream)
int launch_device(const lane_call& call) {
  auto work = call.queue().take(call.argument(1));
  if (!work) return invalid_value;
  work->grid = call.size_argument(2);
  work->block = call.size_argument(3);
  work->dynamic_shared_bytes = static_cast<std::uint32_t>(call.argument(4));
  set_kernel(call, call.argument(0), *work);
  if (const int error = check_launch(call, *work)) return error;
  if (work->parameters.size() < work->entry->attributes().parameter_bytes) return invalid_value;
  return submit(call, std::move(*work), call.argument(5));
}

// ---- copies, fills and memory

bool is_accessible(const lane_call& call, std::uint64_t first, std::uint64_t bytes, bool is_write) {
  const launch_state& l = call.launch();
  return !l.space.check(first, bytes, l.request.entry->owner().device, is_write);
}

// MemcpyAsync(to, from, bytes, kind, stream)
int copy_async(const lane_call& call) {
  device_work work;
  work.to = call.argument(0);
  work.from = call.argument(1);
  work.bytes = call.argument(2);
  const bool is_valid = is_accessible(call, work.to, work.bytes, true) &&
                        is_accessible(call, work.from, work.bytes, false);
  return is_valid ? submit(call, std::move(work), call.argument(4)) : invalid_value;
}

// MemsetAsync(to, value, bytes, stream)
int fill_async(const lane_call& call) {
  device_work work;
  work.to = call.argument(0);
  work.fill = static_cast<std::uint8_t>(call.argument(1));
  work.bytes = call.argument(2);
  if (!is_accessible(call, work.to, work.bytes, true)) return invalid_value;
  return submit(call, std::move(work), call.argument(3));
}

// Malloc(&address, bytes)
int allocate(const lane_call& call) {
  launch_state& l = call.launch();
  if (!l.options.heap) return out_of_memory;
  const auto address = l.options.heap->allocate(
      l.space, call.argument(1), l.request.entry->owner().device, l.options.context, call.site());
  call.store(0, address.value_or(0));
  return address ? success : out_of_memory;
}

// Free(address)
int release(const lane_call& call) {
  launch_state& l = call.launch();
  const std::uint64_t address = call.argument(0);
  if (address == 0) return success;
  if (!l.options.heap) return invalid_value;
  const auto freed = l.options.heap->release(l.space, address, call.site());
  return freed.status == memory::free_status::done ? success : invalid_value;
}

// ---- streams, events, errors and properties

int create_handle(const lane_call& call) {
  call.store(0, call.queue().new_handle());
  return success;
}

template <std::size_t n>
int check_handle(const lane_call& call) {
  return call.argument(n) > fire_and_forget_stream ? success : invalid_handle;
}

int get_error(const lane_call& call) { return call.queue().error_of(call.thread(), true); }
int peek_error(const lane_call& call) { return call.queue().error_of(call.thread(), false); }

// A call that returns the last error does not set it.
template <call_function function>
void run_error_query(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) {
    const int error = function({w, instr, lane});
    set_builtin_result(w, instr, lane, static_cast<std::uint32_t>(error));
  });
}

// Get...(error) -> text in memory of the device
template <const char* error_texts::*member>
void run_error_text(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) {
    const lane_call call{w, instr, lane};
    const int error = static_cast<int>(call.argument(0));
    const auto* match = std::ranges::find(texts, error, &error_texts::error);
    if (match == std::end(texts)) match = &unknown_error;
    set_builtin_result(w, instr, lane, call.queue().text(match->*member).value_or(0));
  });
}

int get_device(const lane_call& call) {
  call.store(0, call.launch().request.entry->owner().device);
  return success;
}

int get_device_count(const lane_call& call) {
  call.store(0, call.launch().space.devices());
  return success;
}

int get_version(const lane_call& call) {
  call.store(0, CUDA_VERSION);
  return success;
}

// DeviceGetLimit(&value, limit)
int get_limit(const lane_call& call) {
  const run_options& options = call.launch().options;
  switch (call.argument(1)) {
    case CU_LIMIT_STACK_SIZE:
      call.store(0, std::uint64_t{options.stack_bytes});
      return success;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      call.store(0, options.heap ? options.heap->limit() : std::uint64_t{0});
      return success;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
      call.store(0, options.pending_launches);
      return success;
    default:
      return not_supported;
  }
}

constexpr builtin_function functions[] = {
    {"DeviceGetLimit", &run_call<get_limit>, {8, 4}, 4},
    {"EventCreateWithFlags", &run_call<create_handle>, {8, 4}, 4},
    {"EventDestroy", &run_call<check_handle<0>>, {8}, 4},
    {"EventRecord", &run_call<check_handle<0>>, {8, 8}, 4},
    {"EventRecordWithFlags", &run_call<check_handle<0>>, {8, 8, 4}, 4},
    {"Free", &run_call<release>, {8}, 4},
    {"GetDevice", &run_call<get_device>, {8}, 4},
    {"GetDeviceCount", &run_call<get_device_count>, {8}, 4},
    {"GetErrorName", &run_error_text<&error_texts::name>, {4}, 8},
    {"GetErrorString", &run_error_text<&error_texts::text>, {4}, 8},
    {"GetLastError", &run_error_query<get_error>, {}, 4},
    {"GetParameterBuffer", &run_get_buffer, {8, 8}, 8},
    {"GetParameterBufferV2", &run_get_buffer_of_launch, {8, 12, 12, 4}, 8},
    {"LaunchDevice", &run_call<launch_device>, {8, 8, 12, 12, 4, 8}, 4},
    {"LaunchDeviceV2", &run_call<launch_prepared>, {8, 8}, 4},
    {"Malloc", &run_call<allocate>, {8, 8}, 4},
    {"MemcpyAsync", &run_call<copy_async>, {8, 8, 8, 4, 8}, 4},
    {"MemsetAsync", &run_call<fill_async>, {8, 4, 8, 8}, 4},
    {"PeekAtLastError", &run_error_query<peek_error>, {}, 4},
    {"RuntimeGetVersion", &run_call<get_version>, {8}, 4},
    {"StreamCreateWithFlags", &run_call<create_handle>, {8, 4}, 4},
    {"StreamDestroy", &run_call<check_handle<0>>, {8}, 4},
    {"StreamWaitEvent", &run_call<check_handle<1>>, {8, 8, 4}, 4},
};

}  // namespace

const builtin_function* find_device_runtime(std::string_view name) noexcept {
  constexpr std::string_view per_thread = "_ptsz";
  for (const std::string_view prefix : {"__cudaCDP2", "cuda"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.ends_with(per_thread)) name.remove_suffix(per_thread.size());
    const auto* const match = std::ranges::find(functions, name, &builtin_function::name);
    return match == std::end(functions) ? nullptr : match;
  }
  return nullptr;
}

}  // namespace halfwarp::emulator::exec
