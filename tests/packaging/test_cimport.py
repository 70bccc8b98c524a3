# SPDX-License-Identifier: Apache-2.0
"""A foreign Cython module, built against the source tree and against an installed wheel."""

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
from cuda.core import Program
program = Program("", "c++", {{"arch": "sm_80"}})
handles = stream.handle, event.handle, program.handle
assert foreign_core.native_handles(*handles) == tuple(int(each) for each in handles)
import sys
count = sys.getrefcount(stream)
kinds = foreign_core.shared_handles({PTX!r}.encode() + b"\\0", stream, int(stream.handle))
assert kinds == ("CUkernel", "CUcontext")
assert sys.getrefcount(stream) == count
assert foreign_core.checks_of_status() == ["NVRTCError", "nvvmError", "nvJitLinkError"]
names, sizes = foreign_core.declared_elsewhere()
assert "TensorMapDescriptor" in names and sizes == (48, 80, 2)
from cuda.core.utils import StridedMemoryView
tensor = LegacyPinnedMemoryResource().allocate(4096)
view = StridedMemoryView.from_buffer(tensor, (32, 32), dtype="f4")
assert foreign_core.first_word_of(view.as_tensor_map((8, 8))) == view.ptr
binding, there, ordinal = foreign_core.versions()
assert len(binding) == len(there) == 3 and ordinal == 0
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


@pytest.fixture(scope="module")
def compiled():
    """Map inputs of the compiler to its outputs: a wheel has the files of its tree."""
    return {}


def contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple((str(path.relative_to(folder)), path.read_bytes()) for path in files)


def build(installation, source, folder, *flags, compiled=None):
    """Compile a foreign module as C++ against an installation, unless the inputs are `compiled`."""
    pytest.importorskip("Cython", reason="cimport needs Cython")
    cuda = headers.find(libraries.load("driver").facts.version)
    if not cuda:
        pytest.skip("no CUDA headers")
    result = folder / f"{source.stem}.cpp"
    cython = [sys.executable, "-m", "cython", "--cplus", "-I", installation.packages]
    subprocess.run([*cython, source, "-o", result], check=True, cwd=folder)
    own = installation.packages / "cuda/core/_include"
    includes = [own, cuda, sysconfig.get_path("include")]
    compiler = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++20", "-O1", "-Wall", "-Werror"]
    compiler += ["-Wno-deprecated-declarations", "-shared", "-fPIC"]
    target = folder / f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    paths = [f"-I{i}" for i in includes]
    inputs = result.read_bytes(), contents(own)
    if not (output := (compiled or {}).get(inputs)):
        subprocess.run([*compiler, *flags, *paths, result, "-o", target], check=True)
        output = target.read_bytes()
    target.write_bytes(output)
    if compiled is not None:
        compiled[inputs] = output


def test_a_foreign_module_uses_the_objects_and_launches(installation, root, tmp_path, compiled):
    source = root / "tests" / "cython" / "foreign_core.pyx"
    build(installation, source, tmp_path, compiled=compiled)
    path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    output = installation.run("-W", "error", "-c", path + f"exec({CLIENT!r})")
    assert output.split() == ["done"]


def test_a_module_for_another_interface_is_refused(in_tree, tmp_path):
    source = tmp_path / "older.pyx"
    source.write_text(
        "# cython: language_level=3\n"
        "from cuda.core._stream cimport Stream, Stream_as_cu\n"
        "def address(Stream stream): return <unsigned long long>Stream_as_cu(stream)\n"
    )
    code = f"""
import sys; sys.path.insert(0, {str(tmp_path)!r})
try:
    import older
    print("imported")
except ImportError as error:
    print(error)
"""
    build(in_tree, source, tmp_path)
    assert in_tree.run("-c", code) == "imported\n"
    build(in_tree, source, tmp_path, "-DHALFWARP_CORE_ABI=999")
    output = in_tree.run("-c", code)
    assert output.startswith("older was compiled for version 999 of the C interface of cuda.core")
    assert "cuda.core has version 1: recompile it" in output
