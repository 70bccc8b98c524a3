# SPDX-License-Identifier: Apache-2.0
"""Extensions declare that they need no interpreter lock, and a Python without one believes them."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import cuda.core
import pytest
from cuda.bindings import _low

from ..threads import has_lock

ROOT = Path(__file__).parents[2]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


def extensions():
    """The dotted names of all compiled modules that were built for this Python."""
    folders = {
        "cuda.bindings": Path(_low.__file__).parent,
        "cuda.core": Path(cuda.core.__path__[0]),
    }
    return [
        f"{package}.{path.name.removesuffix(SUFFIX)}"
        for package, folder in folders.items()
        for path in sorted(folder.glob(f"*{SUFFIX}"))
    ]


def test_the_extensions_are_found():
    assert {"cuda.bindings._low", "cuda.bindings.cydriver", "cuda.core._core"} <= set(extensions())


@pytest.mark.skipif(has_lock, reason="this Python has the lock in any case")
@pytest.mark.parametrize("name", extensions())
def test_importing_an_extension_turns_the_lock_not_on(name):
    program = f"import sys, {name}; print(sys._is_gil_enabled())"
    environment = {key: text for key, text in os.environ.items() if key != "PYTHON_GIL"}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


# The slot is in builds without the lock alone: elsewhere only its source can be looked at.
@pytest.mark.parametrize("name", extensions())
def test_the_source_of_an_extension_has_the_slot_that_says_so(name):
    stem = ROOT.joinpath(*name.split("."))
    made = [path for path in map(stem.with_suffix, (".c", ".cpp")) if path.exists()]
    if not made:
        pytest.skip("what Cython made is not beside an installed extension")
    text = made[0].read_text()
    # The last of the three is what the directive of setup.py says; a compiler flag chooses others.
    declared = re.findall(r"#define __Pyx_FREETHREADING_COMPATIBLE (\w+)", text)
    assert declared[-1:] == ["Py_MOD_GIL_NOT_USED"]
    assert "{Py_mod_gil, __Pyx_FREETHREADING_COMPATIBLE}," in text
