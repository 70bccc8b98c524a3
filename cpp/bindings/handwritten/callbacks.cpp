// SPDX-License-Identifier: Apache-2.0
// Callbacks of the driver into user functions: trampolines that acquire the GIL.
#include "bindings/calls/engine.hpp"
#include "bindings/converters/frame.hpp"
#include "bindings/handwritten/handwritten.hpp"
#include "bindings/handwritten/python_callbacks.hpp"
#include "bindings/objects/class_type.hpp"
#include "bindings/threads/shared_objects.hpp"
#include "driver/driver_table.hpp"
#include "driver/runtime_table.hpp"
#include "interpreter/deferred_releases.hpp"
#include "interpreter/exit_gate.hpp"
#include "interpreter/lone_thread.hpp"
#include "interpreter/thread_state.hpp"

namespace halfwarp::bindings {
namespace {

// Owner of the record of a function and its data.
enum class life {
  one_shot,    // the trampoline, after its only call
  graph,       // the graph that a capture recorded it into
  registered,  // the function that unregisters it
};

struct callback {
  void* function;  // null: `owner.callable` is called
  void* data;
  life freed_by;
  word key;  // registered: the driver's handle
  callback* next;
  callback_owner owner;
};

void destroy(callback* record) {
  Py_XDECREF(record->owner.callable);
  Py_XDECREF(record->owner.argument);
  PyMem_RawFree(record);
}
constinit interpreter::deferred_releases<callback, destroy> finished;

// Frees a record, without the GIL unless it owns objects: the driver calls this from its own
// threads.
void release(void* pointer) {
  auto* record = static_cast<callback*>(pointer);
  if (!record->owner.callable) return PyMem_RawFree(record);
  const interpreter::gate_pass pass{interpreter::gate->enter()};
  if (pass.is_open()) finished.add(record);  // else the process exits
}

callback* make_callback(word function, word data, life freed_by) {
  interpreter::expect_callbacks();
  auto* record = static_cast<callback*>(PyMem_RawCalloc(1, sizeof(callback)));
  if (!record) {
    PyErr_NoMemory();
    return nullptr;
  }
  record->function = reinterpret_cast<void*>(function);
  record->data = reinterpret_cast<void*>(data);
  record->freed_by = freed_by;
  const callback_owner* owner = current_callback_owner;
  if (!owner || freed_by == life::registered) return record;
  record->owner = {Py_NewRef(owner->callable), Py_XNewRef(owner->argument), owner->lib,
                   owner->stream_type};
  if (owner->argument) record->function = nullptr;
  return record;
}

// Calls the C function, or the Python callable with the arguments' objects.
template <class... A>
void call_user(const callback& record, A... arguments) {
  if (record.function) return reinterpret_cast<void (*)(A...)>(record.function)(arguments...);
  if constexpr (requires { call_python(record.owner, arguments...); })
    call_python(record.owner, arguments...);
}

// Runs the user function with the GIL. While the interpreter exits, it is not called.
template <class... A>
void run(callback* record, A... arguments) {
  if (const interpreter::gate_pass pass{interpreter::gate->enter()}; pass.is_open()) {
    interpreter::retain_thread_state();
    const PyGILState_STATE state = PyGILState_Ensure();
    call_user(*record, arguments...);
    PyGILState_Release(state);
  }
  if (record->freed_by == life::one_shot) release(record);
}

void CUDA_CB host_trampoline(void* data) {
  auto* record = static_cast<callback*>(data);
  run(record, record->data);
}

template <class Result>
void CUDA_CB stream_trampoline(CUstream stream, Result status, void* data) {
  auto* record = static_cast<callback*>(data);
  run(record, stream, status, record->data);
}

template <class Info, class Handle>
void CUDA_CB async_trampoline(Info* info, void* data, Handle handle) {
  auto* record = static_cast<callback*>(data);
  run(record, info, record->data, handle);
}

void CUDA_CB logs_trampoline(void* data, CUlogLevel level, char* message, size_t length) {
  auto* record = static_cast<callback*>(data);
  run(record, record->data, level, message, length);
}

// ---- registered callbacks, by the handle from the driver

callback* registry;

void add_to_registry(callback* record, word key) {
  engine_lock lock;
  record->key = key;
  record->next = registry;
  registry = record;
}

// Live handles of the two kinds differ: each is an address in the driver.
callback* pop_from_registry(word key) {
  engine_lock lock;
  callback** link = &registry;
  while (*link && (*link)->key != key) link = &(*link)->next;
  callback* record = *link;
  if (record) *link = record->next;
  return record;
}

// ---- steps; `At` is the C position of the function, followed by its data

template <int At, class Trampoline>
bool wrap(frame& c, Trampoline trampoline, life freed_by) {
  if (!c.w[At]) return true;  // the driver rejects NULL
  callback* record = make_callback(c.w[At], c.w[At + 1], freed_by);
  if (!record) return false;
  c.w[At] = reinterpret_cast<word>(trampoline);
  c.w[At + 1] = reinterpret_cast<word>(record);
  return true;
}

template <int At, class Trampoline>
callback* wrapped(const frame& c, Trampoline trampoline) {
  return c.w[At] == reinterpret_cast<word>(trampoline) ? reinterpret_cast<callback*>(c.w[At + 1])
                                                       : nullptr;
}

// Driver names of the types and functions used below; `of_runtime` has the runtime names.
struct of_driver {
  using table = driver::driver_table;
  using status = CUstreamCaptureStatus;
  static constexpr auto active = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  static constexpr auto is_capturing = &table::cuStreamIsCapturing;
  static constexpr auto capture_info = &table::cuStreamGetCaptureInfo;
  static constexpr auto create_object = &table::cuUserObjectCreate;
  static constexpr auto retain_object = &table::cuGraphRetainUserObject;
};
struct of_runtime {
  using table = driver::runtime_table;
  using status = cudaStreamCaptureStatus;
  static constexpr auto active = cudaStreamCaptureStatusActive;
  static constexpr auto is_capturing = &table::cudaStreamIsCapturing;
  static constexpr auto capture_info = &table::cudaStreamGetCaptureInfo;
  static constexpr auto create_object = &table::cudaUserObjectCreate;
  static constexpr auto retain_object = &table::cudaGraphRetainUserObject;
};
static_assert(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC == int(cudaUserObjectNoDestructorSync) &&
              CU_GRAPH_USER_OBJECT_MOVE == int(cudaGraphUserObjectMove));

template <class Api>
const typename Api::table& table_of(const frame& c) {
  return *reinterpret_cast<const typename Api::table*>(c.lib.state->slots);
}

// Returns the graph that the stream is capturing into, nullptr if it is not capturing.
template <class Api>
CUgraph capturing_graph(const frame& c, CUstream stream) {
  typename Api::status status{};
  CUgraph graph = nullptr;
  const auto& table = table_of<Api>(c);
  if (int((table.*Api::is_capturing)(stream, &status)) || status != Api::active) return nullptr;
  auto code =
      (table.*Api::capture_info)(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr);
  return int(code) ? nullptr : graph;
}

// Transfers a record to the graph: a captured callback runs at every launch of the graph.
template <class Api>
bool move_to_graph(const frame& c, CUgraph graph, callback* record) {
  CUuserObject owner = nullptr;
  const auto& table = table_of<Api>(c);
  int code = int(
      (table.*Api::create_object)(&owner, record, release, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  if (!code) code = int((table.*Api::retain_object)(graph, owner, 1, CU_GRAPH_USER_OBJECT_MOVE));
  return !code;
}

template <class Api>
bool before_host_function(frame& c) {
  CUgraph graph = capturing_graph<Api>(c, reinterpret_cast<CUstream>(c.w[0]));
  if (PyErr_Occurred()) return false;
  if (!wrap<1>(c, host_trampoline, graph ? life::graph : life::one_shot)) return false;
  callback* record = wrapped<1>(c, host_trampoline);
  if (graph && record)
    move_to_graph<Api>(c, graph, record);  // on failure, the record leaks, which is safe
  return true;
}

// A rejected record that owns objects is destroyed at once: this thread may run any code.
template <int At, auto Trampoline>
bool release_rejected(frame& c, int code) {
  callback* record = code ? wrapped<At>(c, Trampoline) : nullptr;
  if (record && record->freed_by == life::one_shot) destroy(record);
  return true;
}

// Destroys completed records, then calls with a function or a Python callable.
PyObject* enter_callback(const library& lib, const function& f, PyObject* const* args, Py_ssize_t n,
                         PyObject* names) {
  finished.drain();
  return call_with_callable(lib, f, args, n, names);
}

template <int At, auto Trampoline, life FreedBy>
bool before_call(frame& c) {
  return wrap<At>(c, Trampoline, FreedBy);
}

template <int At, auto Trampoline>
bool after_registration(frame& c, int code) {
  callback* record = wrapped<At>(c, Trampoline);
  if (!record) return true;
  if (code) {
    release(record);
  } else {
    add_to_registry(record, *static_cast<word*>(as_handle(c.out[0])->data));
  }
  return true;
}

// Removes the record before the call: once the driver has released the handle, another thread may
// receive the same handle.
template <int At>
bool before_unregistration(frame& c) {
  c.cell[At] = reinterpret_cast<word>(pop_from_registry(c.w[At]));
  return true;
}

template <int At>
bool after_unregistration(frame& c, int code) {
  auto* record = reinterpret_cast<callback*>(c.cell[At]);
  if (record && code) add_to_registry(record, record->key);
  if (record && !code) release(record);
  return true;
}

}  // namespace

namespace handwritten {
namespace {

template <class Api>
constexpr handwritten_steps host_function = {.before = before_host_function<Api>,
                                             .after = release_rejected<1, host_trampoline>,
                                             .entry = enter_callback};
template <auto Trampoline>
constexpr handwritten_steps one_call = {.before = before_call<1, Trampoline, life::one_shot>,
                                        .after = release_rejected<1, Trampoline>,
                                        .entry = enter_callback};
template <auto Trampoline>
constexpr handwritten_steps registration = {.before = before_call<1, Trampoline, life::registered>,
                                            .after = after_registration<1, Trampoline>};
template <int At>
constexpr handwritten_steps unregistration = {.before = before_unregistration<At>,
                                              .after = after_unregistration<At>};

}  // namespace

const handwritten_steps launch_host_function = host_function<of_driver>;
const handwritten_steps launch_runtime_host_function = host_function<of_runtime>;
const handwritten_steps add_stream_callback = one_call<stream_trampoline<CUresult>>;
const handwritten_steps add_runtime_stream_callback = one_call<stream_trampoline<cudaError_t>>;
const handwritten_steps register_async_notification =
    registration<async_trampoline<CUasyncNotificationInfo, CUasyncCallbackHandle>>;
const handwritten_steps register_runtime_async_notification =
    registration<async_trampoline<cudaAsyncNotificationInfo_t, cudaAsyncCallbackHandle_t>>;
const handwritten_steps unregister_async_notification = unregistration<1>;
const handwritten_steps register_logs_callback = {
    .before = before_call<0, logs_trampoline, life::registered>,
    .after = after_registration<0, logs_trampoline>};
const handwritten_steps unregister_logs_callback = unregistration<0>;
}  // namespace handwritten

}  // namespace halfwarp::bindings
