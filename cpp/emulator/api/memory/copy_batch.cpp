// SPDX-License-Identifier: Apache-2.0
// Copies with attributes, single or in batches.
#include <span>
#include <vector>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"

namespace halfwarp::emulator::api {
namespace {

void require_attributes(const CUmemcpyAttributes& attributes) {
  require(attributes.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
              attributes.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such source access order");
  require((attributes.flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) == 0,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such copy flag");
}

// Returns whether the call must wait: the source may become invalid when the call returns.
wait_mode wait_mode_for(const CUmemcpyAttributes& attributes) {
  return attributes.srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL
             ? wait_mode::always
             : wait_mode::if_needed;
}

void refuse_in_capture(stream& target) {
  if (const auto* const state = capture_of(target)) {
    refuse_and_invalidate(*state->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "copies with attributes cannot be captured");
  }
}

struct area_pair {
  memory_area to, from;
};

}  // namespace

std::shared_ptr<stream> require_batch_stream(const call& c, CUstream raw) {
  require(raw != nullptr && raw != CU_STREAM_LEGACY, CUDA_ERROR_INVALID_VALUE,
          "a batch cannot run in the legacy default stream");
  return c.stream_of(raw);
}

void require_batch_indices(std::span<const std::size_t> from, std::size_t entries,
                           std::size_t count) {
  require(entries > 0 && entries <= count && from.data(), CUDA_ERROR_INVALID_VALUE,
          "the batch needs at least one entry and at most one per item");
  for (std::size_t i = 0; i < entries; ++i) {
    require(i == 0 ? from[i] == 0 : from[i] > from[i - 1] && from[i] < count,
            CUDA_ERROR_INVALID_VALUE, "the indices must start at 0 and ascend inside the batch");
  }
}

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                     CUmemcpyAttributes* attr, CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    require_outputs(attr);
    const auto target = require_batch_stream(c, hStream);
    require_attributes(*attr);
    refuse_in_capture(*target);
    const int device = target->owner().device().ordinal();
    return copy_area_in(c, *target, range(dst, size, device), range(src, size, device),
                        wait_mode_for(*attr));
  });
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                            CUstream hStream) noexcept {
  return run_locked([&](call& c) {
    require_outputs(dsts, srcs, sizes, attrs);
    require_batch_indices({attrsIdxs, numAttrs}, numAttrs, count);
    const auto target = require_batch_stream(c, hStream);
    for (const auto& each : std::span{attrs, numAttrs}) require_attributes(each);
    refuse_in_capture(*target);
    const int device = target->owner().device().ordinal();
    std::vector<area_pair> areas;  // all are checked before the first copy
    for (std::size_t i = 0; i < count; ++i) {
      require(sizes[i] > 0, CUDA_ERROR_INVALID_VALUE, "a copy of a batch has no bytes");
      areas.push_back({range(dsts[i], sizes[i], device), range(srcs[i], sizes[i], device)});
      admit_side(c, areas.back().to, true);
      admit_side(c, areas.back().from, false);
    }
    for (std::size_t i = 0, entry = 0; i < count; ++i) {
      if (entry + 1 < numAttrs && attrsIdxs[entry + 1] == i) ++entry;
      const auto code =
          copy_area_in(c, *target, areas[i].to, areas[i].from, wait_mode_for(attrs[entry]));
      if (code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace halfwarp::emulator::api
