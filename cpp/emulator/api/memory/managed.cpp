// SPDX-License-Identifier: Apache-2.0
// Managed memory: advice, prefetches, discards, and what is known of a range. Host and devices see
// the same bytes here, so that moving them is remembered and costs nothing.
#include <cstring>
#include <span>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr std::uint32_t undefined_byte = 0xf1;  // what discarded memory holds

void require_managed(const call& c, CUdeviceptr first, std::size_t bytes) {
  require(bytes > 0, CUDA_ERROR_INVALID_VALUE, "the range has no bytes");
  const auto found = c.d.memory.find_live(first);
  require(found && found->kind == memory::allocation_kind::managed && found->contains(first, bytes),
          CUDA_ERROR_INVALID_VALUE, "the range does not lie in one allocation of managed memory");
}

// Checked, and as it is shown: of the host only NUMA nodes have a number.
CUmemLocation require_location(const call& c, CUmemLocation where) {
  switch (where.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      require(where.id >= 0 && static_cast<std::size_t>(where.id) < c.d.devices.size(),
              CUDA_ERROR_INVALID_DEVICE, "there is no such device");
      return where;
    case CU_MEM_LOCATION_TYPE_HOST:
      return {CU_MEM_LOCATION_TYPE_HOST, {0}};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      require(where.id == 0, CUDA_ERROR_INVALID_VALUE, "the emulator has the NUMA node 0 only");
      return where;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA, {0}};
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "a location is a device, the host, or a NUMA node");
  }
}

std::uint32_t bit_of(const CUmemLocation& where) {
  require(where.type == CU_MEM_LOCATION_TYPE_DEVICE || where.type == CU_MEM_LOCATION_TYPE_HOST,
          CUDA_ERROR_INVALID_VALUE, "memory is accessed by a device, or by the host as a whole");
  return 1u << (where.type == CU_MEM_LOCATION_TYPE_DEVICE ? where.id : host_bit);
}

void advise(call& c, CUdeviceptr first, std::size_t bytes, CUmem_advise advice,
            CUmemLocation where) {
  const auto change = [&](auto&& how) { c.d.managed.change(first, bytes, how); };
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      return change(
          [=](managed_settings& s) { s.is_read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY; });
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      where = require_location(c, where);
      return change([=](managed_settings& s) { s.preferred = where; });
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      return change([](managed_settings& s) { s.preferred = {}; });
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: {
      const auto bit = bit_of(where);
      require_location(c, where);
      return change([=](managed_settings& s) {
        const bool is_set = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
        s.accessed_by = is_set ? s.accessed_by | bit : s.accessed_by & ~bit;
      });
    }
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such advice");
  }
}

// As an H200 does with a driver of CUDA 13.0: the one advice that is not refused has no effect.
void advise_pool(CUmem_advise advice, const CUmemLocation& where) {
  const bool is_ignored = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION &&
                          where.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
  require(is_ignored, CUDA_ERROR_NOT_SUPPORTED,
          "Mem Advise for memory allocated from a managed memory pool is not supported");
}

void refuse_in_capture(stream& in) {
  if (const auto* const state = capture_of(in)) {
    refuse_and_invalidate(*state->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "prefetches and discards cannot be captured");
  }
}

void remember_prefetch(call& c, CUdeviceptr first, std::size_t bytes, const CUmemLocation& to) {
  c.d.managed.change(first, bytes, [&](managed_settings& s) { s.last_prefetch = to; });
}

// The arguments of a batch: ranges, and locations that count from an index on.
struct batch {
  std::span<const CUdeviceptr> first;
  std::span<const std::size_t> bytes;
  std::span<const CUmemLocation> where;
  std::span<const std::size_t> from;
};

std::shared_ptr<stream> require_batch(call& c, const batch& given, unsigned long long flags,
                                      CUstream raw) {
  require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
  require(!given.first.empty() && given.first.data() && given.bytes.data(),
          CUDA_ERROR_INVALID_VALUE, "the batch is empty");
  const auto in = require_batch_stream(c, raw);
  refuse_in_capture(*in);
  for (std::size_t i = 0; i < given.first.size(); ++i) {
    require_managed(c, given.first[i], given.bytes[i]);
  }
  return in;
}

void prefetch_all(call& c, const batch& given) {
  require_batch_indices(given.from, given.where.size(), given.first.size());
  for (const auto& each : given.where) require_location(c, each);
  for (std::size_t i = 0, which = 0; i < given.first.size(); ++i) {
    if (which + 1 < given.from.size() && given.from[which + 1] == i) ++which;
    remember_prefetch(c, given.first[i], given.bytes[i], require_location(c, given.where[which]));
  }
}

