# SPDX-License-Identifier: Apache-2.0
"""Environment variables of ours: a value that is not understood is refused when they are read."""

import pytest
from cuda.core._utils import environment


@pytest.mark.parametrize("name", environment.CHECKED)
def test_a_value_that_is_not_understood_is_refused(name, monkeypatch):
    for value in ("", "0", "1"):
        monkeypatch.setenv(name, value)
        environment.check()
    monkeypatch.setenv(name, "yes")
    with pytest.raises(ValueError, match=f"{name}=yes is not understood: it may be 0 or 1"):
        environment.check()


@pytest.mark.parametrize("name", environment.CHECKED)
def test_it_is_read_when_the_driver_is_first_used(run_python, name):
    code = f"""
import os
os.environ[{name!r}] = "yes"
from cuda.core import Device
try:
    Device(0)
except ValueError as refused:
    print(refused)
"""
    assert run_python(code).strip() == f"{name}=yes is not understood: it may be 0 or 1"
