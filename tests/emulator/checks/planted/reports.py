# SPDX-License-Identifier: Apache-2.0
"""Kernels reduced from reports of real projects, each beside a correct twin."""

from ..cases import Case

CASES = {
    # hoomd-blue#1944: parameters that some threads load
    "parameters_without_barrier": Case(
        "__shared__ int p[8]; if (threadIdx.x < 8) p[threadIdx.x] = out[threadIdx.x]; @ "
        "out[64 + threadIdx.x] = p[threadIdx.x % 8];",
        "", "__syncthreads();", 1, 64,
    ),
    # llm.c#847: cleared by lane, filled by warp
    "cleared_by_lane": Case(
        "__shared__ int s[32]; int w = threadIdx.x / 32, l = threadIdx.x % 32; "
        "if (threadIdx.x < 32) s[l] = 0; @ if (l == 0) s[w] = w + 1; __syncthreads(); "
        "out[threadIdx.x] = s[l];",
        "", "__syncthreads();", 1, 128,
    ),
    # cudf#17985: the next aggregates are cleared while others read
    "cleared_for_the_next_round": Case(
        "__shared__ int s[64]; for (int i = 0; i < 2; ++i) { s[threadIdx.x] = 0; __syncthreads(); "
        "atomicAdd(s + (threadIdx.x ^ 32), 1); __syncthreads(); "
        "out[threadIdx.x] += s[threadIdx.x ^ 33]; @ }",
        "", "__syncthreads();", 1, 64,
    ),
    # cudf#21786: thread 0 resets a counter that others still read
    "counter_reset": Case(
        "__shared__ int n; if (threadIdx.x == 0) n = 4; __syncthreads(); "
        "while (n > 0) { @ if (threadIdx.x == 0) n = n - 1; __syncthreads(); } "
        "out[threadIdx.x] = n;",
        "", "__syncthreads();", 1, 64,
    ),
    # cudf#23897: the scratch memory of a reduction is used again
    "scratch_of_a_reduction": Case(
        "__shared__ int s[2]; for (int i = 0; i < 2; ++i) { "
        "int v = __reduce_add_sync(~0u, threadIdx.x); if (threadIdx.x % 32 == 0) "
        "s[threadIdx.x / 32] = v + i; __syncthreads(); out[threadIdx.x] += s[0] + s[1]; @ }",
        "", "__syncthreads();", 1, 64,
    ),
    # apex#1184: a mean broadcast through the buffer of the next iteration
    "broadcast_buffer": Case(
        "__shared__ float mean; for (int i = 0; i < 3; ++i) { if (threadIdx.x == 0) "
        "mean = out[i]; __syncthreads(); out[64 + threadIdx.x] += mean; @ }",
        "", "__syncthreads();", 1, 64,
    ),
    # llama.cpp#13742: warps leave a loop by a mask that others write again
    "mask_of_a_loop": Case(
        "__shared__ int m; for (int i = 0; i < 3; ++i) { if (threadIdx.x == 0) m = i < 2; "
        "__syncthreads(); if (!m) break; @ } out[threadIdx.x] = m;",
        "", "__syncthreads();", 1, 64,
    ),
    # kokkos#6630: a lane's value is read by its warp
    "value_of_a_lane": Case(
        "__shared__ int s[2]; int w = threadIdx.x / 32; if (threadIdx.x % 32 == 0) s[w] = w; @ "
        "out[threadIdx.x] = s[w];",
        "", "__syncwarp();", 1, 64,
    ),
    # HeCBench#91: a reduction of one warp without a barrier of the warp
    "reduction_of_a_warp": Case(
        "__shared__ int s[64]; int t = threadIdx.x; s[t] = s[t + 32] = t; @ "
        "for (int d = 16; d; d /= 2) { int v = s[t + d]; @ s[t] = s[t] + v; @ } out[t] = s[0];",
        "", "__syncwarp();", 1, 32,
    ),
    # Fuser#2391: a semaphore is released without a fence
    "semaphore_without_fence": Case(
        "if (blockIdx.x) { while (atomicAdd(out, 0) == 0) { } __threadfence(); out[2] = out[1]; } "
        "else { out[1] = 5; @ atomicExch(out, 1); }",
        "", "__threadfence();", 2, 1,
    ),
    # kokkos#2681: the last block of a scan reads without a fence
    "last_block_of_a_scan": Case(
        "out[8 + blockIdx.x] = blockIdx.x; @ if (atomicAdd(out, 1) == 3) { __threadfence(); "
        "int sum = 0; for (int i = 0; i < 4; ++i) sum += out[8 + i]; out[1] = sum; }",
        "", "__threadfence();", 4, 1,
    ),
    # A histogram whose bins nobody cleared
    "bins_not_cleared": Case(
        "__shared__ int bins[64]; @ __syncthreads(); atomicAdd(bins + threadIdx.x % 8, 1); "
        "__syncthreads(); if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];",
        "", "bins[threadIdx.x] = 0;", 1, 64,
    ),
}  # fmt: skip
