// SPDX-License-Identifier: Apache-2.0
// What is known of an address.
#include <cstring>
#include <optional>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/graph/graph_memory.hpp"

namespace halfwarp::emulator::api {
namespace {

using memory::allocation;

template <class Value>
void store(void* out, Value value) {
  std::memcpy(out, &value, sizeof value);
}

struct query {
  const call& c;
  const allocation& found;
  CUdeviceptr at;
};

template <class Value, Value (*Read)(const query&)>
void answer_with(const query& q, void* out) {
  store<Value>(out, Read(q));
}

CUcontext context_handle(const query& q) {
  return q.found.context == 0
             ? nullptr
             : reinterpret_cast<CUcontext>(handle::encode(object_kind::context, q.found.context));
}

unsigned memory_type(const query& q) {
  using enum memory::allocation_kind;
  const bool is_host =
      q.found.kind == pinned || q.found.kind == registered || q.found.kind == mapped_host;
  return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

void* host_pointer(const query& q) {
  require(is_host_visible(q.found.kind), CUDA_ERROR_INVALID_VALUE,
          "the host cannot reach device memory");
  return reinterpret_cast<void*>(q.at);
}

CUmemoryPool pool_handle(const query& q) {
  return q.found.pool == 0 ? nullptr
                           : reinterpret_cast<CUmemoryPool>(
                                 handle::encode(object_kind::memory_pool, q.found.pool));
}

CUdeviceptr device_pointer(const query& q) { return q.at; }
CUdeviceptr range_start(const query& q) { return q.found.base; }
std::size_t range_size(const query& q) { return q.found.size; }
unsigned long long buffer_id(const query& q) { return q.found.sequence; }
int ordinal(const query& q) { return q.found.device; }
bool is_managed(const query& q) { return q.found.kind == memory::allocation_kind::managed; }
bool is_synchronous(const query& q) { return has_sync_memops(q.c, q.at); }
bool yes(const query&) { return true; }
bool no(const query&) { return false; }
bool has_memory_handle(const query& q) {
  return q.found.kind == memory::allocation_kind::device && !q.found.is_imported;
}
unsigned long long handle_types(const query& q) {
  return q.found.is_shared ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
}
unsigned read_write(const query&) { return CU_MEM_ACCESS_FLAGS_PROT_READWRITE; }
int first_domain(const query&) { return 0; }

struct row {
  CUpointer_attribute attribute;
  void (*answer)(const query&, void*);
  std::size_t size;  // of the value
};

template <class Value, Value (*Read)(const query&)>
constexpr row make_row(CUpointer_attribute attribute) {
  return {attribute, &answer_with<Value, Read>, sizeof(Value)};
}

constexpr row rows[] = {
    make_row<CUcontext, context_handle>(CU_POINTER_ATTRIBUTE_CONTEXT),
    make_row<unsigned, memory_type>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
    make_row<CUdeviceptr, device_pointer>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER),
    make_row<void*, host_pointer>(CU_POINTER_ATTRIBUTE_HOST_POINTER),
    make_row<bool, is_synchronous>(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS),
    make_row<unsigned long long, buffer_id>(CU_POINTER_ATTRIBUTE_BUFFER_ID),
    make_row<bool, is_managed>(CU_POINTER_ATTRIBUTE_IS_MANAGED),
    make_row<int, ordinal>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL),
    make_row<bool, has_memory_handle>(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE),
    make_row<CUdeviceptr, range_start>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR),
    make_row<std::size_t, range_size>(CU_POINTER_ATTRIBUTE_RANGE_SIZE),
    make_row<bool, yes>(CU_POINTER_ATTRIBUTE_MAPPED),
    make_row<unsigned long long, handle_types>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES),
    make_row<bool, no>(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE),
    make_row<unsigned, read_write>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS),
    make_row<CUmemoryPool, pool_handle>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE),
    make_row<std::size_t, range_size>(CU_POINTER_ATTRIBUTE_MAPPING_SIZE),
    make_row<CUdeviceptr, range_start>(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR),
    make_row<unsigned long long, buffer_id>(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID),
    make_row<bool, no>(CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE),
    make_row<int, first_domain>(CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL),
};

const row& find_row(CUpointer_attribute attribute) {
  for (const auto& each : rows) {
    if (each.attribute == attribute) return each;
  }
  require(attribute != CU_POINTER_ATTRIBUTE_P2P_TOKENS, CUDA_ERROR_NOT_SUPPORTED,
          "the emulator has no tokens for other devices on the bus");
  refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such pointer attribute");
}

// Memory of a graph is known from the first upload or launch on.
std::optional<allocation> find_asked(const call& c, CUdeviceptr at) {
  auto found = c.d.memory.find_reserved_or_live(at);
  if (!found) return found;
  const auto of_graph = c.d.graph_memories.find(found->base);
  if (of_graph == c.d.graph_memories.end()) return found;
  const auto memory = of_graph->second.lock();
  return memory && !memory->was_mapped ? std::nullopt : found;
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute,
                               CUdeviceptr ptr) noexcept {
  return answer([&](call& c) {
    require_outputs(data);
    const auto& asked = find_row(attribute);
    const auto found = find_asked(c, ptr);
    require(found.has_value(), CUDA_ERROR_INVALID_VALUE,
            "the address was not allocated by, or registered with, the driver");
    asked.answer({c, *found, ptr}, data);
  });
}

// Unlike the single query, one for an unknown address succeeds, with zeros.
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes,
                                void** data, CUdeviceptr ptr) noexcept {
  return answer([&](call& c) {
    require_outputs(attributes, data);
    require(numAttributes > 0, CUDA_ERROR_INVALID_VALUE, "no attribute is asked for");
    const auto found = find_asked(c, ptr);
    for (unsigned i = 0; i < numAttributes; ++i) {
      const auto& asked = find_row(attributes[i]);
      require_outputs(data[i]);
      const bool is_absent = !found || (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
                                        !is_host_visible(found->kind));
      if (is_absent) {
        std::memset(data[i], 0, asked.size);
      } else {
        asked.answer({c, *found, ptr}, data[i]);
      }
      if (!found && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
        store<int>(data[i], CU_DEVICE_INVALID);
      }
    }
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr ptr) noexcept {
  return answer([&](call& c) {
    require_outputs(value);
    require(attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CUDA_ERROR_INVALID_VALUE,
            "this attribute cannot be set");
    const auto found = c.d.memory.find_live(ptr);
    require(found && !is_host_visible(found->kind), CUDA_ERROR_INVALID_VALUE,
            "the address is not in device memory");
    unsigned wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    if (wanted) {
      c.d.synchronous.insert(found->sequence);
    } else {
      c.d.synchronous.erase(found->sequence);
    }
  });
}

}  // namespace halfwarp::emulator::api
