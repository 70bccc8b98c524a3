# SPDX-License-Identifier: Apache-2.0
"""Kernels with wrong barriers and masks of lanes, each beside a correct twin."""

from ..cases import Case

CASES = {
    "barrier_in_a_branch": Case(
        "if (threadIdx.x < @) __syncthreads(); out[threadIdx.x] = 1;", "16", "64", 1, 64
    ),
    "loop_left_early": Case(
        "for (int i = 0; i < 4; ++i) { if (i == @) break; __syncthreads(); } out[threadIdx.x] = 1;",
        "threadIdx.x % 32", "2", 1, 64,
    ),
    "different_barriers": Case(
        'if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); '
        'else asm volatile("bar.sync @, 64;"); out[threadIdx.x] = 1;',
        "2", "1", 1, 64,
    ),
    "trip_count_by_thread": Case(
        "for (int i = 0; i < @; ++i) __syncthreads(); out[threadIdx.x] = 1;",
        "threadIdx.x", "3", 1, 32,
    ),
    "count_of_no_warps": Case(
        'asm volatile("bar.sync 1, %0;" :: "r"(@ + out[1])); out[threadIdx.x] = 1;',
        "48", "64", 1, 64,
    ),
    "count_too_large": Case(
        'asm volatile("bar.sync 1, @;"); out[threadIdx.x] = 1;', "96", "64", 1, 64
    ),
    "lane_outside_its_mask": Case(
        "out[threadIdx.x] = __shfl_sync(@, threadIdx.x, 0);", "0xffff", "~0u", 1, 32
    ),
    "masks_differ": Case(
        "unsigned m = threadIdx.x < 16 ? @ : ~0u; out[threadIdx.x] = __ballot_sync(m, 1);",
        "0xffffu", "~0u", 1, 32,
    ),
    "mask_of_one_side": Case(
        "unsigned m = threadIdx.x < 16 ? ~0u : @; __syncwarp(m); out[threadIdx.x] = 1;",
        "0xffff0000u", "~0u", 1, 32,
    ),
    "masks_of_two_branches": Case(
        "if (threadIdx.x < 16) __syncwarp(@); else __syncwarp(0xffff0000u); out[threadIdx.x] = 1;",
        "~0u", "0xffffu", 1, 32,
    ),
    "mask_names_absent_lanes": Case(
        "if (threadIdx.x < 16) __syncwarp(@); __syncthreads(); out[threadIdx.x] = 1;",
        "~0u", "0xffff", 1, 32,
    ),
    "shuffle_in_a_branch": Case(
        "if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(@, threadIdx.x, 0); "
        "__syncthreads();",
        "~0u", "0xffff", 1, 32,
    ),
    "exit_before_a_counted_barrier": Case(
        "if (threadIdx.x >= 32) { @ return; } "
        'asm volatile("bar.sync 1, 64;"); out[threadIdx.x] = 1;',
        "", 'asm volatile("bar.arrive 1, 64;");', 1, 64,
    ),
    "sync_and_red": Case(
        'int v = 1; if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); '
        'else asm volatile("@" : "+r"(v)); out[threadIdx.x] = v;',
        "{.reg .pred p;setp.ne.s32 p, %0, 0;bar.red.popc.u32 %0, 1, 64, p;}", "bar.sync 1, 64;",
        1, 64,
    ),
    "grid_barrier_skipped": Case(
        "volatile int* n = out; if (blockIdx.x < @) { atomicAdd(out, 1); while (*n < 2); }",
        "1", "2", 2, 1,
    ),
    "barrier_number": Case(
        'asm volatile("bar.sync %0, 64;" :: "r"(@ + out[1])); out[threadIdx.x] = 1;',
        "16", "15", 1, 64,
    ),
    "barrier_in_a_called_function": Case(
        "auto meet = []() __attribute__((noinline)) { __syncthreads(); }; if (@) meet(); "
        "out[threadIdx.x] = 1;",
        "threadIdx.x < 32",
        "out[0] == 0",
        1, 64,
    ),
    "cluster_barrier_of_one_block": Case(
        'if (@) asm volatile("barrier.cluster.arrive;\\nbarrier.cluster.wait;" ::: "memory"); '
        "out[blockIdx.x * 64 + threadIdx.x] = 1;",
        "blockIdx.x == 0",
        "blockIdx.x < 2",
        2, 64, {"cluster": 2},
    ),
    "phase_never_completes": Case(
        "__shared__ long long b; unsigned a = (unsigned)__cvta_generic_to_shared(&b); "
        "if (threadIdx.x == 0) "
        'asm volatile("mbarrier.init.shared.b64 [%0], @;" :: "r"(a) : "memory"); __syncthreads(); '
        'asm volatile("{.reg .b64 t;.reg .pred p;mbarrier.arrive.shared.b64 t, [%0];L%=:'
        "mbarrier.test_wait.shared.b64 p, [%0], t;\\100p bra D%=;bra L%=;D%=:}"
        '" :: "r"(a) : "memory"); '
        "out[threadIdx.x] = 1;",
        "65", "64", 1, 64,
    ),
}  # fmt: skip

