// SPDX-License-Identifier: Apache-2.0
// Managed memory: advice, prefetches, discards and range attributes. Host and devices share the
// bytes, so a prefetch moves nothing and is only recorded.
#include <cstring>
#include <span>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr std::uint32_t undefined_byte = 0xf1;  // the contents of discarded memory

void require_managed(const call& c, CUdeviceptr first, std::size_t bytes) {
  require(bytes > 0, CUDA_ERROR_INVALID_VALUE, "the range is empty");
  const auto match = c.d.memory.find_live(first);
  require(match && match->kind == memory::allocation_kind::managed && match->contains(first, bytes),
          CUDA_ERROR_INVALID_VALUE, "the range is not inside one managed allocation");
}

// Checks a location and returns its canonical form: only NUMA nodes of the host have an id.
CUmemLocation require_location(const call& c, CUmemLocation location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      require(location.id >= 0 && static_cast<std::size_t>(location.id) < c.d.devices.size(),
              CUDA_ERROR_INVALID_DEVICE, "there is no such device");
      return location;
    case CU_MEM_LOCATION_TYPE_HOST:
      return {CU_MEM_LOCATION_TYPE_HOST, {0}};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      require(location.id == 0, CUDA_ERROR_INVALID_VALUE, "the emulator has only NUMA node 0");
      return location;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA, {0}};
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "a location is a device, the host, or a NUMA node");
  }
}

std::uint32_t bit_of(const CUmemLocation& location) {
  require(
      location.type == CU_MEM_LOCATION_TYPE_DEVICE || location.type == CU_MEM_LOCATION_TYPE_HOST,
      CUDA_ERROR_INVALID_VALUE, "memory is accessed by a device, or by the host as a whole");
  return 1u << (location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : host_bit);
}

void advise(call& c, CUdeviceptr first, std::size_t bytes, CUmem_advise advice,
            CUmemLocation location) {
  const auto change = [&](auto&& update) { c.d.managed.change(first, bytes, update); };
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      return change(
          [=](managed_settings& s) { s.is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY; });
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      location = require_location(c, location);
      return change([=](managed_settings& s) { s.preferred = location; });
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      return change([](managed_settings& s) { s.preferred = {}; });
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: {
      const auto bit = bit_of(location);
      require_location(c, location);
      return change([=](managed_settings& s) {
        const bool is_set = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
        s.accessed_by = is_set ? s.accessed_by | bit : s.accessed_by & ~bit;
      });
    }
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such advice");
  }
}

// Behaves as an H200 with a CUDA 13.0 driver: refuses all advice but one, which has no effect.
void advise_pool(CUmem_advise advice, const CUmemLocation& location) {
  const bool is_ignored = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
                          location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  require(is_ignored, CUDA_ERROR_NOT_SUPPORTED,
          "Mem Advise for memory allocated from a managed memory pool is not supported");
}

void refuse_in_capture(stream& target) {
  if (const auto* const state = capture_of(target)) {
    refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "prefetches and discards cannot be captured");
  }
}

void record_prefetch(call& c, CUdeviceptr first, std::size_t bytes, const CUmemLocation& to) {
  c.d.managed.change(first, bytes, [&](managed_settings& s) { s.last_prefetch = to; });
}

// The arguments of a batch: ranges, and locations with the index of their first range.
struct batch {
  std::span<const CUdeviceptr> first;
  std::span<const std::size_t> bytes;
  std::span<const CUmemLocation> locations;
  std::span<const std::size_t> location_starts;
};

std::shared_ptr<stream> require_batch(call& c, const batch& ranges, unsigned long long flags,
                                      CUstream raw) {
  require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
  require(!ranges.first.empty() && ranges.first.data() && ranges.bytes.data(),
          CUDA_ERROR_INVALID_VALUE, "the batch is empty");
  const auto target = require_batch_stream(c, raw);
  refuse_in_capture(*target);
  for (std::size_t i = 0; i < ranges.first.size(); ++i) {
    require_managed(c, ranges.first[i], ranges.bytes[i]);
  }
  return target;
}

