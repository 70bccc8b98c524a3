# SPDX-License-Identifier: Apache-2.0
"""Variants of planted mistakes that a reviewer wrote, each beside a correct twin."""

from ..cases import Case

CASES = {
    "cluster_scope_between_clusters": Case(
        'int r; asm volatile("atom.relaxed.@.global.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(out) '
        ': "memory"); out[1 + blockIdx.x] = 1;',
        "cluster",
        "gpu",
        4, 1,
    ),
    "release_of_a_block": Case(
        'if (blockIdx.x == 0) { out[1] = 7; asm volatile("st.release.@.global.u32 [%0], 1;" :: '
        '"l"(out) : "memory"); } else { int f = 0; for (int i = 0; i < 10000 && !f; ++i) asm '
        'volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out) : "memory"); if '
        "(f) out[2] = out[1]; }",
        "cta",
        "gpu",
        2, 1,
    ),
    "atomics_of_two_widths": Case(
        "if (threadIdx.x == 0) atomicAdd((unsigned long long*)out, 1ull); else if (threadIdx.x "
        "== 32) atomicAdd(out + @, 1);",
        "1",
        "2",
        1, 64,
    ),
    "bit_fields_of_a_word": Case(
        "struct bits { unsigned a : 4; unsigned b : 4; }; bits* f = (bits*)out; if "
        "(threadIdx.x == 0) f[0].a = 3; if (threadIdx.x == 32) f[@].b = 5;",
        "0",
        "1",
        1, 64,
    ),
    "buffers_not_exchanged": Case(
        "__shared__ int s[2][64]; for (int i = 0; i < 4; ++i) { int* b = s[@]; b[threadIdx.x] "
        "= i; __syncthreads(); out[threadIdx.x] += b[63 - threadIdx.x]; }",
        "0",
        "i & 1",
        1, 64,
    ),
    "reduction_in_a_loop": Case(
        "__shared__ int s[64]; for (int r = 0; r < 3; ++r) { s[threadIdx.x] = r; "
        "__syncthreads(); for (int d = 32; d; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += "
        "s[threadIdx.x + d]; __syncthreads(); } out[threadIdx.x] += s[0]; @ }",
        "",
        "__syncthreads();",
        1, 64,
    ),
    "remote_block_ended": Case(
        "__shared__ int s; s = threadIdx.x + blockIdx.x; asm "
        'volatile("barrier.cluster.arrive;\\nbarrier.cluster.wait;" ::: "memory"); unsigned a, '
        'v; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : '
        '"r"((unsigned)__cvta_generic_to_shared(&s)), "r"(blockIdx.x ^ 1)); asm '
        'volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); '
        "out[blockIdx.x] = v; @",
        "",
        'asm volatile("barrier.cluster.arrive;\\nbarrier.cluster.wait;" ::: "memory");',
        1, 1, {"cluster": 2},
    ),
    "bins_partly_cleared": Case(
        "__shared__ int bins[64]; if (threadIdx.x < 32) for (int i = 0; i < @; ++i) bins[32 * "
        "i + threadIdx.x] = 0; __syncthreads(); atomicAdd(bins + threadIdx.x, 1); "
        "__syncthreads(); out[threadIdx.x] = bins[threadIdx.x];",
        "1",
        "2",
        1, 64,
    ),
    "printf_of_memory": Case(
        'printf("%d %d\\n", out[0], @[3]);',
        "raw",
        "out",
        1, 1,
    ),
    "count_of_a_barrier_too_small": Case(
        'asm volatile("bar.sync 1, @;" ::: "memory"); out[threadIdx.x] = 1;',
        "64",
        "96",
        1, 96,
    ),
    "or_barrier_in_a_branch": Case(
        "int v = 0; if (threadIdx.x < @) v = __syncthreads_or(threadIdx.x == 3); "
        "out[threadIdx.x] = v;",
        "32",
        "64",
        1, 64,
    ),
    "tested_once": Case(
        "__shared__ unsigned long long m; __shared__ int s[64]; unsigned a = "
        "(unsigned)__cvta_generic_to_shared(&m); if (threadIdx.x == 0) asm "
        'volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(a) : "memory"); __syncthreads(); '
        's[threadIdx.x] = 2; unsigned long long st; asm volatile("mbarrier.arrive.shared.b64 '
        '%0, [%1];" : "=l"(st) : "r"(a) : "memory"); int done = 0; @ asm volatile("{.reg .pred '
        'p;mbarrier.test_wait.shared.b64 p, [%1], %2;selp.u32 %0, 1, 0, p;}" : "=r"(done) : '
        '"r"(a), "l"(st) : "memory"); out[threadIdx.x] = s[63 - threadIdx.x];',
        "",
        "while (!done)",
        1, 64,
    ),
    "row_behind_the_last": Case(
        "__shared__ int a[8][8], b[64]; b[threadIdx.x] = 0; a[threadIdx.x / 8][threadIdx.x % "
        "8] = 1; __syncthreads(); out[threadIdx.x] = a[threadIdx.x / 8 + @][threadIdx.x % 8] + "
        "b[63 - threadIdx.x];",
        "out[99] + 1",
        "out[99]",
        1, 64,
    ),
    "copy_not_waited_for_in_the_last_round": Case(
        "__shared__ int s[2][64]; unsigned a0 = "
        "(unsigned)__cvta_generic_to_shared(&s[0][threadIdx.x]), a1 = "
        "(unsigned)__cvta_generic_to_shared(&s[1][threadIdx.x]); asm "
        'volatile("cp.async.ca.shared.global [%0], [%1], 4;cp.async.commit_group;" :: "r"(a0), '
        '"l"(out + threadIdx.x) : "memory"); for (int i = 0; i < 3; ++i) { if (i < 2) asm '
        'volatile("cp.async.ca.shared.global [%0], [%1], 4;cp.async.commit_group;" :: "r"(i & '
        '1 ? a0 : a1), "l"(out + 64 * (i + 1) + threadIdx.x) : "memory"); if (i < @) asm '
        'volatile("cp.async.wait_group 1;" ::: "memory"); else asm '
        'volatile("cp.async.wait_group 0;" ::: "memory"); __syncthreads(); out[512 + 64 * i + '
        "threadIdx.x] = s[i & 1][63 - threadIdx.x]; __syncthreads(); }",
        "3",
        "2",
        1, 64,
    ),
}  # fmt: skip
