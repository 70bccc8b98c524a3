# SPDX-License-Identifier: Apache-2.0
"""Kinds of parameters: one row for each, with one spelling, in the order of the engine."""

import dataclasses

import pytest

from generator.kinds import NUMBERS, ROWS, Kind, engine_kinds, field_kinds
from generator.libraries import load_all


@pytest.fixture(scope="module")
def kinds():
    """Return every kind of a function, a struct or an attribute of a library."""
    libraries = load_all().values()
    parameters = {p.kind for lib in libraries for f in lib.functions for p in f.params}
    fields = {f.kind for lib in libraries for struct in lib.structs for f in struct.fields}
    tables = [table for lib in libraries for table in lib.attributes.values()]
    return parameters | fields | {kind for table in tables for kind in table.values()}


def test_every_row_is_used(kinds):
    texts = ("out", "str")  # only the toy library has a function that returns one
    assert {texts, *((kind.direction, kind.shape) for kind in kinds)} == ROWS.keys()


def test_kinds_have_distinct_words(kinds):
    places = {"field": "field", "value": "value"}
    spelled = {(places.get(kind.direction), str(kind), kind.aux): kind for kind in kinds}
    assert len(spelled) == len(kinds)


@pytest.mark.parametrize("place", ["field", "value"])
def test_the_words_of_a_decision_are_the_spelling_of_a_kind(kinds, place):
    read = {kind: Kind.read(place, str(kind)) for kind in kinds if kind.direction == place}
    assert read and all(kind == reread for kind, reread in read.items())


def test_unknown_words_are_refused():
    with pytest.raises(ValueError, match=r"'' is no kind of a field"):
        Kind.read("field", "")


def test_the_engine_has_members_for_field_kinds_without_parameters():
    assert not {*field_kinds()} & engine_kinds().keys()
    assert {"field_array", "field_text"} < {*field_kinds()}


def test_the_engine_orders_numbers_and_outputs():
    members = engine_kinds()
    ways = [words[0].partition(":")[0] for words in members.values()]
    ranks = [{"inout": 1, "out": 2}.get(way, 0) for way in ways]
    assert ranks == sorted(ranks) and set(ranks) == {0, 1, 2}
    assert list(members)[ranks.index(1)] == "iterator"
    assert list(members)[:10] == NUMBERS.split()


def test_a_kind_is_a_single_value():
    kind = Kind("in", "list", "CUevent", "count")
    assert kind == Kind("in", "list", "CUevent", "count") and str(kind) == "in:list:CUevent"
    assert kind.is_a("in", "list5", "list") and not kind.is_a("out", "list")
    assert kind.is_argument and not kind.is_returned and kind.row.is_late
    with pytest.raises(dataclasses.FrozenInstanceError):
        kind.shape = "list5"


def test_an_unknown_row_is_no_kind():
    with pytest.raises(KeyError):
        str(Kind("in", "nonsense"))
