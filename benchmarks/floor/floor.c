/* SPDX-License-Identifier: Apache-2.0
 * The C floor: the driver's own cost of each row, as one JSON line per twin.
 *
 * cc -O2 -I<CUDA headers> floor.c -o floor <libcuda.so.1> -ldl
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 15, CALLS = 20000, MAX_ARGS = 64 };

static CUstream stream, other_stream;
static CUevent event;
static CUdeviceptr memory, other_memory;
static CUfunction kernels[4];
static CUgraph small_graph;
static CUgraphExec small_executable, large_executable;
static long long values[MAX_ARGS];
static void* pointers[MAX_ARGS];

static const char source[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry k0() { ret; }\n"
    ".visible .entry k4(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) { ret; }\n";

static void check(CUresult code, const char* operation) {
  if (code == CUDA_SUCCESS) return;
  fprintf(stderr, "floor: %s failed with %d\n", operation, (int)code);
  exit(1);
}

/* Queries the driver's entry points, as every binding does, so that each is called directly. */
#define DRIVER_FUNCTIONS(X)      \
  X(cuCtxGetCurrent)             \
  X(cuDeviceGetAttribute)        \
  X(cuStreamQuery)               \
  X(cuEventRecord)               \
  X(cuStreamWaitEvent)           \
  X(cuMemAllocAsync)             \
  X(cuMemFreeAsync)              \
  X(cuMemcpyAsync)               \
  X(cuMemsetD8Async)             \
  X(cuStreamCreateWithPriority)  \
  X(cuStreamDestroy)             \
  X(cuEventCreate)               \
  X(cuEventDestroy)              \
  X(cuLaunchKernelEx)            \
  X(cuGraphInstantiateWithFlags) \
  X(cuGraphExecDestroy)          \
  X(cuGraphLaunch)               \
  X(cuStreamSynchronize)

#define DECLARE(name) static __typeof__(&name) p_##name;
DRIVER_FUNCTIONS(DECLARE)

/* A driver rejects queries for a newer CUDA version than its own, so the older version is used. */
static int query_version(void) {
  int version;
  check(cuDriverGetVersion(&version), "cuDriverGetVersion");
  return version < CUDA_VERSION ? version : CUDA_VERSION;
}

static void* driver_function(const char* name) {
  void* entry;
  check(cuGetProcAddress(name, &entry, query_version(), 0, NULL), name);
  return entry;
}

#define RESOLVE(name) p_##name = driver_function(#name);
static void resolve(void) { DRIVER_FUNCTIONS(RESOLVE) }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static void time_calls(const char* name, void (*call)(void), int calls) {
  double best = 1e30;
  for (int r = 0; r < REPEATS; ++r) {
    const double start = now();
    for (int i = 0; i < calls; ++i) call();
    const double each = (now() - start) / calls;
    if (each < best) best = each;
    check(cuCtxSynchronize(), "cuCtxSynchronize");
  }
  printf("{\"row\": \"%s\", \"ns\": %.1f}\n", name, best);
}

static void time_twin(const char* name, void (*call)(void)) { time_calls(name, call, CALLS); }

static void ctx_get_current(void) {
  CUcontext c;
  p_cuCtxGetCurrent(&c);
}
static void device_get_attribute(void) {
  int v;
  p_cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);
}
static void stream_query(void) { p_cuStreamQuery(stream); }
static void event_record(void) { p_cuEventRecord(event, stream); }
static void stream_wait(void) { p_cuStreamWaitEvent(other_stream, event, 0); }
static void alloc_free_async(void) {
  CUdeviceptr p;
  p_cuMemAllocAsync(&p, 1024, stream);
  p_cuMemFreeAsync(p, stream);
}
static void memcpy_async(void) { p_cuMemcpyAsync(other_memory, memory, 1024, stream); }
static void memset_async(void) { p_cuMemsetD8Async(memory, 7, 1024, stream); }
static void stream_create_destroy(void) {
  CUstream s;
  p_cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, 0);
  p_cuStreamDestroy(s);
}
static void event_create_destroy(void) {
  CUevent e;
  p_cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
  p_cuEventDestroy(e);
}
static void event_create_record_destroy(void) {
  CUevent e;
  p_cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
  p_cuEventRecord(e, stream);
  p_cuEventDestroy(e);
}

static void launch(CUfunction kernel) {
  CUlaunchConfig config = {.gridDimX = 1,
                           .gridDimY = 1,
                           .gridDimZ = 1,
                           .blockDimX = 1,
                           .blockDimY = 1,
                           .blockDimZ = 1,
                           .hStream = stream};
  p_cuLaunchKernelEx(&config, kernel, pointers, NULL);
}
static void launch_0(void) { launch(kernels[0]); }
static void launch_4(void) { launch(kernels[1]); }
static void launch_16(void) { launch(kernels[2]); }
static void launch_64(void) { launch(kernels[3]); }

static void load_kernels(void) {
  static char text[4096];
  int n = snprintf(text, sizeof text, "%s", source);
  for (int count = 16; count <= MAX_ARGS; count *= 4) {
    n += snprintf(text + n, sizeof text - n, ".visible .entry k%d(", count);
    for (int i = 0; i < count; ++i)
      n += snprintf(text + n, sizeof text - n, "%s.param .u64 p%d", i ? ", " : "", i);
    n += snprintf(text + n, sizeof text - n, ") { ret; }\n");
  }
  CUmodule module;
  check(cuModuleLoadData(&module, text), "cuModuleLoadData");
  check(cuModuleGetFunction(&kernels[0], module, "k0"), "cuModuleGetFunction");
  check(cuModuleGetFunction(&kernels[1], module, "k4"), "cuModuleGetFunction");
  check(cuModuleGetFunction(&kernels[2], module, "k16"), "cuModuleGetFunction");
  check(cuModuleGetFunction(&kernels[3], module, "k64"), "cuModuleGetFunction");
  for (int i = 0; i < MAX_ARGS; ++i) pointers[i] = &values[i];
}

