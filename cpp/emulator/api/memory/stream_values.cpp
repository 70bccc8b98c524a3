// SPDX-License-Identifier: Apache-2.0
// Stream writes of and waits for values in memory, single or in batches.
#include "emulator/work/stream_values.hpp"

#include <span>

#include "emulator/api/memory/memory_call.hpp"

namespace halfwarp::emulator::api {
namespace {

constexpr unsigned max_batch_size = 256;

void require_flags(const CUstreamBatchMemOpParams& each) {
  bool is_valid = false;
  switch (each.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      require((each.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) == 0, CUDA_ERROR_NOT_SUPPORTED,
              "the device cannot flush remote writes");
      is_valid = each.waitValue.flags <= CU_STREAM_WAIT_VALUE_NOR;
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      is_valid = each.writeValue.flags ==
                 CU_STREAM_WRITE_VALUE_DEFAULT;  // the other flags exist in v1 only
      break;
    case CU_STREAM_MEM_OP_BARRIER:
      is_valid = each.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
      break;
    case CU_STREAM_MEM_OP_ATOMIC_REDUCTION:
      is_valid = each.atomicReduction.flags == 0;
      break;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      refuse(CUDA_ERROR_NOT_SUPPORTED, "the device cannot flush remote writes");
    default:
      refuse(CUDA_ERROR_INVALID_VALUE, "cuda.h has no such value operation");
  }
  require(is_valid, CUDA_ERROR_INVALID_VALUE, "the value operation has no such flags");
}

void require_reduction(const CUstreamBatchMemOpParams& each) {
  if (each.operation != CU_STREAM_MEM_OP_ATOMIC_REDUCTION) return;
  const auto& params = each.atomicReduction;
  require(params.reductionOp == CU_STREAM_ATOMIC_REDUCTION_OP_ADD ||
              params.reductionOp == CU_STREAM_ATOMIC_REDUCTION_OP_AND ||
              params.reductionOp == CU_STREAM_ATOMIC_REDUCTION_OP_OR,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such reduction");
  require(params.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32 ||
              params.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64,
          CUDA_ERROR_INVALID_VALUE, "reductions need unsigned values of 32 or 64 bits");
}

void admit(const call& c, const CUstreamBatchMemOpParams& each, int device) {
  require_flags(each);
  require_reduction(each);
  const unsigned bytes = bytes_of(each);
  if (bytes == 0) return;
  const auto address = address_of(each);
  require(address != 0 && address % bytes == 0, CUDA_ERROR_INVALID_VALUE,
          "the address of a value must be a multiple of its size");
  auto area = range(address, bytes, device);
  admit_area(c, area, writes(each));
  require(!area.is_pageable, CUDA_ERROR_INVALID_VALUE,
          "the device has no access to this host memory");
  const auto target = c.d.memory.find_reserved_or_live(address);
  if (target && target->kind == memory::allocation_kind::pool) {
    refuse(CUDA_ERROR_INVALID_VALUE,
           "Batch memory operation address " + report::hexadecimal(address) +
               " is not accessible from supplied device: it is memory of a pool");
  }
  require(!target || target->kind != memory::allocation_kind::managed, CUDA_ERROR_INVALID_VALUE,
          "stream values cannot be in managed memory");
}

CUresult submit(CUstream raw, unsigned count, CUstreamBatchMemOpParams* list, unsigned flags) {
  return run_locked([&](call& c) {
    const auto target = c.stream_of(raw);
    const int device = target->owner().device().ordinal();
    c.submit(*target, make_values(c, {nullptr, count, list, flags}, device));
  });
}

CUresult submit_one(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr addr,
                    std::uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams params{};
  params.waitValue.operation = operation;  // a value to write has the same layout
  params.waitValue.address = addr;
  params.waitValue.value64 = value;
  params.waitValue.flags = flags;
  return submit(stream, 1, &params, 0);
}

}  // namespace

std::shared_ptr<operation> make_values(const call& c, const CUDA_BATCH_MEM_OP_NODE_PARAMS& params,
                                       int device) {
  require(
      params.count > 0 && params.count <= max_batch_size && params.paramArray && params.flags == 0,
      CUDA_ERROR_INVALID_VALUE, "a batch must have 1 to 256 operations and no flags");
  const std::span operations{params.paramArray, params.count};
  for (const auto& each : operations) admit(c, each, device);
  return std::make_shared<value_operations>(
      std::vector<CUstreamBatchMemOpParams>{operations.begin(), operations.end()}, device);
}

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
  return submit(stream, count, paramArray, flags);
}

}  // namespace halfwarp::emulator::api
