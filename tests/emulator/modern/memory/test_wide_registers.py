# SPDX-License-Identifier: Apache-2.0
"""Registers of 128 bits: moves, loads, stores and atomic operations."""

import numpy as np
import pytest

DECLARE = ".reg .b128 v, w, x; .reg .b64 l, h, g; .reg .b32 a;"
PACK = "mov.b64 l, {i0, i1}; mov.b64 h, {i2, i3}; mov.b128 v, {l, h};"
UNPACK = "mov.b128 {l, h}, %s; mov.b64 {o0, o1}, l; mov.b64 {o2, o3}, h;"
WORDS = np.arange(64 * 4, dtype=np.uint32).reshape(64, 4) * 0x1234567 + 9


def run(run_words, body):
    return run_words(body, WORDS, 4, declarations=DECLARE)


def test_moves(run_words):
    assert (run(run_words, PACK + "mov.b128 w, v;" + UNPACK % "w") == WORDS).all()


@pytest.mark.parametrize("space", ["shared", "local"])
def test_loads_and_stores(run_words, space):
    declare = ".local .align 16 .b8 own[16];" if space == "local" else ""
    place = "own" if space == "local" else "a"
    body = (
        f"{declare} mov.u32 a, memory; mad.lo.u32 a, t, 16, a;"
        f"{PACK} st.{space}.b128 [{place}], v; ld.{space}.b128 w, [{place}];" + UNPACK % "w"
    )
    assert (run(run_words, body) == WORDS).all()


def test_loads_of_global_memory(run_words):
    body = "ld.global.b128 v, [from];" + UNPACK % "v"
    assert (run(run_words, body) == WORDS).all()


def test_an_exchange_returns_the_old_value(run_words):
    body = (
        "mov.u32 a, memory; mad.lo.u32 a, t, 16, a;" + PACK + "st.shared.b128 [a], v;"
        "mov.b128 w, {h, l}; atom.shared.exch.b128 x, [a], w;"
        "atom.shared.exch.b128 _, [a], w; ld.shared.b128 v, [a];" + UNPACK % "x"
    )
    assert (run(run_words, body) == WORDS).all()


@pytest.mark.parametrize("equal", [True, False])
def test_a_swap_needs_the_expected_value(run_words, equal):
    expected = "{l, h}" if equal else "{h, l}"
    body = (
        "cvt.u64.u32 g, t; mad.wide.u32 g, t, 16, base;" + PACK + "st.global.b128 [g], v;"
        f"mov.b128 w, {expected}; mov.b128 x, {{h, h}};"
        "atom.global.cas.b128 w, [g], w, x; ld.global.b128 x, [g];" + UNPACK % "x"
    )
    swapped = WORDS[:, [2, 3, 2, 3]]
    assert (run(run_words, body) == (swapped if equal else WORDS)).all()


@pytest.mark.parametrize(
    "body", ["atom.global.add.b128 v, [from], w;", "ld.global.v2.b128 {v, w}, [from];"]
)
def test_other_forms_are_refused(run_words, body):
    with pytest.raises(Exception, match="NOT_SUPPORTED|INVALID_PTX"):
        run(run_words, body + "mov.b32 o0, i0;")
