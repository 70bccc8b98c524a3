# SPDX-License-Identifier: Apache-2.0
"""Kernels on the primitives of CCCL and cooperative groups, without a mistake.

Each is a block of 128 threads that reads 1,024 integers of `in` and writes to `out`.
"""

BLOCK = 128
HEAD = """
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
struct less { __device__ bool operator()(int a, int b) const { return a < b; } };
struct difference { __device__ int operator()(int a, int b) const { return a - b; } };
struct unequal { __device__ bool operator()(int a, int b) const { return a != b; } };
"""
GROUPS_HEAD = """
#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
namespace cg = cooperative_groups;
"""
LOAD = "int x[4]; for (int i = 0; i < 4; ++i) x[i] = in[4 * t + i];"
SAVE = "for (int i = 0; i < 4; ++i) out[4 * t + i] = x[i];"


def _block(primitive, call, *, before=LOAD, after=SAVE):
    storage = f"using P = cub::{primitive}; __shared__ typename P::TempStorage s;"
    return f"{storage} {before} {call} {after}"


def _warp(primitive, call, after=SAVE):
    storage = f"using P = cub::{primitive}; __shared__ typename P::TempStorage all[4];"
    return f"{storage} auto& s = all[t / 32]; {LOAD} {call} {after}"


def _repeated(primitive, first, second):
    return _block(primitive, f"{first} __syncthreads(); {second}")


