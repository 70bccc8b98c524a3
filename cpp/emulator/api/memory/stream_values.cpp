// SPDX-License-Identifier: Apache-2.0
// Values in memory that streams write and wait for, alone and in batches.
#include "emulator/work/stream_values.hpp"

#include <span>

#include "emulator/api/memory/memory_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned most_of_a_batch = 256;

void require_flags(const CUstreamBatchMemOpParams& each) {
  bool is_good = false;
  switch (each.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      require((each.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED,
              "the device cannot flush remote writes");
      is_good = each.waitValue.flags <= CU_STREAM_WAIT_VALUE_NOR;
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      is_good = each.writeValue.flags == CU_STREAM_WRITE_VALUE_DEFAULT;  // the rest went with v1
      break;
    case CU_STREAM_MEM_OP_BARRIER:
      is_good = each.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
      break;
    case CU_STREAM_MEM_OP_ATOMIC_REDUCTION:
      is_good = each.atomicReduction.flags == 0;
      break;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      refuse(CUDA_ERROR_NOT_SUPPORTED, "the device cannot flush remote writes");
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "there is no such operation on a value");
  }
  require(is_good, CUDA_ERROR_INVALID_VALUE, "the operation on a value has no such flags");
}

void require_reduction(const CUstreamBatchMemOpParams& each) {
  if (each.operation != CU_STREAM_MEM_OP_ATOMIC_REDUCTION) return;
  const auto& given = each.atomicReduction;
  require(given.reductionOp == CU_STREAM_ATOMIC_REDUCTION_OP_ADD ||
              given.reductionOp == CU_STREAM_ATOMIC_REDUCTION_OP_AND ||
              given.reductionOp == CU_STREAM_ATOMIC_REDUCTION_OP_OR,
          CUDA_ERROR_INVALID_VALUE, "there is no such reduction");
  require(given.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 ||
              given.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64,
          CUDA_ERROR_INVALID_VALUE, "reductions are of unsigned numbers of 32 or 64 bits");
}

void admit(const call& c, const CUstreamBatchMemOpParams& each, int device) {
  require_flags(each);
  require_reduction(each);
  const unsigned bytes = bytes_of(each);
  if (bytes == 0) return;
  const auto at = address_of(each);
  require(at != 0 && at % bytes == 0, CUDA_ERROR_INVALID_VALUE,
          "the address of a value is a multiple of its size");
  auto area = range(at, bytes, device);
  admit_area(c, area, writes(each));
  require(!area.is_pageable, CUDA_ERROR_INVALID_VALUE,
          "this is host memory to which the device was given no access");
  const auto target = c.d.memory.find_reserved_or_live(at);
  if (target && target->kind == memory::allocation_kind::pool) {
    refuse(CUDA_ERROR_INVALID_VALUE,
           "Batch memory operation address " + report::hexadecimal(at) +
               " is not accessible from supplied device: it is memory of a pool");
  }
  require(!target || target->kind != memory::allocation_kind::managed, CUDA_ERROR_INVALID_VALUE,
          "managed memory is no place for values that streams write and wait for");
}

CUresult submit(CUstream raw, std::span<const CUstreamBatchMemOpParams> given) {
  return answer([&](call& c) {
    const auto in = c.stream_of(raw);
    const int device = in->owner().on().ordinal();
    for (const auto& each : given) admit(c, each, device);
    if (auto* const state = capture_of(*in)) {
      refuse_and_invalidate(*state->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                            "the emulator does not capture operations on values");
    }
    c.submit(*in, std::make_shared<value_operations>(
                      std::vector<CUstreamBatchMemOpParams>{given.begin(), given.end()}, device));
  });
}

CUresult submit_one(CUstream stream, CUstreamBatchMemOpType what, CUdeviceptr addr,
                    std::uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams one{};
  one.waitValue.operation = what;  // a value to write has the same layout
  one.waitValue.address = addr;
  one.waitValue.value64 = value;
  one.waitValue.flags = flags;
  return submit(stream, {&one, 1});
}

}  // namespace

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                 unsigned int flags) noexcept {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                 unsigned int flags) noexcept {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                unsigned int flags) noexcept {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                unsigned int flags) noexcept {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams* paramArray, unsigned int flags) noexcept {
  return answer_unlocked([&] {
    require(count > 0 && count <= most_of_a_batch && paramArray && flags == 0,
            CUDA_ERROR_INVALID_VALUE, "a batch has 1 to 256 operations, and no flags of its own");
    return submit(stream, {paramArray, count});
  });
}

}  // namespace halfwarp::emulator::api
