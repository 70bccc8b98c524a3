# SPDX-License-Identifier: Apache-2.0
"""Every operation of the object layer: what may wait in the driver is called without the lock."""

import gc
import re
from pathlib import Path

import cuda.core
import pytest
from cuda.core import Device

from ...context_lock import RETURNS_AT_ONCE, WAITS
from .operations import OPERATIONS, Things

SOURCES = Path(cuda.core.__file__).parents[2]


@pytest.fixture
def things(device):
    made = Things(device)
    yield made
    made.close()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.__name__)
def test_only_what_returns_at_once_is_called_with_the_lock(things, watch, operation):
    watch.forget()
    operation(things)
    gc.collect()
    allowed = RETURNS_AT_ONCE | getattr(operation, "unmeasured", frozenset())
    assert watch.called(with_lock=True) <= allowed


def test_the_watch_reports_calls_with_and_without_the_lock(things, watch):
    watch.forget()
    things.stream.sync()
    Device()
    assert watch.called(with_lock=True) == {"cuCtxGetDevice"}
    assert watch.called(with_lock=False) == {"cuStreamSynchronize"}


def functions_that_the_sources_call():
    """The driver functions of the object layer's sources."""
    call = re.compile(r"(?:\btable->|\bdriver\.)(cu[A-Z]\w+)")
    found = set()
    for folder in ("cuda/core", "cpp/core", "cpp/python"):
        for path in (SOURCES / folder).rglob("*"):
            if path.suffix in (".hpp", ".pyx") or (path.suffix == ".cpp" and "cpp" in folder):
                found |= set(call.findall(path.read_text()))
    return found


def test_the_operations_reach_every_function_that_waits(things, watch):
    watch.forget()
    for operation in OPERATIONS:
        operation(things)
    gc.collect()
    assert functions_that_the_sources_call() & WAITS <= watch.called(with_lock=False)
