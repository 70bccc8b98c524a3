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
    "wait_of_another_warp": Case(
        START + COMMIT + "if (t >= @) " + WAIT_ALL + "__syncthreads(); out[200 + t] = s[63 - t];",
        "32", "0", 1, 64,
    ),
    "two_groups_and_one_wait": Case(
        START + COMMIT + SECOND + COMMIT
        + 'asm volatile("cp.async.wait_group 1;" ::: "memory"); @ __syncthreads(); '
        "out[200 + t] = s[t] + s[127 - t]; " + WAIT_ALL,
        "", WAIT_ALL, 1, 64,
    ),
    "source_stored_before_the_wait": Case(
        START + COMMIT + "@ out[t] = 7; " + WAIT_ALL + "out[200 + t] = s[t];", "", WAIT_ALL, 1, 64
    ),
    "atomic_on_the_target": Case(
        START + COMMIT + "@ atomicAdd(s + t, 1); " + WAIT_ALL + "out[200 + t] = s[t];",
        "", WAIT_ALL, 1, 64,
    ),
    "next_copy_without_a_wait": Case(
        START + COMMIT + "for (int i = 0; i < 2; ++i) { @ __syncthreads(); "
        "out[200 + t] += s[63 - t]; __syncthreads(); "
        'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(out + t) '
        ': "memory"); ' + COMMIT + "} " + WAIT_ALL,
        "", WAIT_ALL, 1, 64,
    ),
}  # fmt: skip

BULK = (
    "__shared__ alignas(128) int s[64]; __shared__ alignas(8) unsigned long long bar; "
    "int t = threadIdx.x; unsigned a = (unsigned)__cvta_generic_to_shared(s); "
    "unsigned b = (unsigned)__cvta_generic_to_shared(&bar); "
    'if (t == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b) : "memory"); '
    'asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); } __syncthreads(); '
    'if (t == 0) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(b) '
    ': "memory"); asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes '
    '[%0], [%1], 256, [%2];" :: "r"(a), "l"(out), "r"(b) : "memory"); } '
)
WAIT_PHASE = (
    'for (int done = 0; !done;) asm volatile("{.reg .pred p;mbarrier.try_wait.parity.shared.b64 '
    'p, [%1], 0;selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(b) : "memory"); '
)

# Copies whose bytes other threads use without an order. The check of races finds them.
RACES = {
    "wait_without_barrier": Case(
        START + COMMIT + WAIT_ALL + "@ out[200 + t] = s[63 - t];", "", "__syncthreads();", 1, 64
    ),
    "wait_and_barrier_of_a_warp": Case(
        START + COMMIT + WAIT_ALL + "@ out[200 + t] = s[63 - t];",
        "__syncwarp();", "__syncthreads();", 1, 64,
    ),
    "next_stage_without_barrier": Case(
        START + COMMIT + WAIT_ALL + "__syncthreads(); int v = s[63 - t]; @ " + SECOND.replace(
            "a + 256", "a"
        ) + COMMIT + WAIT_ALL + "out[200 + t] = v;",
        "", "__syncthreads();", 1, 64,
    ),
    "barrier_used_before_its_init": Case(
        "__shared__ alignas(8) unsigned long long bar; int t = threadIdx.x; "
        "unsigned b = (unsigned)__cvta_generic_to_shared(&bar); "
        'if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(b) : "memory"); @ '
        'asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory"); '
        + WAIT_PHASE + "out[t] = 1;",
        "", "__syncthreads();", 1, 64,
    ),
    "bulk_copy_without_wait": Case(
        BULK + "@ out[200 + t] = s[t]; __syncthreads(); " + WAIT_PHASE, "", WAIT_PHASE, 1, 64
    ),
    "bulk_copy_awaited_by_one_warp": Case(
        BULK + "if (t >= @) { " + WAIT_PHASE + "} out[200 + t] = s[t];", "32", "0", 1, 64
    ),
    "bulk_copy_over_a_store": Case(
        BULK.replace(
            "} __syncthreads();", "} if (@) __syncthreads(); s[t] = t; if (!@) __syncthreads();"
        ) + WAIT_PHASE + "out[200 + t] = s[t];",
        "1", "0", 1, 64,
    ),
}  # fmt: skip

CORRECT = {
    "bulk_copy_and_its_wait": Case(
        BULK + WAIT_PHASE + "out[200 + t] = s[63 - t];", "", "", 1, 64
    ),
    "other_stage_in_flight": Case(
        START + COMMIT + SECOND + COMMIT
        + 'asm volatile("cp.async.wait_group 1;" ::: "memory"); out[200 + t] = s[t]; ' + WAIT_ALL,
        "", "", 1, 64,
    ),
}  # fmt: skip
