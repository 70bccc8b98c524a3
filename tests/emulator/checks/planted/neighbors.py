# SPDX-License-Identifier: Apache-2.0
"""Kernels that access bytes beside an allocation or variable, each beside a correct twin."""

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

CORRECT = {
    "last_byte": Case("((char*)out)[16383] = 1;", "", "", 1, 1),
}
