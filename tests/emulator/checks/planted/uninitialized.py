# SPDX-License-Identifier: Apache-2.0
"""Kernels that use bytes that nobody wrote, each beside a correct twin."""

from ..cases import Case

CASES = {
    "branch_on_memory": Case(
        "if (@[threadIdx.x] > 5) out[threadIdx.x] = 1;", "raw", "out", 1, 32
    ),
    "branch_on_equality": Case(
        "if (@[threadIdx.x] == 1) out[threadIdx.x] = 1;", "raw", "out", 1, 32
    ),
    "shared_half_filled": Case(
        "__shared__ int s[64]; if (threadIdx.x < @) s[threadIdx.x] = 1; __syncthreads(); "
        "if (s[63 - threadIdx.x]) out[threadIdx.x] = 1;",
        "32", "64", 1, 64,
    ),
    "local_array": Case(
        "int a[8]; for (int i = 0; i < @; ++i) a[i] = out[i]; "
        "if (a[out[9] + 7]) out[threadIdx.x] = 1;",
        "7", "8", 1, 32,
    ),
    "through_shared": Case(
        "__shared__ int s[32]; s[threadIdx.x] = @[threadIdx.x]; __syncthreads(); "
        "if (s[31 - threadIdx.x] > 3) out[threadIdx.x] = 1;",
        "raw", "out", 1, 32,
    ),
    "through_shuffle": Case(
        "int v = threadIdx.x == 3 ? @[0] : 0; v = __shfl_sync(~0u, v, 3); "
        "if (v > 7) out[threadIdx.x] = 1;",
        "raw", "out", 1, 32,
    ),
    "shuffle_from_exited_lanes": Case(
        "int v = threadIdx.x; if (@) return; v += __shfl_down_sync(~0u, v, 8); "
        "if (v > 20) out[threadIdx.x] = 1;",
        "v >= 16", "v >= 32", 1, 32,
    ),
    "shuffle_from_another_branch": Case(
        "int v = out[threadIdx.x] + 1; if (threadIdx.x < 16) { "
        "v += __shfl_xor_sync(0xffff, v, @); if (v > 2) out[threadIdx.x] = 2; }",
        "16", "8", 1, 32,
    ),
    "shuffle_without_the_threads": Case(
        "int v = out[threadIdx.x]; v = __shfl_sync(~0u, v, @); if (v) out[threadIdx.x] = 3;",
        "24", "23", 1, 24,
    ),
    "through_arithmetic": Case(
        "int v = @[threadIdx.x] * 3 + out[5]; if (v < 7) out[32 + threadIdx.x] = 1;",
        "raw", "out", 1, 32,
    ),
    "through_memory": Case(
        "raw[64 + threadIdx.x] = @[threadIdx.x]; __syncwarp(); "
        "if (raw[64 + (threadIdx.x ^ 1)]) out[threadIdx.x] = 1;",
        "raw", "out", 1, 32,
    ),
    "as_address": Case("out[@[threadIdx.x] & 15] = 1;", "raw", "out", 1, 1),
    "atomic_target": Case("atomicAdd(@ + threadIdx.x, 1);", "raw", "out", 1, 32),
    "atomic_swap_target": Case("atomicCAS(@ + threadIdx.x, 0, 1);", "raw", "out", 1, 32),
    "atomic_operand": Case("atomicAdd(out, @[threadIdx.x]);", "raw", "out", 1, 32),
    "atomic_in_shared": Case(
        "__shared__ int n; @ __syncthreads(); atomicAdd(&n, 1); __syncthreads(); out[0] = n;",
        "", "if (threadIdx.x == 0) n = 0;", 1, 64,
    ),
    "partial_vector": Case(
        "int4* v = (int4*)raw; raw[4 * threadIdx.x] = 1; raw[4 * threadIdx.x + 1] = 2; "
        "raw[4 * threadIdx.x + 2] = 3; int4 a = v[threadIdx.x]; "
        "if (a.x + a.y + a.@ > 2) out[threadIdx.x] = 1;",
        "w", "z", 1, 32,
    ),
    "union_member": Case(
        "((short*)raw)[2 * threadIdx.x] = 3; if (@) out[threadIdx.x] = 1;",
        "raw[threadIdx.x] > 2", "((short*)raw)[2 * threadIdx.x] > 2", 1, 32,
    ),
    "padding_compared": Case(
        "char* b = (char*)raw; b[0] = 1; raw[1] = 2; int sum = 0; "
        "for (int i = 0; i < 8; i += @) sum += b[i]; out[threadIdx.x] = sum;",
        "1", "4", 1, 32,
    ),
    "printf_argument": Case(
        'printf("%d\\n", @[0]);', "raw", "out", 1, 1,
    ),
    "in_a_function": Case(
        "auto f = [](const int* p, int n) __attribute__((noinline)) { return p[n] > 2; }; "
        "if (f(@, threadIdx.x)) out[threadIdx.x] = 1;",
        "raw", "out", 1, 32,
    ),
    "dynamic_index": Case(
        "int i = @[7]; for (int k = 0; k < i; ++k) { out[0] += k; if (k > 3) break; }",
        "raw", "out", 1, 1,
    ),
    "ballot": Case(
        "if (__ballot_sync(~0u, @[threadIdx.x] > 2) & 4) out[threadIdx.x] = 1;",
        "raw", "out", 1, 32,
    ),
}  # fmt: skip

