# SPDX-License-Identifier: Apache-2.0
"""Wrong uses of tensor memory are errors that name the rule."""

import pytest

from tests.ids import readable

from .conftest import COMMIT, WAIT, Case, by_leader, kernel_text, run_cases

LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [mine];"
STORE = "tcgen05.st.sync.aligned.32x32b.x1.b32 [mine], {r0};"
WAIT_LOAD, WAIT_STORE = (f"tcgen05.wait::{word}.sync.aligned;" for word in ("ld", "st"))
PRODUCT = "tcgen05.mma.cta_group::1.kind::f16 [taddr], c0, c1, r1, adds"
SPARSE = "tcgen05.mma.sp.cta_group::1.kind::f16 [taddr], c0, c1, [taddr+64], r1, adds"
CLEAR = f"""mov.b32 r0, 0; add.u32 mine, mine, 64; {STORE} sub.u32 mine, mine, 64; {WAIT_STORE}
    tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;"""
A_PRODUCT = f"mov.b64 c0, 0x400000000000; mov.b64 c1, c0; mov.b32 r1, {1 << 4 | 1 << 17 | 8 << 24};"


@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        (f"add.u32 mine, mine, 256; {LOAD}", "columns 256 to 256 are not allocated"),
        (f"add.u32 mine, mine, 512; {LOAD}", "exceed the 128 lanes and 512 columns"),
        (f"add.u32 mine, mine, 0x200000; {LOAD}", "which accesses lanes"),
        (f"add.u32 mine, mine, i; {LOAD}", "different addresses"),
        (f"{LOAD} add.u32 r2, r0, 1; {WAIT_LOAD}", "reads a result before tcgen05.wait::ld"),
        (
            f"{STORE} bar.sync 0; {A_PRODUCT} {by_leader([PRODUCT])}",
            "a warp that has not executed tcgen05.wait::st",
        ),
        (
            f"{LOAD} bar.sync 0; {A_PRODUCT} {by_leader([PRODUCT])}",
            "a warp that has not executed tcgen05.wait::ld",
        ),
        (
            f"{A_PRODUCT} setp.ne.u32 adds, 0, 0; @first {PRODUCT}; bar.sync 0; {LOAD}",
            "columns 0 to 0 are accessed by a tcgen05.mma, cp or shift, and no thread has waited",
        ),
        (
            f"{A_PRODUCT} setp.ne.u32 adds, 0, 0; @first {PRODUCT}; setp.eq.u32 q, i, 1; "
            f"@q {COMMIT} {WAIT} {LOAD}",
            "columns 0 to 0 are accessed by a tcgen05.mma",
        ),
        (
            f"{A_PRODUCT} xor.b32 r1, r1, 0x490; {by_leader([PRODUCT])}",
            "the type of D has the number 0",
        ),
        (f"{A_PRODUCT} mov.b64 c0, 0; {by_leader([PRODUCT])}", "bits 46 to 48 are not 0b001"),
        (
            f"{A_PRODUCT} mov.b64 c0, 0x400000003fff; {by_leader([PRODUCT])}",
            "exceeds the shared memory",
        ),
        (
            f"{A_PRODUCT} xor.b32 r1, r1, 0x3000000; {by_leader([PRODUCT])}",
            "M is 176, not 128 or 64",
        ),
        (
            f"{A_PRODUCT} {by_leader([PRODUCT.replace('mma', 'mma.ws')])}",
            "N is 8, not 64, 128 or 256",
        ),
        (f"{A_PRODUCT} {by_leader([SPARSE])}", "it is for a dense A"),
        (
            f"{A_PRODUCT} or.b32 r1, r1, 4; {by_leader([PRODUCT])}",
            "it is for a sparse A",
        ),
        (
            f"{A_PRODUCT} or.b32 r1, r1, 5; {by_leader([SPARSE])}",
            "its sparsity selector is not 0",
        ),
        (
            f"{CLEAR} {A_PRODUCT} or.b32 r1, r1, 4; {by_leader([SPARSE])}",
            "the metadata 0x0 of the sparse A name no pair of columns",
        ),
        (
            f"{A_PRODUCT} mov.b32 r1, {1 << 2 | 1 << 4 | 8 << 17 | 4 << 24}; "
            f"{by_leader([SPARSE.replace('mma', 'mma.ws')])}",
            "A is sparse and M is 64",
        ),
    ],
    ids=readable,
)
@pytest.mark.parametrize("mode", ["eager", "adversarial"])
def test_a_wrong_access(tensor_fault, body, phrase, mode):
    text = tensor_fault(body, mode=mode, epilogue=False)
    assert "tensor-memory" in text
    assert phrase in text


@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
def test_the_warp_of_an_unfinished_product_waits_too(tensor_fault, access):
    """The columns show which instruction is wrong: the release at the end would be as well."""
    body = f"""{A_PRODUCT} setp.ne.u32 adds, 0, 0; @first {PRODUCT};
        setp.ne.u32 q, warp, 0; @q bra others; {access} others:"""
    assert "columns 0 to 0 are accessed by a tcgen05.mma" in tensor_fault(body, epilogue=False)


ALLOCATION = """
    setp.ne.u32 q, warp, 0; @q bra other;
    {}
    other:
"""
ALLOC = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cell], {};"
FREE = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 {};"


@pytest.mark.parametrize(
    ("instructions", "phrase"),
    [
        (ALLOC.format(32), "an allocation after tcgen05.relinquish_alloc_permit"),
        (f"{{ .reg .b32 n; mov.b32 n, 48; {ALLOC.format('n')} }}", "the number of columns is 48"),
        (f"{{ .reg .b32 n; mov.b32 n, 0; {FREE.format('taddr, n')} }}", "columns is 0"),
        (
            f"{{ .reg .b32 n; mov.b32 n, 0x80000000; {FREE.format('taddr, n')} }}",
            "the number of columns is 2147483648",
        ),
        (FREE.format("taddr, 128"), "no allocation of 128 columns begins at 0x0"),
        (FREE.format("taddr, 256") + FREE.format("taddr, 256"), "are not allocated"),
    ],
    ids=readable,
)
def test_a_wrong_allocation(tensor_fault, instructions, phrase):
    text = tensor_fault(ALLOCATION.format(instructions), epilogue=False)
    assert "tensor-memory" in text
    assert phrase in text


def text_without(phrase, replacement=""):
    text = kernel_text("", epilogue=False)
    assert phrase in text
    return text.replace(phrase, replacement)


def test_more_columns_than_exist_and_columns_that_leak(run_emulated):

    permit = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
    second = text_without(permit, ALLOC.format(512))
    leak = text_without(FREE.format("taddr, 256"))
    for text, phrase in (
        (second, "512 columns do not fit: 256 of 512 are free"),
        (leak, "the block ended without tcgen05.dealloc"),
    ):
        results, output = run_cases(run_emulated, [Case(text)])
        assert not results
        assert phrase in output
        assert "PTX line" in output
