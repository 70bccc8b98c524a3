# SPDX-License-Identifier: Apache-2.0
"""What the tests of the object layer share: a current device, a stream, a fresh thread or process."""

import os
import subprocess
import sys
import threading

import pytest
from cuda.core import Device


@pytest.fixture
def device():
    """Device 0, its primary context current on this thread."""
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    with device.create_stream() as stream:
        yield stream


@pytest.fixture
def in_new_thread():
    """Run a function on a thread of its own, where no device is initialised; give its result."""

    def run(function):
        outcome = []

        def target():
            try:
                outcome.append((function(), None))
            except BaseException as error:
                outcome.append((None, error))

        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
        result, error = outcome[0]
        if error is not None:
            raise error
        return result

    return run


@pytest.fixture
def run_python():
    """Run code in a fresh interpreter; give its stdout.

    It must succeed, and write nothing to stderr but the loader's notices and lines that start with
    `allowed`.
    """

    def run(code, *arguments, allowed="halfwarp: CUDA", **environment):
        done = subprocess.run(
            [sys.executable, *arguments, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        for line in done.stderr.splitlines():
            assert line.startswith(("halfwarp: CUDA is emulated", allowed)), done.stderr
        return done.stdout

    return run