# Kernels without mistakes that read bytes that nobody wrote.
CORRECT = {
    "padding_copied": Case(
        "struct record { char c; int n; }; record* r = (record*)raw; r[threadIdx.x].c = 1; "
        "r[threadIdx.x].n = 2; __shared__ record s[32]; s[threadIdx.x] = r[threadIdx.x]; "
        "__syncthreads(); record t = s[31 - threadIdx.x]; if (t.c == 1 && t.n == 2) out[1] = 1;",
        "", "", 1, 32,
    ),
    "padding_returned": Case(
        "struct record { char c; int n; }; record* r = (record*)raw; r[threadIdx.x].c = 1; "
        "r[threadIdx.x].n = 2; "
        "((long long*)out)[threadIdx.x] = ((volatile long long*)raw)[threadIdx.x];",
        "", "", 1, 32,
    ),
    "unused_word_of_a_vector": Case(
        "int4* v = (int4*)raw; raw[4 * threadIdx.x] = 1; int4 a = v[threadIdx.x]; "
        "if (a.x == 1) out[threadIdx.x] = 1; v[32 + threadIdx.x] = a;",
        "", "", 1, 32,
    ),
    "value_not_selected": Case(
        "int v = raw[threadIdx.x]; int r = threadIdx.x < 40 ? 3 : v; if (r == 3) out[0] = 3;",
        "", "", 1, 32,
    ),
    "masked_bits": Case(
        "char* b = (char*)raw; b[4 * threadIdx.x] = 5; int v = raw[threadIdx.x]; "
        "if ((v & 0xff) == 5) out[threadIdx.x] = 1; if ((v << 24) > 3) out[33 + threadIdx.x] = 1;",
        "", "", 1, 32,
    ),
    "bit_field": Case(
        "struct bits { int a : 3; int b : 5; int c : 24; }; bits* f = (bits*)raw; "
        "f[threadIdx.x].a = 2; f[threadIdx.x].b = 3; if (f[threadIdx.x].a == 2) out[0] = 1;",
        "", "", 1, 32,
    ),
    "status_and_value": Case(
        "long long* p = (long long*)raw; raw[2 * threadIdx.x] = 1; long long v = p[threadIdx.x]; "
        "if ((int)v == 1) out[0] = 1;", "", "", 1, 32,
    ),
    "xor_with_itself": Case(
        "int v = raw[threadIdx.x], z; "
        'asm volatile("xor.b32 %0, %1, %1;" : "=r"(z) : "r"(v)); if (z == 0) out[0] = 1;',
        "", "", 1, 32,
    ),
    "exchange_with_new_memory": Case(
        "atomicExch(raw + threadIdx.x, 1); if (raw[threadIdx.x] == 1) out[threadIdx.x] = 1;",
        "", "", 1, 32,
    ),
    "stack_of_a_function": Case(
        "auto f = [](int n, int* o) __attribute__((noinline)) { int a[4] = {n, n, n, n}; "
        "return a[o[0] + 2]; }; if (f(3, out) == 3) out[1] = 1; if (f(4, out) == 4) out[2] = 2;",
        "", "", 1, 32,
    ),
    "shuffled_value_not_used": Case(
        "int v = threadIdx.x + 1; for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d); "
        "if (threadIdx.x == 0 && v > 3) out[0] = v;",
        "", "", 1, 32,
    ),
    "shuffle_within_a_segment": Case(
        "int v = threadIdx.x + 1; v += __shfl_down_sync(~0u, v, 4, 8); "
        "if (v > 3) out[threadIdx.x] = v;",
        "", "", 1, 24,
    ),
    "sum_of_a_part_of_a_warp": Case(
        "int v = threadIdx.x + 1; for (int d = 16; d; d /= 2) { "
        "int other = __shfl_down_sync(0xfffff, v, d); if (threadIdx.x + d < 20) v += other; } "
        "if (threadIdx.x == 0) out[0] = v;",
        "", "", 1, 20,
    ),
    "printf_of_values": Case('printf("%d %s %f\\n", out[0], "text", 1.5);', "", "", 1, 1),
}  # fmt: skip
