# SPDX-License-Identifier: Apache-2.0
"""The pragma used_bytes_mask: a vector load over bytes that may be outside the object."""

import pytest

# Without static alignment after it, the last 4 of the 32 loaded bytes do not exist.
DECLARE = ".shared .align 16 .b8 part[28]; .reg .b32 n, k;"
FILL = """
    add.u32 n, i0, 1; add.u32 k, i0, 2; st.shared.v4.u32 [part], {i0, i0, i0, i0};
    st.shared.v2.u32 [part+16], {i0, n}; st.shared.u32 [part+24], k;
    mov.u32 o0, 9; mov.u32 o1, 9; mov.u32 o2, 9;
"""


@pytest.mark.parametrize(
    ("mask", "loaded"), [("4095", [5, 6, 7]), ("0x0ff0", [9, 6, 7]), ("0x0f0f", [5, 9, 7])]
)
def test_only_the_used_elements_are_loaded(run_words, mask, loaded):
    load = f'.pragma "used_bytes_mask {mask}"; ld.shared.v4.u32 {{o0, o1, o2, n}}, [part+16];'
    assert run_words(FILL + load, [[5]], 3, declarations=DECLARE).tolist() == [loaded]


def test_the_pragma_is_about_the_next_load_only(fault_text):
    text = fault_text(
        ".reg .b32 a, b, c, d; .shared .align 16 .b8 part[28];"
        'mov.u32 a, 1; st.shared.u32 [part+16], a; .pragma "used_bytes_mask 15";'
        "ld.shared.v4.u32 {a, b, c, d}, [part+16]; ld.shared.v4.u32 {a, b, c, d}, [part+16];",
        threads=1,
    )
    assert "out-of-bounds load of 16 bytes at byte 16 of shared memory" in text
