# SPDX-License-Identifier: Apache-2.0
"""Fixtures that watch the driver's functions."""

import platform
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from .watch import Watch


@pytest.fixture(scope="session")
def watch_library(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if platform.machine() not in ("x86_64", "aarch64") or not compiler:
        pytest.skip("the stubs are for x86-64 and aarch64, and need a C compiler")
    library = tmp_path_factory.mktemp("watch") / "watch.so"
    source = Path(__file__).with_name("watch.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    return library


@pytest.fixture
def watch(device, watch_library):
    """Watch all driver functions until the end of the test; the driver is in use already.

    A second thread sleeps during the test, because a lone thread keeps the GIL.
    """
    end = threading.Event()
    second = threading.Thread(target=end.wait)
    second.start()
    watch = Watch(watch_library)
    yield watch
    watch.stop()
    end.set()
    second.join()
