# SPDX-License-Identifier: Apache-2.0
"""Kernels with races, each beside a correct twin: the two differ in the text for ``@``."""

from ..cases import Case

CASES = {
    "last_access_of_a_group": Case(
        "__shared__ int s[128]; const int l = threadIdx.x & 31; "
        "if (threadIdx.x < 96) s[threadIdx.x] = 1; __syncthreads(); "
        "if (threadIdx.x >= 96) s[threadIdx.x] = 2; @ "
        "if (threadIdx.x < 32) out[l] = s[l] + s[l + 32] + s[l + 64] + s[l + 96];",
        "", "__syncthreads();", 1, 128,
    ),
    # order within a block
    "shared_exchange": Case(
        "__shared__ int s[64]; s[threadIdx.x] = 1; @ out[threadIdx.x] = s[63 - threadIdx.x];",
        "", "__syncthreads();", 1, 64,
    ),
    "tile_overwritten": Case(
        "__shared__ int s[64]; for (int i = 0; i < 3; ++i) { s[threadIdx.x] = i; __syncthreads(); "
        "out[threadIdx.x] += s[63 - threadIdx.x]; @ }",
        "", "__syncthreads();", 1, 64,
    ),
    "reduction_last_steps": Case(
        "__shared__ int s[128]; s[threadIdx.x] = 1; __syncthreads(); for (int d = 64; d; d /= 2) { "
        "if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; @ } "
        "if (threadIdx.x == 0) *out = s[0];",
        "if (d > 32) __syncthreads();", "__syncthreads();", 1, 128,
    ),
    "shared_init": Case(
        "__shared__ int n; if (threadIdx.x == 0) n = 0; @ atomicAdd(&n, 1); __syncthreads(); "
        "out[threadIdx.x] = n;",
        "", "__syncthreads();", 1, 64,
    ),
    "named_barrier": Case(
        "__shared__ int s[64]; if (threadIdx.x < 32) { s[threadIdx.x] = 1; "
        'asm volatile("bar.arrive 1, 64;" ::: "memory"); } else { '
        'asm volatile("bar.@ 1, 64;" ::: "memory"); out[threadIdx.x] = s[threadIdx.x - 32]; }',
        "arrive", "sync", 1, 64,
    ),
    "named_barrier_of_others": Case(
        "__shared__ int s[128]; s[threadIdx.x] = 1; int b = threadIdx.x / 64 + 1; "
        'asm volatile("bar.sync %0, 64;" :: "r"(b) : "memory"); '
        "out[threadIdx.x] = s[@];",
        "threadIdx.x ^ 64", "threadIdx.x ^ 32", 1, 128,
    ),
    "byte_and_word": Case(
        "char* c = (char*)out; if (threadIdx.x == 0) c[1] = 3; @ "
        "if (threadIdx.x == 32) out[1] = out[0];",
        "", "__syncthreads();", 1, 64,
    ),
    "parameters_in_shared_memory": Case(
        "__shared__ int p; if (threadIdx.x == 0) p = out[9]; @ out[10 + threadIdx.x] = p;",
        "", "__syncthreads();", 1, 64,
    ),
    "barrier_in_divergent_loop": Case(
        "__shared__ int s[64]; for (int i = 0; i < 2; ++i) { if (threadIdx.x / 32 == i) "
        "s[threadIdx.x % 32] = i + 1; @ out[threadIdx.x] = s[threadIdx.x % 32]; __syncthreads(); }",
        "", "__syncthreads();", 1, 64,
    ),
    # order within a warp
    "lane_exchange": Case(
        "__shared__ int s[32]; s[threadIdx.x] = 1; @ out[threadIdx.x] = s[31 - threadIdx.x];",
        "", "__syncwarp();", 1, 32,
    ),
    # numba-cuda's test of syncwarp, useful_syncwarp
    "broadcast_in_place": Case(
        "if (threadIdx.x == 0) out[0] = 42; __syncwarp(); int v = out[0]; @ out[threadIdx.x] = v;",
        "", "__syncwarp();", 1, 32,
    ),
    # lines of 64 bytes at several addresses
    "store_beside_a_group_of_reads": Case(
        "__shared__ int s[320]; int v = 0; for (int i = threadIdx.x; i < 320; i += 64) s[i] = 1; "
        "__syncthreads(); if (threadIdx.x >= 32) {\n#pragma unroll 1\n"
        "for (int i = 0; i < 5; ++i) { const int* p = s + 64 * i + threadIdx.x % 16; "
        "v += p[48]; v += p[20]; v += p[0]; } out[threadIdx.x] = v; } "
        "else if (threadIdx.x < 20) s[threadIdx.x / 4 * 64 + threadIdx.x % 4 + @] = 2;",
        "32", "16", 1, 64,
    ),
    "store_after_reads_of_a_line": Case(
        "__shared__ int s[32]; int* p = s + threadIdx.x % 32; if (threadIdx.x < 32) *p = 1; "
        "__syncthreads(); if (threadIdx.x >= 32) out[threadIdx.x] = *p; @ "
        "if (threadIdx.x < 32) *p = 2;",
        "", "__syncthreads();", 1, 64,
    ),
    "first_of_the_readers_stores": Case(
        "__shared__ int s[32]; s[threadIdx.x] = 1; __syncwarp(); if (threadIdx.x >= 16) { "
        "int v = s[0]; @ if (threadIdx.x == 16) s[0] = 2; out[threadIdx.x] = v; }",
        "", "__syncwarp(0xffff0000);", 1, 32,
    ),
    "half_mask": Case(
        "__shared__ int s[32]; s[threadIdx.x] = 1; @ out[threadIdx.x] = s[31 - threadIdx.x];",
        "if (threadIdx.x < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);", "__syncwarp();",
        1, 32,
    ),
    "exchange_in_half": Case(
        "__shared__ int s[32]; s[threadIdx.x] = threadIdx.x; "
        "if (threadIdx.x < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000); "
        "out[threadIdx.x] = s[@];",
        "threadIdx.x ^ 16", "threadIdx.x ^ 8", 1, 32,
    ),
    "shuffle_as_fence": Case(
        "__shared__ int s[32]; s[threadIdx.x] = 1; int v = __shfl_sync(~0u, threadIdx.x, 0); @ "
        "out[threadIdx.x] = v + s[31 - threadIdx.x];",
        "", "__syncwarp();", 1, 32,
    ),
    "vote_as_fence": Case(
        "__shared__ int s[32]; s[threadIdx.x] = 1; int v = __any_sync(~0u, threadIdx.x); @ "
        "out[threadIdx.x] = v + s[31 - threadIdx.x];",
        "", "__syncwarp();", 1, 32,
    ),
    "two_values_in_one_store": Case("out[0] = @;", "threadIdx.x", "7", 1, 32),
    # order between blocks
    "block_store_store": Case(
        "@", "*out = blockIdx.x;", "if (blockIdx.x == 0) *out = 1;", 2, 1
    ),
    "stencil_in_place": Case(
        "int i = blockIdx.x * 32 + threadIdx.x; out[i + @] = out[(i + 1) % 128];", "0", "200", 4, 32
    ),
    "plain_beside_atomic": Case(
        "if (threadIdx.x == 5) { @; } else atomicAdd(out, 1);", "out[0]++", "atomicAdd(out, 1)",
        1, 64,
    ),
    "atomic_block_scope": Case("@(out, 1);", "atomicAdd_block", "atomicAdd", 4, 32),
    "flag_no_fence": Case(
        "volatile int* f = out; if (blockIdx.x == 0) { out[1] = 5; @ f[0] = 1; } "
        "else { while (f[0] == 0); @ out[2] = out[1]; }",
        "", "__threadfence();", 2, 1,
    ),
    "flag_one_fence": Case(
        "volatile int* f = out; if (blockIdx.x == 0) { out[1] = 5; __threadfence(); f[0] = 1; } "
        "else { while (f[0] == 0); @ out[2] = out[1]; }",
        "", "__threadfence();", 2, 1,
    ),
    "flag_block_scope": Case(
        "volatile int* f = out; if (blockIdx.x == 0) { out[1] = 5; @ f[0] = 1; } "
        "else { while (f[0] == 0); @ out[2] = out[1]; }",
        "__threadfence_block();", "__threadfence();", 2, 1,
    ),
    "plain_flag": Case(
        "@ int* f = out; if (blockIdx.x == 0) { f[0] = 1; } else if (f[0]) out[1] = 1;",
        "", "volatile", 2, 1,
    ),
    "flag_in_a_block": Case(
        "volatile int* f = out; if (threadIdx.x == 0) { out[1] = 5; @ f[0] = 1; } "
        "else if (threadIdx.x == 32) { while (f[0] == 0); @ out[2] = out[1]; }",
        "", "__threadfence_block();", 1, 64,
    ),
    "relaxed_publish": Case(
        "if (blockIdx.x == 0) { out[1] = 5; "
        'asm volatile("st.@.gpu.global.s32 [%0], 1;" :: "l"(out) : "memory"); } else { int v; '
        'do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(out) : "memory"); '
        "while (!v); out[2] = out[1]; }",
        "relaxed", "release", 2, 1,
    ),
    "relaxed_load": Case(
        "if (blockIdx.x == 0) { out[1] = 5; "
        'asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(out) : "memory"); } '
        "else { int v; "
        'do asm volatile("ld.@.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(out) : "memory"); '
        "while (!v); out[2] = out[1]; }",
        "relaxed", "acquire", 2, 1,
    ),
    "last_block_no_fence": Case(
        "__shared__ bool last; out[1 + blockIdx.x] = blockIdx.x; @ "
        "if (threadIdx.x == 0) last = atomicAdd(out, 1) == gridDim.x - 1; __syncthreads(); "
        "if (last) { @ int sum = 0; for (int i = 0; i < gridDim.x; ++i) "
        "sum += out[1 + i]; out[100] = sum; out[0] = 0; }",
        "", "__threadfence();", 4, 32,
    ),
    # PyTorch's reduction of a grid: all threads of the last block call the second fence
    "last_block_of_two_warps": Case(
        "__shared__ bool last; out[64 + 64 * blockIdx.x + threadIdx.x] = 1; @ __syncthreads(); "
        "if (threadIdx.x == 0) last = atomicAdd(out, 1) == gridDim.x - 1; __syncthreads(); "
        "if (last) { @ out[512 + threadIdx.x] = out[127 - threadIdx.x]; }",
        "", "__threadfence();", 4, 64,
    ),
    "lock_no_fence": Case(
        "for (bool done = false; !done;) { if (atomicCAS(out, 0, 1) == 0) { @ out[1]++; @ "
        "atomicExch(out, 0); done = true; } }",
        "", "__threadfence();", 4, 1,
    ),
    "lock_with_one_fence": Case(
        "for (bool done = false; !done;) { if (atomicCAS(out, 0, 1) == 0) { __threadfence(); "
        "out[1]++; @ atomicExch(out, 0); done = true; } }",
        "", "__threadfence();", 4, 1,
    ),
    "grid_barrier_left_out": Case(
        "out[threadIdx.x + 32 * blockIdx.x] = 1; @ "
        "out[200 + threadIdx.x + 32 * blockIdx.x] = out[threadIdx.x + 32 * (blockIdx.x ^ 1)];",
        "",
        "__threadfence(); __syncthreads(); if (threadIdx.x == 0) { atomicAdd(out + 500, 1); "
        "while (*(volatile int*)(out + 500) < 2); } __syncthreads(); __threadfence();",
        2, 32,
    ),
}  # fmt: skip

