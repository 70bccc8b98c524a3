// SPDX-License-Identifier: Apache-2.0
// A fake driver for cpp/core: it returns numbered handles and records each call.
#include "core/fake_driver.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace halfwarp::core::testing {
namespace {

std::mutex guard;  // handles are destroyed on several threads
fake_driver state;

CUresult note(const char* name) {
  const std::lock_guard lock{guard};
  state.calls.emplace_back(name);
  if (const auto other = state.results.find(name); other != state.results.end()) {
    return other->second;
  }
  return state.failing == name ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

template <class Raw>
CUresult create(const char* name, Raw* handle_out) {
  const CUresult code = note(name);
  const std::lock_guard lock{guard};
  if (code == CUDA_SUCCESS) *handle_out = raw_handle<Raw>(state.next_handle += 0x10);
  return code;
}

CUresult get_current(CUcontext* context) {
  *context = state.current;
  return note("cuCtxGetCurrent");
}

CUresult get_id(CUcontext, unsigned long long* id) {
  *id = state.context_id;
  return CUDA_SUCCESS;
}

CUresult exchange_mode(CUstreamCaptureMode* mode) {
  const std::lock_guard lock{guard};
  std::swap(*mode, state.mode);
  return CUDA_SUCCESS;
}

CUresult push(CUcontext context) {
  const CUresult code = note("cuCtxPushCurrent");
  if (code == CUDA_SUCCESS) state.current = context;
  return code;
}

CUresult pop(CUcontext* context) {
  *context = state.current;
  state.current = nullptr;
  return note("cuCtxPopCurrent");
}

CUresult get_device(CUdevice* device) {
  *device = 3;
  return note("cuCtxGetDevice");
}

CUresult retain(CUcontext* context, CUdevice) {
  *context = raw_handle<CUcontext>(primary_context);
  return note("cuDevicePrimaryCtxRetain");
}

CUresult release(CUdevice) {
  state.mode_of_release = state.mode;
  return note("cuDevicePrimaryCtxRelease");
}

CUresult get_state(CUdevice, unsigned* flags, int* is_active) {
  *flags = 0;
  *is_active = state.is_primary_active ? 1 : 0;
  return note("cuDevicePrimaryCtxGetState");
}

CUresult get_priorities(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return note("cuCtxGetStreamPriorityRange");
}

CUresult create_stream(CUstream* stream, unsigned, int) {
  return create("cuStreamCreateWithPriority", stream);
}

CUresult destroy_stream(CUstream) { return note("cuStreamDestroy"); }

CUresult get_stream_context(CUstream, CUcontext* context) {
  *context = raw_handle<CUcontext>(primary_context);
  return note("cuStreamGetCtx");
}

CUresult get_stream_flags(CUstream, unsigned* flags) {
  *flags = CU_STREAM_NON_BLOCKING;
  return note("cuStreamGetFlags");
}

CUresult get_stream_priority(CUstream, int* priority) {
  *priority = -1;
  return note("cuStreamGetPriority");
}

CUresult wait_event(CUstream, CUevent, unsigned) { return note("cuStreamWaitEvent"); }

CUresult create_event(CUevent* event, unsigned) { return create("cuEventCreate", event); }

CUresult destroy_event(CUevent) { return note("cuEventDestroy"); }

CUresult record_event(CUevent, CUstream) { return note("cuEventRecord"); }

CUresult synchronize_stream(CUstream) { return note("cuStreamSynchronize"); }

CUresult get_capture_status(CUstream stream, CUstreamCaptureStatus* status) {
  const bool is_captured = state.captured != nullptr && stream == state.captured;
  *status = is_captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return note("cuStreamIsCapturing");
}

CUresult free_in_order(CUdeviceptr, CUstream) { return note("cuMemFreeAsync"); }

CUresult free_memory(CUdeviceptr) { return note("cuMemFree"); }

CUresult free_host_memory(void*) { return note("cuMemFreeHost"); }

CUresult get_error_name(CUresult, const char** name) {
  *name = "CUDA_ERROR_UNKNOWN";
  return CUDA_SUCCESS;
}

driver::driver_table make_table() {
  driver::driver_table table{};
  table.cuCtxGetCurrent = &get_current;
  table.cuCtxGetId = &get_id;
  table.cuThreadExchangeStreamCaptureMode = &exchange_mode;
  table.cuCtxPushCurrent = &push;
  table.cuCtxPopCurrent = &pop;
  table.cuCtxGetDevice = &get_device;
  table.cuCtxGetStreamPriorityRange = &get_priorities;
  table.cuDevicePrimaryCtxRetain = &retain;
  table.cuDevicePrimaryCtxRelease = &release;
  table.cuDevicePrimaryCtxGetState = &get_state;
  table.cuStreamCreateWithPriority = &create_stream;
  table.cuStreamDestroy = &destroy_stream;
  table.cuStreamGetCtx = &get_stream_context;
  table.cuStreamGetFlags = &get_stream_flags;
  table.cuStreamGetPriority = &get_stream_priority;
  table.cuStreamWaitEvent = &wait_event;
  table.cuEventCreate = &create_event;
  table.cuEventDestroy = &destroy_event;
  table.cuEventRecord = &record_event;
  table.cuStreamSynchronize = &synchronize_stream;
  table.cuStreamIsCapturing = &get_capture_status;
  table.cuMemFreeAsync = &free_in_order;
  table.cuMemFree = &free_memory;
  table.cuMemFreeHost = &free_host_memory;
  table.cuGetErrorName = &get_error_name;
  return table;
}

}  // namespace

int fake_driver::count(const std::string& name) const {
  return static_cast<int>(std::ranges::count(calls, name));
}

fake_driver& fake() { return state; }

void core_test::SetUp() {
  static const driver::driver_table table = make_table();
  static driver::loader_api api{};
  api.table = [](const char*) { return reinterpret_cast<void* const*>(&table); };
  api.name_of = [](driver::library_id, const void*) { return "a fake"; };
  driver::attach(&api);
  state = fake_driver{};
}

}  // namespace halfwarp::core::testing
