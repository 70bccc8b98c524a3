# SPDX-License-Identifier: Apache-2.0
"""Kernels that access bytes beside an object, each beside a correct twin."""

from ..cases import Case

CASES = {
    "one_past_the_end": Case("out[@] = 1;", "4096", "4095", 1, 1),
    "before_the_start": Case("out[@] = 1;", "-1", "0", 1, 1),
    "last_part_of_a_vector": Case("((int4*)(out + @))[1023] = int4{};", "4", "0", 1, 1),
    "read_past_the_end": Case("out[0] = raw[@ + threadIdx.x];", "4090", "0", 1, 1024),
    "shared_memory": Case(
        "__shared__ int s[32]; s[out[9] + @] = 1; __syncthreads(); out[0] = s[0];",
        "32", "31", 1, 1,
    ),
    "stack": Case(
        "int a[4]; for (int i = 0; i < 4; ++i) a[i] = out[i]; out[1] = a[out[9] + @];",
        "4", "3", 1, 1,
    ),
}  # fmt: skip

# The distance is volatile, so that the compiler cannot compute the other pointer.
DISTANCE = "volatile int d = int(raw - out); "

# Accesses that land in another object, so that they are no faults.
LANDINGS = {
    "store_in_the_next_allocation": Case(DISTANCE + "out[@] = 1;", "d", "d - d", 1, 1),
    "load_from_the_next_allocation": Case(
        DISTANCE + "raw[0] = 1; out[0] = out[@];", "d", "d - d", 1, 1
    ),
    "load_of_neighboring_lanes": Case(
        DISTANCE + "raw[threadIdx.x] = 1; out[threadIdx.x] = out[threadIdx.x + @];",
        "d", "0", 1, 64,
    ),
    "stride_too_large": Case(
        DISTANCE + "for (int i = 0; i < 2; ++i) out[i * @] = 1;", "d", "8", 1, 1
    ),
    "atomic_in_the_next_allocation": Case(
        DISTANCE + "raw[0] = 0; atomicAdd(out + @, 1);", "d", "1", 1, 1
    ),
    "before_the_allocation": Case(DISTANCE + "raw[@] = 1;", "-d", "0", 1, 1),
    "next_shared_variable": Case(
        "__shared__ int s[32], t[32]; s[threadIdx.x] = t[threadIdx.x] = 1; __syncthreads(); "
        "volatile int n = &s < &t ? 32 : -1; out[threadIdx.x] = s[@] + t[0];",
        "n", "n & 31", 1, 32,
    ),
    "next_variable_of_the_module": Case(
        "static int a[4], b[4]; volatile int d = (char*)b - (char*)a; b[out[0]] = 1; "
        "*(int*)((char*)a + @) = 1; out[1] = a[out[0]] + b[out[0]];",
        "d", "4", 1, 1,
    ),
    "local_variable_of_another_thread": Case(
        "__shared__ int* p; int a = threadIdx.x + out[0]; if (threadIdx.x == 0) p = &a; "
        "__syncthreads(); out[threadIdx.x] = *@;",
        "p", "(&a)", 1, 64,
    ),
    "local_variable_through_memory": Case(
        "int a = out[1]; int** p = (int**)(out + 2); if (threadIdx.x == 0) *p = &a; "
        "__syncthreads(); if (threadIdx.x == @) out[0] = **p;",
        "32", "0", 1, 64,
    ),
}  # fmt: skip

CORRECT = {
    "last_byte": Case("((char*)out)[16383] = 1;", "", "", 1, 1),
    "one_of_two_pointers": Case(
        "int* p = out[threadIdx.x] ? out : raw; p[threadIdx.x] = 1;", "", "", 1, 64
    ),
    "end_as_a_limit": Case(
        "for (int* p = out + threadIdx.x; p < out + 4096; p += 64) *p = 1;", "", "", 1, 64
    ),
    "difference_of_pointers": Case(
        "long d = raw - out; for (int i = 0; i < 64; ++i) { out[i] = i; (out + i)[d] = i; }",
        "", "", 1, 1,
    ),
    "local_variable_of_the_thread": Case(
        "__shared__ int* p[64]; int a = out[threadIdx.x]; p[threadIdx.x] = &a; "
        "__syncthreads(); out[threadIdx.x] = *p[threadIdx.x];",
        "", "", 1, 64,
    ),
}  # fmt: skip
