# SPDX-License-Identifier: Apache-2.0
"""mbarrier: phases, counts and tokens, across the warps of a block."""

import numpy as np
import pytest

INIT = "setp.eq.u32 p, t, 0; @p mbarrier.init.shared.b64 [memory], {count}; bar.sync 0;"
DECLARE = ".reg .b64 s, v; .reg .b32 c, a, n;"
BIT = "selp.u32 {to}, 1, 0, q;"


def run_one(run_words, body, outputs, count=4):
    """Run a body in one thread, after the initialization of a barrier."""
    results = run_words(INIT.format(count=count) + body, [[0]], outputs, declarations=DECLARE)
    return results[0].tolist()


def test_a_phase_completes_with_the_last_arrival(run_words):
    body = "".join(
        "mbarrier.arrive.shared.b64 s, [memory];"
        f"mbarrier.pending_count.b64 o{2 * n}, s;"
        "mbarrier.test_wait.shared.b64 q, [memory], s;" + BIT.format(to=f"o{2 * n + 1}")
        for n in range(5)
    )
    # the token has the count before the arrival; the fifth arrival is the first of the next phase
    assert run_one(run_words, body, 10) == [4, 0, 3, 0, 2, 0, 1, 1, 4, 0]


def test_the_parity_of_a_new_barrier(run_words):
    body = "".join(
        f"mbarrier.test_wait.parity.shared.b64 q, [memory], {parity};" + BIT.format(to=f"o{n}")
        for n, parity in enumerate([0, 1])
    )
    body += "mbarrier.arrive.shared.b64 _, [memory], 4;"
    body += "".join(
        f"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 q, [memory], {parity}, 100;"
        + BIT.format(to=f"o{n}")
        for n, parity in enumerate([0, 1], 2)
    )
    assert run_one(run_words, body, 4) == [0, 1, 1, 0]


def test_bytes_complete_a_phase(run_words):
    wait = "mbarrier.test_wait.shared.b64 q, [memory], s;"
    body = (
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 s, [memory], 64;"
        + wait + BIT.format(to="o0")
        + "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [memory], 16;"
        "mbarrier.complete_tx.shared::cta.b64 [memory], 64;" + wait + BIT.format(to="o1")
        + "mbarrier.complete_tx.shared::cta.b64 [memory], 16;" + wait + BIT.format(to="o2")
    )  # fmt: skip
    assert run_one(run_words, body, 3, count=1) == [0, 0, 1]


def test_a_drop_lowers_the_count_of_later_phases(run_words):
    body = (
        "mbarrier.arrive_drop.shared.b64 s, [memory]; mbarrier.arrive.shared.b64 _, [memory];"
        "mbarrier.test_wait.shared.b64 q, [memory], s;" + BIT.format(to="o0")
        + "mbarrier.arrive.shared.b64 s, [memory]; mbarrier.pending_count.b64 o1, s;"
        "mbarrier.test_wait.shared.b64 q, [memory], s;" + BIT.format(to="o2")
    )  # fmt: skip
    assert run_one(run_words, body, 3, count=2) == [1, 1, 1]


def test_generic_addresses(run_words):
    body = (
        "mov.u32 a, memory; cvt.u64.u32 v, a; cvta.shared.u64 v, v;"
        "mbarrier.arrive.b64 s, [v]; mbarrier.test_wait.b64 q, [v], s;" + BIT.format(to="o0")
        + "mbarrier.inval.b64 [v]; mbarrier.init.b64 [v], 3; mbarrier.arrive.b64 s, [v];"
        "mbarrier.pending_count.b64 o1, s;"
    )  # fmt: skip
    assert run_one(run_words, body, 2, count=1) == [1, 3]


@pytest.mark.parametrize("threads", [32, 128, 256])
@pytest.mark.parametrize("wait", ["test_wait", "try_wait"])
def test_warps_pass_values_through_phases(run_words, threads, wait):
    """A pipeline: thread 0 stores a number in each phase, and all threads add it up."""
    body = (
        INIT.format(count=threads)
        + f"""
        mov.u32 c, 0; mov.u32 n, 0; setp.eq.u32 p, t, 0;
    again:
        add.u32 a, n, 5; @p st.shared.b32 [memory+64], a;
        mbarrier.arrive.shared.b64 s, [memory];
    full: mbarrier.{wait}.shared.b64 q, [memory], s; @!q bra full;
        ld.shared.b32 a, [memory+64]; add.u32 c, c, a;
        mbarrier.arrive.shared.b64 s, [memory];
    empty: mbarrier.{wait}.shared.b64 q, [memory], s; @!q bra empty;
        add.u32 n, n, 1; setp.lt.u32 q, n, 20; @q bra again;
        mov.u32 o0, c;
    """
    )
    results = run_words(body, np.zeros((threads, 1)), 1, declarations=DECLARE)
    assert (results == sum(n + 5 for n in range(20))).all()


def test_lanes_of_a_warp_wait_for_each_other(run_words):
    """The lower half waits in a loop for the upper half, which arrives later in the text."""
    body = (
        INIT.format(count=32)
        + """
        mbarrier.arrive.noComplete.shared.b64 s, [memory], 1;
        setp.ge.u32 p, t, 16; @p bra upper;
    wait: mbarrier.test_wait.parity.shared.b64 q, [memory], 0; @!q bra wait;
        mov.u32 o0, 1; bra done;
    upper: mbarrier.arrive.shared.b64 s, [memory]; mov.u32 o0, 2;
    done:
    """
    )
    body = body.replace("], 32;", "], 48;")
    results = run_words(body, np.zeros((32, 1)), 1, declarations=DECLARE)
    assert results[:, 0].tolist() == [1] * 16 + [2] * 16


MISUSES = {
    "no initialization": ("mbarrier.arrive.shared.b64 s, [memory+8];", "no mbarrier"),
    "too many arrivals": ("mbarrier.arrive.shared.b64 s, [memory], 3;", "pending count"),
    "a completion with noComplete": (
        "mbarrier.arrive.noComplete.shared.b64 s, [memory], 2;", "noComplete"),
    "a misaligned address": ("mbarrier.arrive.shared.b64 s, [memory+4];", "misaligned"),
    "use after inval": (
        "mbarrier.inval.shared.b64 [memory]; mbarrier.arrive.shared.b64 s, [memory];",
        "no mbarrier"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISUSES)
def test_a_misuse_is_a_fault(fault_text, case):
    body, words = MISUSES[case]
    memory = ".shared .align 128 .b8 memory[64]; .reg .b64 s;"
    text = fault_text(f"{memory} mbarrier.init.shared.b64 [memory], 2; {body}", threads=1)
    assert words in text
