# SPDX-License-Identifier: Apache-2.0
"""Every operation of the object layer: calls that may wait release the GIL."""

import gc
import re
from pathlib import Path

import cuda.core
import pytest
from cuda.core import Device

from ...context_lock import RETURNS_AT_ONCE, WAITS
from .operations import OPERATIONS, Fixtures

SOURCES = Path(cuda.core.__file__).parents[2]


@pytest.fixture
def fixtures(device):
    fixture_set = Fixtures(device)
    yield fixture_set
    fixture_set.close()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.__name__)
def test_only_functions_that_return_immediately_are_called_with_the_gil(fixtures, watch, operation):
    watch.forget()
    operation(fixtures)
    gc.collect()
    allowed = RETURNS_AT_ONCE | getattr(operation, "unmeasured", frozenset())
    assert watch.called(with_lock=True) <= allowed


def test_the_watch_distinguishes_calls_with_and_without_the_gil(fixtures, watch):
    watch.forget()
    fixtures.stream.sync()
    Device()
    assert watch.called(with_lock=True) == {"cuCtxGetDevice"}
    assert watch.called(with_lock=False) == {"cuStreamSynchronize"}


def functions_that_the_sources_call():
    """Return the driver functions that the object layer's sources call."""
    call = re.compile(r"(?:\btable->|\bdriver\.)(cu[A-Z]\w+)")
    functions = set()
    for folder in ("cuda/core", "cpp/core", "cpp/python"):
        for path in (SOURCES / folder).rglob("*"):
            if path.suffix in (".hpp", ".pyx") or (path.suffix == ".cpp" and "cpp" in folder):
                functions |= set(call.findall(path.read_text()))
    return functions


def test_the_operations_reach_every_function_that_may_wait(fixtures, watch):
    watch.forget()
    for operation in OPERATIONS:
        operation(fixtures)
    gc.collect()
    assert functions_that_the_sources_call() & WAITS <= watch.called(with_lock=False)