_TOTAL = "if (t == 0) *out = r;"
CUB = {
    f"reduce_{name}": _block(
        f"BlockReduce<int, 128, cub::BLOCK_REDUCE_{name}>", "int r = P(s).Sum(x);", after=_TOTAL
    )
    for name in ("RAKING", "WARP_REDUCTIONS", "RAKING_COMMUTATIVE_ONLY")
}
CUB |= {
    f"scan_{name}": _repeated(
        f"BlockScan<int, 128, cub::BLOCK_SCAN_{name}>",
        "P(s).ExclusiveSum(x, x);", "P(s).InclusiveSum(x, x);",
    )
    for name in ("RAKING", "RAKING_MEMOIZE", "WARP_SCANS")
}  # fmt: skip
CUB |= {
    f"load_{name}": _block(
        f"BlockLoad<int, 128, 4, cub::BLOCK_LOAD_{name}>", "P(s).Load(in, x, 500, -1);",
        before="int x[4];",
    )
    for name in ("DIRECT", "STRIPED", "TRANSPOSE", "WARP_TRANSPOSE", "WARP_TRANSPOSE_TIMESLICED")
}  # fmt: skip
CUB |= {
    f"store_{name}": _block(
        f"BlockStore<int, 128, 4, cub::BLOCK_STORE_{name}>", "P(s).Store(out, x, 500);", after=""
    )
    for name in ("DIRECT", "STRIPED", "TRANSPOSE", "WARP_TRANSPOSE")
}
CUB |= {
    f"histogram_{name}": _block(
        f"BlockHistogram<int, 128, 4, 16, cub::BLOCK_HISTO_{name}>",
        "__shared__ int bins[16]; for (int& each : x) each &= 15; P(s).Histogram(x, bins); "
        "__syncthreads();",
        after="if (t < 16) out[t] = bins[t];",
    )
    for name in ("ATOMIC", "SORT")
}
CUB |= {
    "radix_sort": _repeated("BlockRadixSort<int, 128, 4>", "P(s).Sort(x);",
        "P(s).SortDescending(x);"),
    "radix_sort_striped": _block("BlockRadixSort<int, 128, 4>", "P(s).SortBlockedToStriped(x);"),
    "merge_sort": _block("BlockMergeSort<int, 128, 4>", "P(s).Sort(x, less{});"),
    "exchange": _repeated(
        "BlockExchange<int, 128, 4>", "P(s).BlockedToStriped(x, x);", "P(s).StripedToBlocked(x, x);"
    ),
    "exchange_in_slices": _block("BlockExchange<int, 128, 4, true>", "P(s).BlockedToStriped(x, "
    "x);"),
    "adjacent_difference": _block(
        "BlockAdjacentDifference<int, 128>", "P(s).SubtractLeft(x, x, difference{});"
    ),
    "discontinuity": _block(
        "BlockDiscontinuity<int, 128>", "int f[4]; P(s).FlagHeads(f, x, unequal{});",
        after="for (int i = 0; i < 4; ++i) out[4 * t + i] = f[i];",
    ),
    "shuffle": _block(
        "BlockShuffle<int, 128>", "int r = x[0]; P(s).Rotate(x[0], r, 3);", after="out[t] = r;"
    ),
    "warp_reduce": _warp("WarpReduce<int>", "int r = P(s).Sum(x[0]);", "if (t % 32 == 0) out[t "
    "/ 32] = r;"),
    "warp_reduce_of_16": (
        "using P = cub::WarpReduce<int, 16>; __shared__ typename P::TempStorage all[8]; "
        "int r = P(all[t / 16]).Sum(in[t]); if (t % 16 == 0) out[t / 16] = r;"
    ),
    "warp_reduce_of_7": (
        "using P = cub::WarpReduce<int, 7>; __shared__ typename P::TempStorage all[4]; "
        "if (t % 32 < 7) { int r = P(all[t / 32]).Sum(in[t]); if (t % 32 == 0) out[t / 32] = r; }"
    ),
    "warp_scan": _warp("WarpScan<int>", "P(s).InclusiveSum(x[0], x[0]);"),
    "warp_scan_of_12": (
        "using P = cub::WarpScan<int, 12>; __shared__ typename P::TempStorage all[4]; int r = 0; "
        "if (t % 32 < 12) { P(all[t / 32]).InclusiveSum(in[t], r); out[t] = r; }"
    ),
    "warp_merge_sort": _warp("WarpMergeSort<int, 4>", "P(s).Sort(x, less{});"),
    "warp_exchange": _warp("WarpExchange<int, 4>", "P(s).BlockedToStriped(x, x);"),
}  # fmt: skip
GROUPS = {
    "group_reduce": (
        "auto tile = cg::tiled_partition<16>(cg::this_thread_block()); "
        "int r = cg::reduce(tile, in[t], cg::plus<int>()); if (tile.thread_rank() == 0) out[t / "
        "16] = r;"
    ),
    "group_scan": (
        "auto tile = cg::tiled_partition<32>(cg::this_thread_block()); "
        "out[t] = cg::inclusive_scan(tile, in[t]);"
    ),
    "group_tiles_in_shared_memory": (
        "__shared__ int s[128]; auto tile = cg::tiled_partition<8>(cg::this_thread_block()); "
        "for (int round = 0; round < 3; ++round) { s[t] = in[t] + round; tile.sync(); "
        "out[t] += s[t ^ 7]; tile.sync(); }"
    ),
    "group_coalesced": (
        "if (in[t] % 3 == 0) { auto g = cg::coalesced_threads(); __shared__ int s[128]; "
        "s[t] = in[t]; g.sync(); out[t] = s[t]; if (g.thread_rank() == 0) atomicAdd(out + 500, "
        "(int)g.size()); }"
    ),
    "group_labels": (
        "auto tile = cg::tiled_partition<32>(cg::this_thread_block()); "
        "auto part = cg::labeled_partition(tile, in[t] & 3); int r = cg::reduce(part, 1, "
        "cg::plus<int>()); "
        "out[t] = r;"
    ),
    "group_of_128": (
        "__shared__ cg::block_tile_memory<128> memory; auto block = cg::this_thread_block(memory); "
        "auto tile = cg::tiled_partition<64>(block); int r = cg::reduce(tile, in[t], "
        "cg::plus<int>()); "
        "if (tile.thread_rank() == 0) out[t / 64] = r;"
    ),
    "group_copy": (
        "__shared__ alignas(16) int s[512]; auto block = cg::this_thread_block(); "
        "for (int i = 0; i < 2; ++i) { cg::memcpy_async(block, s, in + 512 * i, sizeof(s)); "
        "cg::wait(block); out[t] += s[511 - t]; block.sync(); }"
    ),
    "barrier": (
        "__shared__ cuda::barrier<cuda::thread_scope_block> b; __shared__ int s[128]; "
        "if (t == 0) init(&b, 128); __syncthreads(); for (int i = 0; i < 3; ++i) { s[t] = in[t] "
        "+ i; "
        "b.arrive_and_wait(); out[t] += s[127 - t]; b.arrive_and_wait(); }"
    ),
    "barrier_of_producers": (
        "__shared__ cuda::barrier<cuda::thread_scope_block> full, empty; __shared__ int s[64]; "
        "if (t == 0) { init(&full, 128); init(&empty, 128); } __syncthreads(); "
        "for (int i = 0; i < 3; ++i) { if (t < 64) { if (i) empty.arrive_and_wait(); s[t] = "
        "in[t] + i; "
        "(void)full.arrive(); } else { full.arrive_and_wait(); out[t] += s[127 - t]; "
        "if (i < 2) (void)empty.arrive(); } }"
    ),
    "latch": (
        "using L = cuda::latch<cuda::thread_scope_block>; __shared__ alignas(L) char "
        "bytes[sizeof(L)]; "
        "L& l = *reinterpret_cast<L*>(bytes); __shared__ int s[128]; if (t == 0) new (&l) L(128); "
        "__syncthreads(); "
        "s[t] = in[t]; l.arrive_and_wait(); out[t] = s[127 - t];"
    ),
    "pipeline": (
        "__shared__ alignas(16) int s[2][128]; "
        "__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state; "
        "auto block = cg::this_thread_block(); auto p = cuda::make_pipeline(block, &state); "
        "p.producer_acquire(); cuda::memcpy_async(block, s[0], in, sizeof(s[0]), p); "
        "p.producer_commit(); "
        "for (int i = 0; i < 4; ++i) { if (i < 3) { p.producer_acquire(); "
        "cuda::memcpy_async(block, s[(i + 1) % 2], in + 128 * (i + 1), sizeof(s[0]), p); "
        "p.producer_commit(); } p.consumer_wait(); out[t] += s[i % 2][127 - t]; "
        "p.consumer_release(); }"
    ),
    "semaphore": (
        "__shared__ cuda::binary_semaphore<cuda::thread_scope_block> free; __shared__ int n; "
        "if (t == 0) { new (&free) cuda::binary_semaphore<cuda::thread_scope_block>(1); n = 0; } "
        "__syncthreads(); if (t % 32 == 0) { free.acquire(); n += 1; free.release(); } "
        "__syncthreads(); if (t == 0) *out = n;"
    ),
    "publication": (
        "__shared__ int value; __shared__ cuda::atomic<int, cuda::thread_scope_block> flag; "
        "if (t == 0) new (&flag) cuda::atomic<int, cuda::thread_scope_block>(0); __syncthreads(); "
        "if (t == 0) { value = in[0]; flag.store(1, cuda::memory_order_release); } "
        "if (t == 64) { while (!flag.load(cuda::memory_order_acquire)) {} out[0] = value; }"
    ),
}  # fmt: skip


def source():
    """Return the source of all kernels, which have the names of the primitives."""
    signature = "(int* out, const int* in)"
    kernels = [
        f'extern "C" __global__ void {name}{signature} {{ const int t = threadIdx.x; {body} }}'
        for name, body in {**CUB, **GROUPS}.items()
    ]
    return "\n".join([HEAD, GROUPS_HEAD, *kernels])
