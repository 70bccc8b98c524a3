# SPDX-License-Identifier: Apache-2.0
"""StreamOptions and EventOptions: mutable dataclasses."""

import copy
import dataclasses
import inspect
import pickle

import pytest
from cuda.core import EventOptions, StreamOptions

EXAMPLES = [
    (StreamOptions, {"nonblocking": False, "priority": -1}),
    (EventOptions, {"timing_enabled": True, "blocking_sync": True, "ipc_enabled": False}),
]


@pytest.fixture(params=EXAMPLES, ids=lambda example: example[0].__name__)
def example(request):
    return request.param


def test_equal_by_value_and_unhashable(example):
    cls, values = example
    assert cls(**values) == cls(**values) != cls()
    with pytest.raises(TypeError):
        hash(cls())


def test_repr_shows_all_fields(example):
    cls, values = example
    assert (
        repr(cls(**values)) == f"{cls.__name__}({', '.join(f'{k}={v}' for k, v in values.items())})"
    )


def test_fields_can_be_assigned_and_replaced(example):
    cls, values = example
    options = cls()
    for name, value in values.items():
        setattr(options, name, value)
    assert options == dataclasses.replace(cls(), **values) == cls(*values.values())
    assert dataclasses.asdict(options) == values


def test_copies_are_equal(example):
    cls, values = example
    options = cls(**values)
    assert copy.copy(options) == copy.deepcopy(options) == options
    assert pickle.loads(pickle.dumps(options)) == options


def test_unknown_keywords_are_refused(example):
    with pytest.raises(TypeError):
        example[0](color="red")


def test_the_signature_names_the_fields(example):
    cls, values = example
    assert list(inspect.signature(cls).parameters)[: len(values)] == list(values)
