# SPDX-License-Identifier: Apache-2.0
"""Records of the logger `halfwarp`, and no work for it without a handler."""

import logging

import pytest
from cuda.core import Linker, LinkerOptions, PoolMemoryResource, Program, ProgramOptions
from cuda.core.utils import InMemoryProgramCache

SOURCE = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }'


@pytest.fixture
def program(device):
    with Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")) as program:
        assert program.handle  # opens NVRTC, which is logged too
        yield program


@pytest.fixture
def logged(caplog):
    """Return a function that returns the lines so far, at a level."""
    caplog.set_level(logging.DEBUG, "halfwarp")
    return lambda level: [r.getMessage() for r in caplog.records if r.levelno == level]


def test_a_compilation_is_logged_with_its_time(program, logged):
    code = program.compile("cubin")
    (line,) = logged(logging.INFO)
    assert line.startswith("compiled to cubin by NVRTC in ")
    assert line.endswith(f" ms: {len(code.code)} bytes")


def test_a_cache_logs_hits_and_misses(program, logged):
    cache = InMemoryProgramCache()
    program.compile("cubin", cache=cache)
    program.compile("cubin", cache=cache)
    first, second = logged(logging.DEBUG)
    assert first.split(" ", 1)[1] == "not found in InMemoryProgramCache"
    assert second.split(" ", 1)[1] == "found in InMemoryProgramCache"
    assert first.split()[0] == second.split()[0]
    assert len(logged(logging.INFO)) == 1


def test_a_link_is_logged(device, logged):
    arch = f"sm_{device.arch}"
    with Program(SOURCE, "c++", ProgramOptions(arch=arch, relocatable_device_code=True)) as program:
        code = program.compile("ptx")
    with Linker(code, options=LinkerOptions(arch=arch)) as linker:
        linker.link("cubin")
    assert logged(logging.INFO)[-1].startswith("linked 1 inputs to cubin in ")


def test_a_pool_logs_only_its_growth(device, stream, logged):
    pool = PoolMemoryResource(device)
    for _ in range(3):
        pool.allocate(1000, stream=stream).close()
    held = pool.statistics()["reserved_bytes.current"]
    pool.close()
    assert logged(logging.DEBUG) == [
        f"pool of device {device.device_id} grew by {held} bytes to {held}"
    ]


def test_libraries_are_logged_when_they_are_opened(run_python):
    code = """
import logging, sys
logging.basicConfig(level="INFO", stream=sys.stdout, format="%(name)s %(levelname)s %(message)s")
from cuda.core import Device
from cuda.bindings import nvrtc
Device().name, Device(0).name
nvrtc.nvrtcVersion(), nvrtc.nvrtcVersion()
"""
    first, second = run_python(code).strip().splitlines()
    assert first.startswith("halfwarp INFO driver: opened ")
    assert second.startswith("halfwarp INFO nvrtc: opened ") and "libnvrtc" in second


def test_without_a_handler_no_module_is_imported(run_python):
    """Neither `logging` nor the module that writes to it is imported."""
    code = f"""
import sys
from cuda.core import Device, PoolMemoryResource, Program, ProgramOptions
device = Device()
device.set_current()
with Program({SOURCE!r}, "c++", ProgramOptions(arch=f"sm_{{device.arch}}")) as program:
    program.compile("cubin")
with device.create_stream() as stream:
    PoolMemoryResource(device).allocate(100, stream=stream).close()
print([name for name in ("halfwarp.logs", "logging") if name in sys.modules])
"""
    assert run_python(code).strip() == "[]"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_filter_that_raises_does_not_affect_the_call(program, device, stream, logged):
    def refuse(record):
        raise ZeroDivisionError("a mistake of the filter's")

    logger = logging.getLogger("halfwarp")
    logger.addFilter(refuse)
    try:
        assert program.compile("cubin").get_kernel("k").num_arguments == 1
        pool = PoolMemoryResource(device)
        pool.allocate(1000, stream=stream).close()
        assert pool.trim() == 2 << 20
    finally:
        logger.removeFilter(refuse)
    assert logged(logging.INFO) == []


def test_the_line_is_not_formatted_below_the_level(program, caplog):
    caplog.set_level(logging.WARNING, "halfwarp")
    program.compile("cubin", cache=InMemoryProgramCache())
    assert caplog.records == []
