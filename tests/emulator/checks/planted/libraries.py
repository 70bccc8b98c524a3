# SPDX-License-Identifier: Apache-2.0
"""Mistakes with the objects of CCCL and cooperative groups, each beside a correct twin."""

from ..cases import Case

HEAD = """
#pragma nv_diag_suppress static_var_with_dynamic_init
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
template <cuda::thread_scope Scope> using reference = cuda::atomic_ref<int, Scope>;
"""
BARRIER = (
    "__shared__ barrier b; __shared__ int s[128]; if (t == 0) init(&b, 128); __syncthreads(); "
)
FENCE = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); '
STORE = (
    "__shared__ alignas(16) int s[128]; s[t] = t; @ if (t == 0) { "
    'asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" '
    ':: "l"(__cvta_generic_to_global(out)), "r"((unsigned)__cvta_generic_to_shared(s)) '
    ': "memory"); asm volatile("cp.async.bulk.commit_group;"); '
    'asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }'
)
CASES = {
    # barriers in memory
    "barrier_arrival_without_wait": Case(
        BARRIER + "s[t] = t; @ out[t] = s[127 - t];",
        "(void)b.arrive();", "b.arrive_and_wait();", 1, 128,
    ),
    "barrier_between_rounds": Case(
        BARRIER + "for (int i = 0; i < 3; ++i) { s[t] = i; b.arrive_and_wait(); "
        "out[t] += s[127 - t]; @ }",
        "", "b.arrive_and_wait();", 1, 128,
    ),
    "barrier_of_some_threads": Case(
        "__shared__ barrier b; __shared__ int s[128]; if (t == 0) init(&b, 64); __syncthreads(); "
        "s[t] = t; if (t < 64) b.arrive_and_wait(); @ out[t] = s[t ^ 64];",
        "", "__syncthreads();", 1, 128,
    ),
    "barrier_wait_after_the_read": Case(
        BARRIER + "s[t] = t; auto token = b.arrive(); @",
        "out[t] = s[127 - t]; b.wait(std::move(token));",
        "b.wait(std::move(token)); out[t] = s[127 - t];", 1, 128,
    ),
    "latch_without_wait": Case(
        "using L = cuda::latch<cuda::thread_scope_block>; __shared__ alignas(L) char m[sizeof(L)]; "
        "L& l = *reinterpret_cast<L*>(m); __shared__ int s[128]; if (t == 0) new (&l) L(128); "
        "__syncthreads(); s[t] = t; @ out[t] = s[127 - t];",
        "l.count_down();", "l.arrive_and_wait();", 1, 128,
    ),
    "semaphore_not_acquired": Case(
        "using S = cuda::binary_semaphore<cuda::thread_scope_block>; "
        "__shared__ alignas(S) char m[sizeof(S)]; S& free = *reinterpret_cast<S*>(m); "
        "__shared__ int n; if (t == 0) { new (&free) S(1); n = 0; } __syncthreads(); "
        "if (t % 32 == 0) { @ n += 1; free.release(); } __syncthreads(); if (t == 0) *out = n;",
        "if (t == 0) free.acquire();", "free.acquire();", 1, 128,
    ),
    # groups
    "tile_without_sync": Case(
        "__shared__ int s[128]; auto tile = cg::tiled_partition<8>(cg::this_thread_block()); "
        "s[t] = t; @ out[t] = s[t ^ 7];",
        "", "tile.sync();", 1, 128,
    ),
    "tile_too_small": Case(
        "__shared__ int s[128]; auto tile = cg::tiled_partition<8>(cg::this_thread_block()); "
        "s[t] = t; tile.sync(); out[t] = s[t ^ @];",
        "8", "4", 1, 128,
    ),
    "tile_of_64_without_sync": Case(
        "__shared__ cg::block_tile_memory<128> memory; __shared__ int s[128]; "
        "auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory)); "
        "s[t] = t; @ out[t] = s[t ^ 32];",
        "", "tile.sync();", 1, 128,
    ),
    "coalesced_without_sync": Case(
        "__shared__ int s[128]; if (t % 2) { auto g = cg::coalesced_threads(); s[t] = t; @ "
        "out[t] = s[t ^ 2]; }",
        "", "g.sync();", 1, 128,
    ),
    "block_instead_of_grid": Case(
        "raw[g] = g; @ out[g] = raw[255 - g];",
        "cg::this_thread_block().sync();", "cg::this_grid().sync();", 2, 128,
        {"is_cooperative": True},
    ),
    "cluster_without_sync": Case(
        "__shared__ int s[128]; auto c = cg::this_cluster(); s[t] = t; @ "
        "out[g] = c.map_shared_rank(s, c.block_rank() ^ 1)[t]; c.sync();",
        "__syncthreads();", "c.sync();", 2, 128, {"cluster": 2},
    ),
    "cluster_written_before_the_read": Case(
        "__shared__ int s[128]; auto c = cg::this_cluster(); s[t] = t; c.sync(); "
        "out[g] = c.map_shared_rank(s, c.block_rank() ^ 1)[t]; @ s[t] = 2; c.sync();",
        "__syncthreads();", "c.sync();", 2, 128, {"cluster": 2},
    ),
    "relaxed_cluster_barrier": Case(
        "__shared__ int s[128]; auto c = cg::this_cluster(); s[t] = t; "
        'asm volatile("barrier.cluster.arrive@.aligned;" ::: "memory"); '
        'asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); '
        'out[g] = c.map_shared_rank(s, c.block_rank() ^ 1)[t]; c.sync();',
        ".relaxed", "", 2, 128, {"cluster": 2},
    ),
    # copies
    "group_copy_without_wait": Case(
        "__shared__ alignas(16) int s[128]; auto block = cg::this_thread_block(); "
        "cg::memcpy_async(block, s, out + 512, sizeof(s)); @ out[t] = s[127 - t];",
        "block.sync();", "cg::wait(block);", 1, 128,
    ),
    "group_copy_into_a_read_stage": Case(
        "__shared__ alignas(16) int s[128]; auto block = cg::this_thread_block(); "
        "for (int i = 0; i < 2; ++i) { cg::memcpy_async(block, s, out + 512 + 128 * i, sizeof(s)); "
        "cg::wait(block); out[t] += s[127 - t]; @ }",
        "", "block.sync();", 1, 128,
    ),
    "pipeline_without_wait": Case(
        "__shared__ alignas(16) int s[128]; auto p = cuda::make_pipeline(); p.producer_acquire(); "
        "cuda::memcpy_async(s + t, out + 512 + t, sizeof(int), p); p.producer_commit(); @ "
        "out[t] = s[t]; p.consumer_release();",
        "", "p.consumer_wait();", 1, 128,
    ),
    "pipeline_of_a_thread": Case(
        "__shared__ alignas(16) int s[128]; auto p = cuda::make_pipeline(); p.producer_acquire(); "
        "cuda::memcpy_async(s + t, out + 512 + t, sizeof(int), p); p.producer_commit(); "
        "p.consumer_wait(); @ out[t] = s[127 - t]; p.consumer_release();",
        "", "__syncthreads();", 1, 128,
    ),
    "pipeline_released_early": Case(
        "__shared__ int s[128]; __shared__ cuda::pipeline_shared_state<"
        "cuda::thread_scope_block, 1> state; auto block = cg::this_thread_block(); "
        "auto p = cuda::make_pipeline(block, &state); for (int i = 0; i < 4; ++i) { "
        "p.producer_acquire(); s[t] = t + i; p.producer_commit(); p.consumer_wait(); @ }",
        "p.consumer_release(); out[t] += s[127 - t];",
        "out[t] += s[127 - t]; p.consumer_release();", 1, 128,
    ),
    "pipeline_of_a_block": Case(
        "__shared__ alignas(16) int s[2][128]; __shared__ cuda::pipeline_shared_state<"
        "cuda::thread_scope_block, 2> state; auto block = cg::this_thread_block(); "
        "auto p = cuda::make_pipeline(block, &state); for (int i = 0; i < 3; ++i) { "
        "p.producer_acquire(); cuda::memcpy_async(block, s[i % 2], out + 512, sizeof(s[0]), p); "
        "p.producer_commit(); @ out[t] += s[i % 2][127 - t]; p.consumer_release(); }",
        "", "p.consumer_wait();", 1, 128,
    ),
    # proxies
    "bulk_store_without_a_fence": Case(
        STORE, "__syncthreads();", FENCE + "__syncthreads();", 1, 128,
    ),
    "bulk_store_with_a_fence_of_one_thread": Case(
        STORE, "if (t < 32) " + FENCE + "__syncthreads();", "__syncthreads(); " + FENCE, 1, 128,
    ),
    "bulk_store_source_overwritten": Case(
        STORE.replace("@", FENCE + "__syncthreads();").replace("group 0", "group.read @")
        + " __syncthreads(); s[t] = 2; __syncthreads(); out[200 + t] = s[127 - t];",
        "1", "0", 1, 128,
    ),
    # temporary storage
    "storage_used_again": Case(
        "using P = cub::BlockReduce<int, 128>; __shared__ typename P::TempStorage s; "
        "int x = P(s).Sum(t); @ x += P(s).Sum(t + 1); if (t == 0) *out = x;",
        "", "__syncthreads();", 1, 128,
    ),
    "storage_of_two_warps": Case(
        "using P = cub::WarpExchange<int, 2>; __shared__ typename P::TempStorage s[4]; "
        "int x[2] = {t, -t}; P(s[@]).BlockedToStriped(x, x); out[t] = x[0] + x[1];",
        "0", "t / 32", 1, 128,
    ),
    # atomic references
    "reference_of_block_scope": Case(
        "if (t == 0) reference<cuda::thread_scope_@>(*out).fetch_add(1);",
        "block", "device", 2, 128,
    ),
    "reference_stored_relaxed": Case(
        "reference<cuda::thread_scope_device> flag(out[1]); if (g == 0) { *out = 5; "
        "flag.store(1, cuda::memory_order_@); } if (g == 128) { "
        "while (!flag.load(cuda::memory_order_acquire)) {} out[2] = *out; }",
        "relaxed", "release", 2, 128,
    ),
    "fence_of_block_scope": Case(
        "reference<cuda::thread_scope_device> flag(out[1]); if (g == 0) { *out = 5; "
        "cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_@); "
        "flag.store(1, cuda::memory_order_relaxed); } if (g == 128) { "
        "while (!flag.load(cuda::memory_order_acquire)) {} out[2] = *out; }",
        "block", "device", 2, 128,
    ),
    "relaxed_lock": Case(
        "reference<cuda::thread_scope_device> lock(out[1]); if (t == 0) { "
        "while (lock.exchange(1, cuda::memory_order_@)) {} *out += 1; "
        "lock.store(0, cuda::memory_order_release); }",
        "relaxed", "acquire", 2, 128,
    ),
}  # fmt: skip
