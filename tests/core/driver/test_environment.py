# SPDX-License-Identifier: Apache-2.0
"""Environment variables of ours that have no effect are told of, once, when the driver is used."""

import pytest
from cuda.core._utils import environment

USE = "from cuda.core import Device; Device(0); Device(0).set_current()"


@pytest.mark.parametrize("name", sorted(environment.LATER))
def test_what_is_not_there_yet_is_said(run_python, name):
    said = f"halfwarp: {name}=1 has no effect: "
    run_python(USE, allowed=(said,), **{name: "1"})
    assert environment.objections({name: "1"}) == [
        f"{name}=1 has no effect: {environment.LATER[name]} are not there yet"
    ]
    assert not environment.objections({name: "0"})


def test_variables_that_are_read_are_not_spoken_of():
    assert not environment.objections({"HALFWARP_SYNC_LAUNCH": "1", "HALFWARP_NVTX": "1"})


def test_the_program_says_it_on_standard_error(run_python):
    code = f"""
import subprocess, sys
done = subprocess.run([sys.executable, "-c", {USE!r}], capture_output=True, text=True)
print(done.stderr.count("halfwarp: HALFWARP_REPORT_LEAKS=1 has no effect"))
"""
    assert run_python(code, HALFWARP_REPORT_LEAKS="1").strip() == "1"
