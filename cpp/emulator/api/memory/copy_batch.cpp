// SPDX-License-Identifier: Apache-2.0
// Copies with attributes, one or many in a call.
#include <span>
#include <vector>

#include "emulator/api/call.hpp"
#include "emulator/api/memory/memory_call.hpp"

namespace halfwarp::emulator::api {
namespace {

void require_attributes(const CUmemcpyAttributes& given) {
  require(given.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
              given.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
          CUDA_ERROR_INVALID_VALUE, "the access order of the source is none of cuda.h");
  require((given.flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) == 0,
          CUDA_ERROR_INVALID_VALUE, "cuda.h has no such flag of a copy");
}

// A source that may be gone when the call returns has to be read by then.
waiting waiting_for(const CUmemcpyAttributes& given) {
  return given.srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ? waiting::always
                                                                            : waiting::if_needed;
}

void refuse_in_capture(stream& in) {
  if (const auto* const state = capture_of(in)) {
    refuse_and_invalidate(*state->of, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                          "copies with attributes cannot be captured");
  }
}

struct area_pair {
  memory_area to, from;
};

}  // namespace

std::shared_ptr<stream> require_batch_stream(const call& c, CUstream raw) {
  require(raw != nullptr && raw != CU_STREAM_LEGACY, CUDA_ERROR_INVALID_VALUE,
          "the legacy default stream takes no batch");
  return c.stream_of(raw);
}

void require_batch_indices(std::span<const std::size_t> from, std::size_t entries,
                           std::size_t count) {
  require(entries > 0 && entries <= count && from.data(), CUDA_ERROR_INVALID_VALUE,
          "the batch needs at least one and at most as many entries as it has items");
  for (std::size_t i = 0; i < entries; ++i) {
    require(i == 0 ? from[i] == 0 : from[i] > from[i - 1] && from[i] < count,
            CUDA_ERROR_INVALID_VALUE, "the indices begin at 0 and go up, inside the batch");
  }
}

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                     CUmemcpyAttributes* attr, CUstream hStream) noexcept {
  return answer([&](call& c) {
    require_outputs(attr);
    const auto in = require_batch_stream(c, hStream);
    require_attributes(*attr);
    refuse_in_capture(*in);
    const int device = in->owner().on().ordinal();
    return copy_area_in(c, *in, range(dst, size, device), range(src, size, device),
                        waiting_for(*attr));
  });
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                            CUstream hStream) noexcept {
  return answer([&](call& c) {
    require_outputs(dsts, srcs, sizes, attrs);
    require_batch_indices({attrsIdxs, numAttrs}, numAttrs, count);
    const auto in = require_batch_stream(c, hStream);
    for (const auto& each : std::span{attrs, numAttrs}) require_attributes(each);
    refuse_in_capture(*in);
    const int device = in->owner().on().ordinal();
    std::vector<area_pair> areas;  // all are checked before the first is copied
    for (std::size_t i = 0; i < count; ++i) {
      require(sizes[i] > 0, CUDA_ERROR_INVALID_VALUE, "a copy of a batch has no bytes");
      areas.push_back({range(dsts[i], sizes[i], device), range(srcs[i], sizes[i], device)});
      admit_side(c, areas.back().to, true);
      admit_side(c, areas.back().from, false);
    }
    for (std::size_t i = 0, which = 0; i < count; ++i) {
      if (which + 1 < numAttrs && attrsIdxs[which + 1] == i) ++which;
      const auto code = copy_area_in(c, *in, areas[i].to, areas[i].from, waiting_for(attrs[which]));
      if (code != CUDA_SUCCESS) return code;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace halfwarp::emulator::api