# Kernels without races that a simple check would report.
CORRECT = {
    "flag_of_any_thread": Case("if (threadIdx.x % 3) out[0] = 1;", "", "", 4, 64),
    "slots_by_atomics": Case("out[1 + atomicAdd(out, 1)] = threadIdx.x;", "", "", 4, 32),
    "reset_by_the_last": Case("if (atomicAdd(out, 1) == 127) out[0] = 0;", "", "", 4, 32),
    "bytes_of_a_word": Case("((char*)out)[threadIdx.x] = threadIdx.x;", "", "", 1, 64),
    "halves_of_a_word": Case("((short*)out)[threadIdx.x] = threadIdx.x;", "", "", 1, 64),
    "two_readers": Case("out[1 + threadIdx.x + 64 * blockIdx.x] = out[0];", "", "", 4, 64),
    "early_return": Case(
        "__shared__ int s[64]; if (threadIdx.x > 40) return; s[threadIdx.x] = 1; __syncthreads(); "
        "out[threadIdx.x] = s[40 - threadIdx.x];", "", "", 1, 64,
    ),
    "shared_memory_of_the_next_block": Case(
        "__shared__ int s[32]; s[threadIdx.x] = 1; __syncthreads(); "
        "out[32 * blockIdx.x + threadIdx.x] = s[31 - threadIdx.x];", "", "", 16, 32,
    ),
    "readers_before_a_barrier": Case(
        "__shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); int v = s[0]; __syncthreads(); "
        "if (threadIdx.x == 33) s[0] = v + 1; __syncthreads(); out[threadIdx.x] = s[0];",
        "", "", 1, 64,
    ),
    "readers_of_two_phases": Case(
        "int v = threadIdx.x < 32 ? out[0] : 0; __syncthreads(); "
        "if (threadIdx.x >= 32) v = out[0]; if (threadIdx.x == 40) v += out[0]; "
        "__syncthreads(); if (threadIdx.x == 3) out[0] = v;",
        "", "", 1, 64,
    ),
    "transposition": Case(
        "__shared__ int t[32][33]; int x = threadIdx.x % 32, y = threadIdx.x / 32; "
        "for (int i = 0; i < 32; i += 4) t[y + i][x] = out[(y + i) * 32 + x]; __syncthreads(); "
        "for (int i = 0; i < 32; i += 4) out[1024 + (y + i) * 32 + x] = t[x][y + i];",
        "", "", 1, 128,
    ),
    "wide_accesses": Case(
        "int4* v = (int4*)out; v[64 + threadIdx.x] = v[threadIdx.x]; "
        "((double*)out)[300 + threadIdx.x] = 1;", "", "", 1, 64,
    ),
    "lock_between_lanes": Case(
        "for (bool done = false; !done;) { if (atomicCAS(out, 0, 1) == 0) { __threadfence(); "
        "out[1]++; __threadfence(); atomicExch(out, 0); done = true; } }", "", "", 2, 32,
    ),
    "failing_swap_beside_a_read": Case(
        "if (threadIdx.x == 0) out[1] = out[0]; else atomicCAS(out, 5, 6);", "", "", 1, 64
    ),
}  # fmt: skip
