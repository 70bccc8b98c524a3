# SPDX-License-Identifier: Apache-2.0
"""Test suites of foreign packages, on our packages alone."""

import json
import tomllib

import pytest

from .conftest import HERE

OUTCOMES = ("passed", "skipped")
PACKAGES = tomllib.loads((HERE / "own_tests.toml").read_text())


@pytest.fixture
def backend(request):
    from cuda.core import emulation

    return "emulator" if emulation.is_active() else "gpu"


@pytest.fixture
def outcomes_of(run, tmp_path):
    """Return the outcomes of the tests in a package, or of those named."""

    def outcomes(client, package, *arguments):
        report = tmp_path / "outcomes.json"
        done = run(client, package, str(report), *arguments, script="run_tests.py")
        assert done.returncode == 0, done.stderr
        return json.loads(report.read_text())

    return outcomes


@pytest.mark.parametrize("package", PACKAGES)
def test_the_tests_of_a_package_pass(package, outcomes_of, need, backend):
    """The tests that fail have processes of their own: they may leave the context unusable."""
    client = need(PACKAGES[package])
    refused = client.get(backend, {})
    outcomes = outcomes_of(client, package, *(f"-{name}" for name in refused))
    assert {name: why for name, why in outcomes.items() if why not in OUTCOMES} == {}
    assert list(outcomes.values()).count("passed") >= client["at_least"]
    for name in refused:
        outcome = outcomes_of(client, package, name)[name]
        assert outcome not in OUTCOMES, "it passes by now: take it off the list"
