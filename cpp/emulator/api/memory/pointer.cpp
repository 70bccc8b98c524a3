// SPDX-License-Identifier: Apache-2.0
// Pointer attributes.
#include <cstring>
#include <optional>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"
#include "emulator/graph/graph_memory.hpp"

namespace halfwarp::emulator::api {
namespace {

template <class Value>
void store(void* out, Value value) {
  std::memcpy(out, &value, sizeof value);
}

struct query {
  const call& c;
  const memory::allocation& allocation;
  CUdeviceptr address;
};

template <class Value, Value (*Read)(const query&)>
void write_value(const query& q, void* out) {
  store<Value>(out, Read(q));
}

CUcontext context_handle(const query& q) {
  return q.allocation.context == 0 ? nullptr
                                   : reinterpret_cast<CUcontext>(handle::encode(
                                         object_kind::context, q.allocation.context));
}

unsigned memory_type(const query& q) {
  using enum memory::allocation_kind;
  const bool is_host = q.allocation.kind == pinned || q.allocation.kind == registered ||
                       q.allocation.kind == mapped_host;
  return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

void* host_pointer(const query& q) {
  require(is_host_visible(q.allocation.kind), CUDA_ERROR_INVALID_VALUE,
          "the host cannot access device memory");
  return reinterpret_cast<void*>(q.address);
}

CUmemoryPool pool_handle(const query& q) {
  return q.allocation.pool == 0 ? nullptr
                                : reinterpret_cast<CUmemoryPool>(
                                      handle::encode(object_kind::memory_pool, q.allocation.pool));
}

CUdeviceptr device_pointer(const query& q) { return q.address; }
CUdeviceptr range_start(const query& q) { return q.allocation.base; }
std::size_t range_size(const query& q) { return q.allocation.size; }
unsigned long long buffer_id(const query& q) { return q.allocation.sequence; }
int ordinal(const query& q) { return q.allocation.device; }
bool is_managed(const query& q) { return q.allocation.kind == memory::allocation_kind::managed; }
bool is_synchronous(const query& q) { return has_sync_memops(q.c, q.address); }
bool always_true(const query&) { return true; }
bool always_false(const query&) { return false; }
bool has_memory_handle(const query& q) {
  return q.allocation.kind == memory::allocation_kind::device && !q.allocation.is_imported;
}
unsigned long long handle_types(const query& q) {
  return q.allocation.is_shared ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                : CU_MEM_HANDLE_TYPE_NONE;
}
unsigned read_write(const query&) { return CU_MEM_ACCESS_FLAGS_PROT_READWRITE; }
int no_domain(const query&) { return -1; }  // as cuda.h has it for memory of a whole device

struct row {
  CUpointer_attribute attribute;
  void (*write)(const query&, void*);
  std::size_t size;  // bytes of the value
};

template <class Value, Value (*Read)(const query&)>
constexpr row make_row(CUpointer_attribute attribute) {
  return {attribute, &write_value<Value, Read>, sizeof(Value)};
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
    make_row<bool, always_true>(CU_POINTER_ATTRIBUTE_MAPPED),
    make_row<unsigned long long, handle_types>(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES),
    make_row<bool, always_false>(CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE),
    make_row<unsigned, read_write>(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS),
    make_row<CUmemoryPool, pool_handle>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE),
    make_row<std::size_t, range_size>(CU_POINTER_ATTRIBUTE_MAPPING_SIZE),
    make_row<CUdeviceptr, range_start>(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR),
    make_row<unsigned long long, buffer_id>(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID),
    make_row<bool, always_false>(CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE),
    make_row<int, no_domain>(CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL),
};

const row& find_row(CUpointer_attribute attribute) {
  for (const auto& each : rows) {
    if (each.attribute == attribute) return each;
  }
  require(attribute != CU_POINTER_ATTRIBUTE_P2P_TOKENS, CUDA_ERROR_NOT_SUPPORTED,
          "the emulator does not support P2P tokens");
  refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such pointer attribute");
}

// Finds the allocation of an address. Memory of a graph is unknown before an upload or launch.
std::optional<memory::allocation> find_known(const call& c, CUdeviceptr address) {
  auto match = c.d.memory.find_reserved_or_live(address);
  if (!match) return match;
  const auto graph_match = c.d.graph_memories.find(match->base);
  if (graph_match == c.d.graph_memories.end()) return match;
  const auto memory = graph_match->second.lock();
  return memory && !memory->was_mapped ? std::nullopt : match;
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute,
                               CUdeviceptr ptr) noexcept {
  return run_locked([&](call& c) {
    require_outputs(data);
    const auto& entry = find_row(attribute);
    const auto match = find_known(c, ptr);
    require(match.has_value(), CUDA_ERROR_INVALID_VALUE,
            "the address was not allocated by, or registered with, the driver");
    entry.write({c, *match, ptr}, data);
  });
}

// Succeeds with zeros for an unknown address, unlike cuPointerGetAttribute.
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes,
                                void** data, CUdeviceptr ptr) noexcept {
  return run_locked([&](call& c) {
    require_outputs(attributes, data);
    require(numAttributes > 0, CUDA_ERROR_INVALID_VALUE, "no attribute is requested");
    const auto match = find_known(c, ptr);
    for (unsigned i = 0; i < numAttributes; ++i) {
      const auto& entry = find_row(attributes[i]);
      require_outputs(data[i]);
      const bool is_absent = !match || (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER &&
                                        !is_host_visible(match->kind));
      if (is_absent) {
        std::memset(data[i], 0, entry.size);
      } else {
        entry.write({c, *match, ptr}, data[i]);
      }
      if (!match && attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) {
        store<int>(data[i], CU_DEVICE_INVALID);
      }
    }
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr ptr) noexcept {
  return run_locked([&](call& c) {
    require_outputs(value);
    require(attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CUDA_ERROR_INVALID_VALUE,
            "this attribute cannot be set");
    const auto match = c.d.memory.find_live(ptr);
    require(match && !is_host_visible(match->kind), CUDA_ERROR_INVALID_VALUE,
            "the address is not in device memory");
    unsigned requested = 0;
    std::memcpy(&requested, value, sizeof requested);
    if (requested) {
      c.d.synchronous.insert(match->sequence);
    } else {
      c.d.synchronous.erase(match->sequence);
    }
  });
}

}  // namespace halfwarp::emulator::api
