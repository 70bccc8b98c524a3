# SPDX-License-Identifier: Apache-2.0
"""Somebody else's Cython module, built against the source tree and against an installed wheel."""

import os
import shlex
import subprocess
import sys
import sysconfig

import pytest

from build_support import headers
from generator import libraries

PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 42;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
CLIENT = f"""
import foreign_core
from cuda.core import CUDAError, Device, Event, LaunchConfig, LEGACY_DEFAULT_STREAM, ObjectCode
from cuda.core import LegacyPinnedMemoryResource

device = Device()
device.set_current()
stream, event = device.create_stream(), device.create_event()
code = ObjectCode.from_ptx({PTX!r})
kernel = code.get_kernel("store")
buffer = LegacyPinnedMemoryResource().allocate(4)
objects = stream, event, device.context, buffer, kernel
expected = tuple(int(each.handle) for each in objects)
assert foreign_core.addresses(*objects) == foreign_core.private_paths(*objects) == expected

assert foreign_core.fill(stream, buffer, 7) == 0
stream.sync()
assert bytes(buffer) == bytes([7] * 4)

config = LaunchConfig(grid=1, block=1)
assert foreign_core.launch(stream, config, kernel, buffer.handle) == 0
stream.sync()
assert bytes(buffer) == bytes([42, 0, 0, 0])

buffer.fill(0, stream=stream)
assert foreign_core.launch_again(stream, kernel.prepare(config, buffer)) == 0
stream.sync()
assert bytes(buffer) == bytes([42, 0, 0, 0])

assert foreign_core.is_legacy(LEGACY_DEFAULT_STREAM) and not foreign_core.is_legacy(stream)
assert foreign_core.grid_of(config) == (1, 1, 1)
assert foreign_core.code_type_of(code) == "ptx"
foreign_core.check(event)
assert foreign_core.set_device(0) == 0
try:
    foreign_core.set_device(99)
except CUDAError as error:
    assert error.name == "CUDA_ERROR_INVALID_DEVICE"
event.close()
for call, arguments in ((foreign_core.check, [event]), (foreign_core.addresses, objects)):
    try:
        call(*arguments)
    except RuntimeError as error:
        assert str(error) == "Event has been closed"
    else:
        raise AssertionError("a closed event was accepted")
try:
    foreign_core.addresses(event, event, *objects[2:])
except TypeError:
    print("done")
"""


@pytest.fixture(params=["in_tree", "installed"])
def installation(request):
    return request.getfixturevalue(request.param)


def test_it_reaches_the_objects_and_launches(installation, root, tmp_path):
    pytest.importorskip("Cython", reason="cimport needs Cython")
    cuda = headers.find(libraries.load("driver").facts.version)
    if not cuda:
        pytest.skip("no CUDA headers")
    made = tmp_path / "foreign_core.cpp"
    source = root / "tests" / "cython" / "foreign_core.pyx"
    cython = [sys.executable, "-m", "cython", "--cplus", "-I", installation.packages]
    subprocess.run([*cython, source, "-o", made], check=True, cwd=tmp_path)
    includes = [installation.packages / "cuda/core/_include", cuda, sysconfig.get_path("include")]
    compiler = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++20", "-O1", "-Wall", "-Werror"]
    compiler += ["-Wno-deprecated-declarations", "-shared", "-fPIC"]
    target = tmp_path / f"foreign_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run([*compiler, *(f"-I{i}" for i in includes), made, "-o", target], check=True)
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    output = installation.run("-W", "error", "-c", path + f"exec({CLIENT!r})")
    assert output.split() == ["done"]
