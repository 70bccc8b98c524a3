# SPDX-License-Identifier: Apache-2.0
"""The kinds of parameters: one row for each, spelled in one way, in the order of the engine."""

import dataclasses

import pytest

from generator.kinds import NUMBERS, ROWS, Kind, engine_kinds, field_kinds
from generator.libraries import load_all


@pytest.fixture(scope="module")
def kinds():
    """Every kind that a function, a struct or an attribute of a library has."""
    libraries = load_all().values()
    parameters = {p.kind for lib in libraries for f in lib.functions for p in f.params}
    fields = {f.kind for lib in libraries for struct in lib.structs for f in struct.fields}
    tables = [table for lib in libraries for table in lib.attributes.values()]
    return parameters | fields | {kind for table in tables for kind in table.values()}


def test_every_row_is_of_something_that_there_is(kinds):
    texts = ("out", "str")  # no function of these libraries gives one, the toy's do
    assert {texts, *((kind.direction, kind.shape) for kind in kinds)} == ROWS.keys()


def test_kinds_are_told_apart_by_their_words(kinds):
    places = {"field": "field", "value": "value"}
    spelled = {(places.get(kind.direction), str(kind), kind.aux): kind for kind in kinds}
    assert len(spelled) == len(kinds)


@pytest.mark.parametrize("place", ["field", "value"])
def test_the_words_of_a_decision_are_those_that_a_kind_is_spelled_with(kinds, place):
    read = {kind: Kind.read(place, str(kind)) for kind in kinds if kind.direction == place}
    assert read and all(kind == back for kind, back in read.items())


def test_words_that_spell_no_kind_are_refused():
    with pytest.raises(ValueError, match=r"'' is no kind of a field"):
        Kind.read("field", "")


def test_the_engine_has_members_for_fields_that_no_parameter_is():
    assert not {*field_kinds()} & engine_kinds().keys()
    assert {"field_array", "field_text"} < {*field_kinds()}


def test_the_engine_tells_numbers_and_outputs_by_their_order():
    members = engine_kinds()
    ways = [words[0].partition(":")[0] for words in members.values()]
    ranks = [{"inout": 1, "out": 2}.get(way, 0) for way in ways]
    assert ranks == sorted(ranks) and set(ranks) == {0, 1, 2}
    assert list(members)[ranks.index(1)] == "iterator"
    assert list(members)[:10] == NUMBERS.split()


def test_a_kind_is_one_value():
    kind = Kind("in", "list", "CUevent", "count")
    assert kind == Kind("in", "list", "CUevent", "count") and str(kind) == "in:list:CUevent"
    assert kind.is_a("in", "list5", "list") and not kind.is_a("out", "list")
    assert kind.is_argument and not kind.is_returned and kind.row.is_late
    with pytest.raises(dataclasses.FrozenInstanceError):
        kind.shape = "list5"


def test_what_has_no_row_is_no_kind():
    with pytest.raises(KeyError):
        str(Kind("in", "nonsense"))
