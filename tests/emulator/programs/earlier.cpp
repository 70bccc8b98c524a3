// SPDX-License-Identifier: Apache-2.0
// A program of CUDA 12: functions with the prototypes and structures of that release.
#include <cstdio>

#include "host_code.hpp"

extern "C" {
int cudaRuntimeGetVersion(int* version);
int cudaMalloc(void** address, size_t bytes);
int cudaMallocManaged(void** address, size_t bytes, unsigned flags);
int cudaGetDeviceProperties_v2(void* properties, int device);
int cudaGetDeviceProperties(void* properties, int device);
int cudaPointerGetAttributes(void* attributes, const void* address);
int cudaMemAdvise(const void* address, size_t bytes, int advice, int device);
int cudaMemPrefetchAsync(const void* address, size_t bytes, int device, void* stream);
int cudaGraphCreate(void** graph, unsigned flags);
int cudaGraphAddEmptyNode(void** node, void* graph, void* const* dependencies, size_t count);
int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, size_t count);
int cudaGraphGetEdges(void* graph, void** from, void** to, size_t* count);
int cudaGraphGetEdges_v2(void* graph, void** from, void** to, void* edges, size_t* count);
int cudaStreamCreate(void** stream);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                                void* const** nodes, size_t* count);
int cudaThreadSynchronize(void);
}

namespace {

// Memory behind a structure must keep its pattern.
template <size_t Bytes>
struct guarded {
  guarded() { std::memset(bytes, 0x5a, sizeof bytes); }
  bool is_intact() const {
    for (size_t i = Bytes; i < sizeof bytes; ++i) {
      if (bytes[i] != 0x5a) return false;
    }
    return bytes[Bytes - 1] != 0x5a;  // the last member was written
  }
  template <class T>
  T at(size_t offset) const {
    T value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
  }
  alignas(8) unsigned char bytes[Bytes + 256];
};

void check_structures() {
  guarded<1032> properties;
  guarded<728> earlier;  // the form of CUDA 11
  guarded<24> pointer;
  void* address = nullptr;
  cudaGetDeviceProperties_v2(&properties, 0);
  cudaGetDeviceProperties(&earlier, 0);
  cudaMalloc(&address, 64);
  cudaPointerGetAttributes(&pointer, address);
  const int major = properties.at<int>(360);
  std::printf("%d %d %d %d %d\n", properties.is_intact(), earlier.is_intact(), major,
              pointer.is_intact(), pointer.at<void*>(8) == address);
}

void check_parameters() {
  void *memory = nullptr, *graph = nullptr, *nodes[2], *from = nullptr, *to = nullptr;
  char edge[8];
  size_t count = 0, again = 1;
  cudaMallocManaged(&memory, 4096, 1);
  const int advised = cudaMemAdvise(memory, 4096, 1, -1);
  const int fetched = cudaMemPrefetchAsync(memory, 4096, 0, nullptr);
  cudaGraphCreate(&graph, 0);
  for (void*& node : nodes) cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
  const int added = cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1);
  cudaGraphGetEdges(graph, nullptr, nullptr, &count);
  cudaGraphGetEdges_v2(graph, &from, &to, edge, &again);
  std::printf("%d %d %d %zu %d\n", advised, fetched, added, count,
              from == nodes[0] && to == nodes[1]);
}

void check_capture() {
  void *stream = nullptr, *graph = nullptr;
  void* const* nodes = nullptr;
  int status = 0;
  unsigned long long id = 0;
  size_t count = 9;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, 0);
  const int code = cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count);
  std::printf("%d %d %d %zu\n", code, status, graph != nullptr, count);
}

}  // namespace

int main() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  std::printf("%d %d\n", version, cudaThreadSynchronize());
  check_structures();
  check_parameters();
  check_capture();
}
