# SPDX-License-Identifier: Apache-2.0
"""The kinds of parameters: one row for each, spelled in one way, found in the engine."""

import dataclasses
import re

import pytest

from generator.kinds import ROWS, Kind
from generator.libraries import HERE, load_all

RECORDS = HERE.parent / "cpp" / "bindings"


@pytest.fixture(scope="module")
def kinds():
    """Every kind that a function of a library has."""
    return {p.kind for lib in load_all().values() for f in lib.functions for p in f.params}


@pytest.fixture(scope="module")
def engine():
    """The names in the engine's enumeration of kinds."""
    texts = (path.read_text() for path in RECORDS.rglob("*.hpp"))
    body = next(
        m[1] for m in (re.search(r"enum class kind [^{]*{(.*?)}", t, re.S) for t in texts) if m
    )
    return set(re.findall(r"^\s*(\w+),", body, re.M))


def test_every_row_is_of_a_parameter_that_there_is(kinds):
    texts = ("out", "str")  # no function of these libraries gives one, the toy's do
    assert {texts, *((kind.direction, kind.shape) for kind in kinds)} == ROWS.keys()


def test_kinds_are_told_apart_by_their_words(kinds):
    spelled = {(str(kind), kind.aux): kind for kind in kinds}
    assert len(spelled) == len(kinds)


def test_the_engine_has_every_kind(engine):
    assert {row.cpp for row in ROWS.values()} - {""} <= engine


def test_a_kind_is_one_value():
    kind = Kind("in", "list", "CUevent", "count")
    assert kind == Kind("in", "list", "CUevent", "count") and str(kind) == "in:list:CUevent"
    assert kind.is_a("in", "list5", "list") and not kind.is_a("out", "list")
    assert kind.is_given and not kind.is_returned and kind.row.is_late
    with pytest.raises(dataclasses.FrozenInstanceError):
        kind.shape = "list5"


def test_what_has_no_row_is_no_kind():
    with pytest.raises(KeyError):
        str(Kind("in", "nonsense"))
