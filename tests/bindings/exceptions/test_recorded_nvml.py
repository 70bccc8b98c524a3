# SPDX-License-Identifier: Apache-2.0
"""NVML over a library that the loader finds and that replays a recording of a real one.

`record_nvml.py` creates the recording; on a machine with NVML the same calls also run for real.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RECORDING = ROOT / "tests" / "data" / "nvml_recorded.json"

CHILD = """
import json, sys
sys.path.insert(0, {here!r})
from record_nvml import text_of
from cuda.bindings import nvml
from generator import libraries
library = libraries.load("nvml")
names = {{f.python_name: [n.partition("=")[0] for n in f.py] for f in library.functions}}
nvml.init_v2()
results = []
for call in json.load(open({path!r}))["calls"]:
    arguments = [bytes.fromhex(a) if isinstance(a, str) else a for a in call["arguments"]]
    entry = {{}}
    try:
        function, keywords = getattr(nvml, call["function"]), {{}}
        if {by_keyword}:
            keywords, arguments = dict(zip(names[call["function"]], arguments)), []
        entry["result"] = text_of(function(*arguments, **keywords))
    except nvml.NvmlError as error:
        entry["error"] = int(error.status)
    except RuntimeError as error:
        entry["missing"] = type(error).__name__
    results.append([call["function"], entry])
nvml.shutdown()
print(json.dumps(results))
"""
NULL_HANDLES = """
import json
from cuda.bindings import nvml
from generator import libraries
library = libraries.load("nvml")
wrong = {}
for f in library.functions:
    places = [f.py.index(p.name) for p in f.params if p.words == "in:nonnull"]
    for place in places if f.in_python else []:
        bytes_of = {"nonce": bytes(32), "in_data": b"", "values": [15]}
        arguments = [bytes_of.get(p, 1) for p in f.py]
        arguments[place] = False
        try:
            wrong[f.python_name] = repr(getattr(nvml, f.python_name)(*arguments))
        except nvml.InvalidArgumentError as error:
            if f"argument '{f.py[place]}' is a null handle" not in error.__notes__:
                wrong[f.python_name] = str(error)
        except Exception as error:
            wrong[f.python_name] = repr(error)
print(json.dumps(wrong))
"""

# A positional call uses the shared specialized form, a call by keyword uses its record.
REFUSALS = """
import json
from cuda.bindings import nvml
from generator import libraries
different, compared = {}, 0
def refusal(function, *arguments, **keywords):
    try:
        return repr(function(*arguments, **keywords))
    except Exception as error:
        return repr(error)
for f in libraries.load("nvml").functions:
    names = [n for n in f.py if "=" not in n] if f.in_python else []
    function = getattr(nvml, f.python_name, None)
    for place in range(len(names)):
        for wrong in (object(), 1 << 70, -1 << 40, 1.5, 0):
            arguments = [wrong if i == place else 1 for i in range(len(names))]
            shared = refusal(function, *arguments)
            recorded = refusal(function, **dict(zip(names, arguments)))
            compared += "Error" in shared
            if "Error" in shared + recorded and shared != recorded:
                different[f.python_name] = (shared, recorded)
print(json.dumps([compared, different]))
"""


@pytest.fixture(scope="module")
def recording():
    return json.loads(RECORDING.read_text())


@pytest.fixture(scope="module")
def over_the_recording(recording, tmp_path_factory):
    """Run a program over the library that replays the recording; return its JSON output."""
    if not shutil.which("gcc"):
        pytest.skip("a C compiler makes the library that answers")
    sys.path.insert(0, str(HERE))
    import replay_nvml

    folder = tmp_path_factory.mktemp("nvml")
    replay_nvml.build(recording, folder)

    def run(program):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            # the library beside the loader would report an emulated device
            env={**os.environ, "LD_LIBRARY_PATH": str(folder), "HALFWARP_BACKEND": "driver"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.mark.parametrize("by_keyword", [False, True], ids=["by position", "by keyword"])
def test_every_recorded_call_is_reproduced(recording, over_the_recording, by_keyword):
    different = {}
    program = CHILD.format(here=str(HERE), path=str(RECORDING), by_keyword=by_keyword)
    replay = over_the_recording(program)
    assert len(replay) > 200
    for call, (name, result) in zip(recording["calls"], replay, strict=True):
        expected = {k: call[k] for k in ("result", "error", "missing") if k in call}
        if result != expected:
            different[name] = (expected, result)
    assert different == {}


def test_null_handles_do_not_reach_the_library(recording, over_the_recording):
    known = {call["function"] for call in recording["calls"] if "missing" not in call}
    wrong = over_the_recording(NULL_HANDLES)
    assert {name: text for name, text in wrong.items() if name in known} == {}


def test_all_forms_of_a_call_refuse_the_same_arguments(over_the_recording):
    compared, different = over_the_recording(REFUSALS)
    assert different == {}
    assert compared > 500


def test_a_real_library_returns_without_crashing():
    from cuda.bindings import nvml
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        nvml.init_v2()
    except (DynamicLibNotFoundError, nvml.NvmlError) as error:
        pytest.skip(f"no NVML here: {error}")
    try:
        for i in range(nvml.device_get_count_v2()):
            device = nvml.device_get_handle_by_index_v2(i)
            assert nvml.device_get_name(device)
            assert nvml.device_get_memory_info_v2(device).total > 0
            assert nvml.device_get_pci_info_v3(device).bus_id
            assert nvml.device_get_uuid(device).startswith("GPU-")
    finally:
        nvml.shutdown()
