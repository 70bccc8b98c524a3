# SPDX-License-Identifier: Apache-2.0
"""Kernels that use the target of an asynchronous copy too early, each beside a correct twin."""

from ..cases import Case

START = (
    "__shared__ int s[128]; int t = threadIdx.x; "
    "unsigned a = (unsigned)__cvta_generic_to_shared(s + t); "
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(out + t) : "memory"); '
)
COMMIT = 'asm volatile("cp.async.commit_group;" ::: "memory"); '
SECOND = (
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a + 256), "l"(out + t) '
    ': "memory"); '
)
WAIT_ALL = 'asm volatile("cp.async.wait_all;" ::: "memory"); '

CASES = {
    "read_without_wait": Case(
        START + COMMIT + "@ out[200 + t] = s[t];", "", WAIT_ALL, 1, 64
    ),
    "barrier_without_wait": Case(
        START + COMMIT + "@ __syncthreads(); out[200 + t] = s[63 - t];", "", WAIT_ALL, 1, 64
    ),
    "wait_for_a_wrong_group": Case(
        START + COMMIT + SECOND + COMMIT
        + 'asm volatile("cp.async.wait_group @;" ::: "memory"); out[200 + t] = s[64 + t];',
        "1", "0", 1, 64,
    ),
    "group_not_committed": Case(
        START + '@ asm volatile("cp.async.wait_group 0;" ::: "memory"); out[200 + t] = s[t];',
        "", COMMIT, 1, 64,
    ),
    "write_before_the_wait": Case(
        START + COMMIT + "@ s[t] = 1; " + WAIT_ALL + "out[200 + t] = s[t];", "", WAIT_ALL, 1, 64
    ),
    "stage_of_a_loop": Case(
        START + COMMIT + "for (int i = 0; i < 2; ++i) { "
        'asm volatile("cp.async.wait_group @;" ::: "memory"); '
        "__syncthreads(); out[200 + t] += s[63 - t]; __syncthreads(); " + SECOND + COMMIT + "} "
        + WAIT_ALL,
        "1", "0", 1, 64,
    ),
}  # fmt: skip

CORRECT = {
    "other_stage_in_flight": Case(
        START + COMMIT + SECOND + COMMIT
        + 'asm volatile("cp.async.wait_group 1;" ::: "memory"); out[200 + t] = s[t]; ' + WAIT_ALL,
        "", "", 1, 64,
    ),
}  # fmt: skip
