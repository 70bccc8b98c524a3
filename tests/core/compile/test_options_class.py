# SPDX-License-Identifier: Apache-2.0
"""ProgramOptions and LinkerOptions are dataclasses that import `dataclasses` when it is needed."""

import dataclasses
import inspect
import subprocess
import sys
import threading

import pytest
from cuda.core import LinkerOptions, ProgramOptions
from cuda.core.arguments.options_class import options_class

CLASSES = [ProgramOptions, LinkerOptions]


def fields_of(decorator):
    @decorator
    class Options:
        """Options."""

        first: int | None = None
        second: str = "two"

        def __post_init__(self):
            self.was_checked = True

    return Options


OURS, THEIRS = fields_of(options_class), fields_of(dataclasses.dataclass)


@pytest.mark.parametrize("cls", [*CLASSES, OURS])
def test_the_class_is_a_dataclass(cls):
    assert dataclasses.is_dataclass(cls)
    names = tuple(field.name for field in dataclasses.fields(cls))
    assert names == tuple(cls.__annotations__) == cls.__match_args__
    assert all(field.default == getattr(cls, field.name) for field in dataclasses.fields(cls))
    assert cls.__dataclass_params__.eq and not cls.__dataclass_params__.frozen


def test_methods_equal_those_of_a_dataclass():
    assert inspect.signature(OURS) == inspect.signature(THEIRS)
    assert OURS.__init__.__qualname__ == THEIRS.__init__.__qualname__
    assert repr(OURS(1)) == repr(THEIRS(1))
    assert OURS(1).was_checked
    assert OURS(1) == OURS(1, "two") != OURS(2)
    assert OURS(1) != THEIRS(1)
    assert OURS.__hash__ is THEIRS.__hash__ is None
    assert dataclasses.asdict(OURS(3)) == {"first": 3, "second": "two"}
    with pytest.raises(TypeError, match="third"):
        OURS(third=1)


@pytest.mark.parametrize("cls", CLASSES)
def test_options_are_replaced_and_extended(cls):
    options = cls(arch="sm_80", debug=True)
    replaced = dataclasses.replace(options, debug=None)
    assert type(replaced) is cls
    assert (replaced.arch, replaced.debug, options.debug) == ("sm_80", None, True)

    @dataclasses.dataclass
    class Extended(cls):
        more: int = 7

    assert (Extended(arch="sm_80").more, Extended(arch="sm_80", more=8).more) == (7, 8)


def test_threads_may_use_the_class_first_at_once():
    cls, found = fields_of(options_class), []
    start = threading.Barrier(4)

    def use():
        start.wait()
        found.append([field.name for field in dataclasses.fields(cls)])

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["first", "second"]] * 4


def test_options_do_not_import_dataclasses():
    program = (
        "import sys; from cuda.core import LinkerOptions, ProgramOptions; "
        "repr(LinkerOptions(arch='sm_80')) == ProgramOptions(arch='sm_90'); "
        "print('dataclasses' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
