# SPDX-License-Identifier: Apache-2.0
"""Environment variables of halfwarp: an invalid value is refused when it is read."""

import pytest
from cuda.core._utils import environment


@pytest.mark.parametrize("name", environment.FLAGS)
def test_an_invalid_value_is_refused(name, monkeypatch):
    for value in ("", "0", "1"):
        monkeypatch.setenv(name, value)
        environment.check()
    monkeypatch.setenv(name, "yes")
    with pytest.raises(ValueError, match=f"{name}=yes is not understood: it may be 0 or 1"):
        environment.check()


@pytest.mark.parametrize("name", environment.FLAGS)
def test_it_is_read_on_first_use_of_the_driver(run_python, name):
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