void discard_all(call& c, stream& in, const batch& given) {
  for (std::size_t i = 0; i < given.first.size(); ++i) {
    const auto area = range(given.first[i], given.bytes[i], in.owner().on().ordinal());
    c.submit(in, std::make_shared<fill_memory>(area, undefined_byte, 1));
  }
}

// The older form of a location, which has no NUMA nodes.
int as_number(const CUmemLocation& where) {
  if (where.type == CU_MEM_LOCATION_TYPE_NONE) return CU_DEVICE_INVALID;
  return where.type == CU_MEM_LOCATION_TYPE_DEVICE ? where.id : CU_DEVICE_CPU;
}

void list_accessors(std::uint32_t bits, int* out, std::size_t room) {
  std::size_t used = 0;
  if (bits >> host_bit & 1 && room > 0) out[used++] = CU_DEVICE_CPU;
  for (int i = 0; i < host_bit && used < room; ++i) {
    if (bits >> i & 1) out[used++] = i;
  }
  while (used < room) out[used++] = CU_DEVICE_INVALID;
}

void answer_attribute(const managed_settings& found, CUmem_range_attribute asked, void* out,
                      std::size_t bytes) {
  const bool is_list = asked == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  require(out && (is_list ? bytes > 0 && bytes % sizeof(int) == 0 : bytes == sizeof(int)),
          CUDA_ERROR_INVALID_VALUE, "the size of the output is not that of the attribute");
  const auto store = [out](int value) { std::memcpy(out, &value, sizeof value); };
  switch (asked) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      return store(found.is_read_mostly);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      return store(as_number(found.preferred));
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      return list_accessors(found.accessed_by, static_cast<int*>(out), bytes / sizeof(int));
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      return store(as_number(found.last_prefetch));
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      return store(found.preferred.type);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      return store(found.preferred.id);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      return store(found.last_prefetch.type);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      return store(found.last_prefetch.id);
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such attribute of a range");
  }
}

}  // namespace

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                     CUmemLocation location) noexcept {
  return answer([&](call& c) {
    require_managed(c, devPtr, count);
    if (c.d.memory.find_live(devPtr)->pool != 0) return advise_pool(advice, location);
    advise(c, devPtr, count, advice, location);
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                            unsigned int flags, CUstream hStream) noexcept {
  return answer([&](call& c) {
    const auto in = c.stream_of(hStream);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "the flags are not zero");
    require_managed(c, devPtr, count);
    const auto to = require_location(c, location);
    refuse_in_capture(*in);
    remember_prefetch(c, devPtr, count, to);
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                 CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                 size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) noexcept {
  return answer([&](call& c) {
    const batch given{{dptrs, count},
                      {sizes, count},
                      {prefetchLocs, numPrefetchLocs},
                      {prefetchLocIdxs, numPrefetchLocs}};
    require_batch(c, given, flags, hStream);
    prefetch_all(c, given);
  });
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                unsigned long long flags, CUstream hStream) noexcept {
  return answer([&](call& c) {
    const batch given{{dptrs, count}, {sizes, count}, {}, {}};
    discard_all(c, *require_batch(c, given, flags, hStream), given);
  });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                           CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream) noexcept {
  return answer([&](call& c) {
    const batch given{{dptrs, count},
                      {sizes, count},
                      {prefetchLocs, numPrefetchLocs},
                      {prefetchLocIdxs, numPrefetchLocs}};
    const auto in = require_batch(c, given, flags, hStream);
    prefetch_all(c, given);
    discard_all(c, *in, given);
  });
}

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute,
                                CUdeviceptr devPtr, size_t count) noexcept {
  return answer([&](call& c) {
    require_managed(c, devPtr, count);
    answer_attribute(c.d.managed.common(devPtr, count), attribute, data, dataSize);
  });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) noexcept {
  return answer([&](call& c) {
    require_outputs(data, dataSizes, attributes);
    require(numAttributes > 0, CUDA_ERROR_INVALID_VALUE, "no attribute is asked for");
    require_managed(c, devPtr, count);
    const auto found = c.d.managed.common(devPtr, count);
    for (std::size_t i = 0; i < numAttributes; ++i) {
      answer_attribute(found, attributes[i], data[i], dataSizes[i]);
    }
  });
}

}  // namespace halfwarp::emulator::api
