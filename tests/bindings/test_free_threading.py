# SPDX-License-Identifier: Apache-2.0
"""Extensions declare that they need no GIL, and a free-threaded build respects it."""

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
def test_importing_an_extension_does_not_enable_the_gil(name):
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


# Only free-threaded builds have the slot: elsewhere only its source can be checked.
@pytest.mark.parametrize("name", extensions())
def test_the_source_of_an_extension_declares_the_slot(name):
    stem = ROOT.joinpath(*name.split("."))
    sources = [path for path in map(stem.with_suffix, (".c", ".cpp")) if path.exists()]
    if not sources:
        pytest.skip("what Cython made is not beside an installed extension")
    text = sources[0].read_text()
    # The last of the three is set by the directive of setup.py; a compiler flag chooses others.
    declared = re.findall(r"#define __Pyx_FREETHREADING_COMPATIBLE (\w+)", text)
    assert declared[-1:] == ["Py_MOD_GIL_NOT_USED"]
    assert "{Py_mod_gil, __Pyx_FREETHREADING_COMPATIBLE}," in text