CORRECT = {
    "early_return": Case(
        "if (threadIdx.x > 40) return; __syncthreads(); out[threadIdx.x] = 1;", "", "", 1, 64
    ),
    "return_between_rounds": Case(
        "for (int i = 0; ; ++i) { if (i > threadIdx.x % 3) return; __syncthreads(); "
        "out[threadIdx.x] = i; }",
        "", "", 1, 64,
    ),
    "return_after_the_store_of_a_round": Case(
        "for (int i = 0; ; ++i) { out[threadIdx.x] = i; if (i > threadIdx.x % 3) return; "
        "__syncthreads(); }",
        "", "", 1, 64,
    ),
    "return_between_rounds_of_two_barriers": Case(
        "for (int i = 0; ; ++i) { if (i > (threadIdx.x > 40)) return; out[threadIdx.x] = i; "
        "__syncthreads(); out[64 + threadIdx.x] = i; __syncthreads(); "
        "out[128 + threadIdx.x] = i; }",
        "", "", 1, 64,
    ),
    "masks_of_fewer_lanes_each_round": Case(
        "unsigned m = ~0u; for (int i = 0; i < 4; ++i) { "
        "m = __ballot_sync(m, threadIdx.x >= 8 * i); if (!(m >> threadIdx.x & 1)) return; "
        "out[threadIdx.x] = __shfl_sync(m, threadIdx.x, 31); }",
        "", "", 1, 32,
    ),
    "mask_of_a_round": Case(
        "for (int i = 0; i < 3; ++i) { if (i == 0 && threadIdx.x < 16) continue; "
        "unsigned m = i == 0 ? 0xffff0000u : ~0u; __syncwarp(m); out[threadIdx.x] = i; }",
        "", "", 1, 32,
    ),
    "barrier_in_a_uniform_branch": Case(
        "if (blockIdx.x == 0) __syncthreads(); out[threadIdx.x] = 1;", "", "", 2, 64
    ),
    "ballot_mask": Case(
        "unsigned m = __ballot_sync(~0u, threadIdx.x % 3); "
        "if (threadIdx.x % 3) out[threadIdx.x] = __shfl_sync(m, threadIdx.x, 1);",
        "", "", 1, 32,
    ),
    "active_mask": Case(
        "if (threadIdx.x < 7) out[threadIdx.x] = __popc(__activemask());", "", "", 1, 32
    ),
    "store_of_a_lane_that_returns": Case(
        "if (threadIdx.x >= 24) { out[threadIdx.x] = 0; return; } "
        "out[threadIdx.x] = __shfl_xor_sync(~0u, (int)threadIdx.x, 1);",
        "",
        "",
        1, 32,
    ),
    "block_of_a_cluster_that_returns": Case(
        'if (blockIdx.x) { out[64] = 1; return; } asm volatile("barrier.cluster.arrive;\\n'
        'barrier.cluster.wait;" ::: "memory"); out[threadIdx.x] = 1;',
        "",
        "",
        2, 64, {"cluster": 2},
    ),
    "mask_of_exited_lanes": Case(
        "if (threadIdx.x > 20) return; out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);",
        "", "", 1, 32,
    ),
}  # fmt: skip