static void graph_launch(void) { p_cuGraphLaunch(small_executable, stream); }
static void graph_instantiate_destroy(void) {
  CUgraphExec e;
  p_cuGraphInstantiateWithFlags(&e, small_graph, 0);
  p_cuGraphExecDestroy(e);
}
static void graph_of_1000(void) {
  p_cuGraphLaunch(large_executable, stream);
  p_cuStreamSynchronize(stream);
}

/* A chain of kernels without arguments. */
static CUgraph make_graph(int count) {
  CUDA_KERNEL_NODE_PARAMS params = {.func = kernels[0],
                                    .gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 1,
                                    .blockDimY = 1,
                                    .blockDimZ = 1};
  CUgraph graph;
  CUgraphNode node = NULL, previous;
  check(cuGraphCreate(&graph, 0), "cuGraphCreate");
  for (int i = 0; i < count; ++i) {
    previous = node;
    check(cuGraphAddKernelNode(&node, graph, &previous, i > 0, &params), "cuGraphAddKernelNode");
  }
  return graph;
}

static void time_graphs(void) {
  small_graph = make_graph(1);
  check(cuGraphInstantiate(&small_executable, small_graph, 0), "cuGraphInstantiate");
  check(cuGraphInstantiate(&large_executable, make_graph(1000), 0), "cuGraphInstantiate");
  time_twin("graph_launch", graph_launch);
  time_calls("graph_instantiate_destroy", graph_instantiate_destroy, 1000);
  time_calls("graph_of_1000", graph_of_1000, 50);
}

/* The management library, loaded at run time because a machine may lack it. */
static void *nvml, *watched_device;
static int (*p_count)(void*), (*p_name)(void*, void*, unsigned);
static int (*p_memory)(void*, void*), (*p_utilization)(void*, void*);
static int (*p_temperature)(void*, void*), (*p_power)(void*, void*);

static void nvml_count(void) {
  unsigned n;
  p_count(&n);
}
static void nvml_name(void) {
  char name[96];
  p_name(watched_device, name, sizeof name);
}
static void nvml_memory(void) {
  long long memory[5] = {40 | 2 << 24};
  p_memory(watched_device, memory);
}
static void nvml_utilization(void) {
  unsigned rates[2];
  p_utilization(watched_device, rates);
}
static void nvml_temperature(void) {
  unsigned temperature[3] = {12 | 1 << 24};
  p_temperature(watched_device, temperature);
}
static void nvml_power(void) {
  unsigned milliwatts;
  p_power(watched_device, &milliwatts);
}

static void* nvml_function(const char* name) {
  void* entry = dlsym(nvml, name);
  check(entry ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND, name);
  return entry;
}

static void time_nvml(void) {
  nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (!nvml) return;
  int (*init)(void) = nvml_function("nvmlInit_v2");
  int (*by_index)(unsigned, void**) = nvml_function("nvmlDeviceGetHandleByIndex_v2");
  if (init() || by_index(0, &watched_device)) return;
  p_count = nvml_function("nvmlDeviceGetCount_v2");
  p_name = nvml_function("nvmlDeviceGetName");
  p_memory = nvml_function("nvmlDeviceGetMemoryInfo_v2");
  p_utilization = nvml_function("nvmlDeviceGetUtilizationRates");
  p_temperature = nvml_function("nvmlDeviceGetTemperatureV");
  p_power = nvml_function("nvmlDeviceGetPowerUsage");
  time_twin("nvml_count", nvml_count);
  time_twin("nvml_name", nvml_name);
  time_twin("nvml_memory", nvml_memory);
  time_twin("nvml_utilization", nvml_utilization);
  time_twin("nvml_temperature", nvml_temperature);
  time_twin("nvml_power", nvml_power);
}

int main(void) {
  CUcontext context;
  check(cuInit(0), "cuInit");
  resolve();
  check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  check(cuStreamCreate(&other_stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  check(cuEventRecord(event, stream), "cuEventRecord");
  check(cuMemAlloc(&memory, 1024), "cuMemAlloc");
  check(cuMemAlloc(&other_memory, 1024), "cuMemAlloc");
  load_kernels();
  time_twin("ctx_get_current", ctx_get_current);
  time_twin("device_get_attribute", device_get_attribute);
  time_twin("stream_query", stream_query);
  time_twin("event_record", event_record);
  time_twin("stream_wait", stream_wait);
  time_twin("alloc_free_async", alloc_free_async);
  time_twin("memcpy_async", memcpy_async);
  time_twin("memset_async", memset_async);
  time_twin("stream_create_destroy", stream_create_destroy);
  time_twin("event_create_destroy", event_create_destroy);
  time_twin("event_create_record_destroy", event_create_record_destroy);
  time_twin("launch_0", launch_0);
  time_twin("launch_4", launch_4);
  time_twin("launch_16", launch_16);
  time_twin("launch_64", launch_64);
  time_graphs();
  time_nvml();
  return 0;
}