void prefetch_all(call& c, const batch& ranges) {
  require_batch_indices(ranges.location_starts, ranges.locations.size(), ranges.first.size());
  for (const auto& each : ranges.locations) require_location(c, each);
  for (std::size_t i = 0, entry = 0; i < ranges.first.size(); ++i) {
    if (entry + 1 < ranges.location_starts.size() && ranges.location_starts[entry + 1] == i)
      ++entry;
    record_prefetch(c, ranges.first[i], ranges.bytes[i],
                    require_location(c, ranges.locations[entry]));
  }
}

void discard_all(call& c, stream& target, const batch& ranges) {
  for (std::size_t i = 0; i < ranges.first.size(); ++i) {
    const auto area = range(ranges.first[i], ranges.bytes[i], target.owner().device().ordinal());
    c.submit(target, std::make_shared<fill_memory>(area, undefined_byte, 1));
  }
}

// Converts a location to the older form, which has no NUMA nodes.
int device_number(const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_NONE) return CU_DEVICE_INVALID;
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
}

void list_accessors(std::uint32_t bits, int* out, std::size_t capacity) {
  std::size_t used = 0;
  if (bits >> host_bit & 1 && capacity > 0) out[used++] = CU_DEVICE_CPU;
  for (int i = 0; i < host_bit && used < capacity; ++i) {
    if (bits >> i & 1) out[used++] = i;
  }
  while (used < capacity) out[used++] = CU_DEVICE_INVALID;
}

void write_attribute(const managed_settings& settings, CUmem_range_attribute attribute, void* out,
                     std::size_t bytes) {
  const bool is_list = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  require(out && (is_list ? bytes > 0 && bytes % sizeof(int) == 0 : bytes == sizeof(int)),
          CUDA_ERROR_INVALID_VALUE, "the output size does not match the attribute");
  const auto store = [out](int value) { std::memcpy(out, &value, sizeof value); };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return store(settings.is_read_mostly);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return store(device_number(settings.preferred));
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      return list_accessors(settings.accessed_by, static_cast<int*>(out), bytes / sizeof(int));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return store(device_number(settings.last_prefetch));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return store(settings.preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return store(settings.preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return store(settings.last_prefetch.type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return store(settings.last_prefetch.id);
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such range attribute");
  }
}

}  // namespace

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                     CUmemLocation location) noexcept {
  return run_locked([&](call& c) {
    require_managed(c, devPtr, count);
    if (c.d.memory.find_live(devPtr)->pool != 0) return advise_pool(advice, location);
    advise(c, devPtr, count, advice, location);
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                            unsigned int flags, CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(hStream);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
    require_managed(c, devPtr, count);
    const auto to = require_location(c, location);
    refuse_in_capture(*target);
    record_prefetch(c, devPtr, count, to);
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                 CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                 size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const batch ranges{{dptrs, count},
                       {sizes, count},
                       {prefetchLocs, numPrefetchLocs},
                       {prefetchLocIdxs, numPrefetchLocs}};
    require_batch(c, ranges, flags, hStream);
    prefetch_all(c, ranges);
  });
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                unsigned long long flags, CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const batch ranges{{dptrs, count}, {sizes, count}, {}, {}};
    discard_all(c, *require_batch(c, ranges, flags, hStream), ranges);
  });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                           CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    const batch ranges{{dptrs, count},
                       {sizes, count},
                       {prefetchLocs, numPrefetchLocs},
                       {prefetchLocIdxs, numPrefetchLocs}};
    const auto target = require_batch(c, ranges, flags, hStream);
    prefetch_all(c, ranges);
    discard_all(c, *target, ranges);
  });
}

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count) noexcept {
  return run_locked([&](call& c) {
    require_managed(c, devPtr, count);
    write_attribute(c.d.managed.common(devPtr, count), attribute, data, dataSize);
  });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) noexcept {
  return run_locked([&](call& c) {
    require_outputs(data, dataSizes, attributes);
    require(numAttributes > 0, CUDA_ERROR_INVALID_VALUE, "no attribute is requested");
    require_managed(c, devPtr, count);
    const auto settings = c.d.managed.common(devPtr, count);
    for (std::size_t i = 0; i < numAttributes; ++i) {
      write_attribute(settings, attributes[i], data[i], dataSizes[i]);
    }
  });
}

}  // namespace halfwarp::emulator::api
