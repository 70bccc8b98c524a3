# SPDX-License-Identifier: Apache-2.0
"""Memory at a chosen location, on drivers of CUDA 12 and 13."""

import pytest

START = """
from cuda.bindings import _low
_low._answer_as_driver_of({version})
from cuda.core import *
from cuda.core.utils import *
device = Device(0)
device.set_current()
stream = device.create_stream()
def raised(kind, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except kind as error:
        return str(error)
    raise AssertionError(kind)
"""
MANAGED = """
from cuda.bindings import driver
error, address = driver.cuMemAllocManaged(4096, 1)
assert not error
memory = ManagedBuffer.from_handle(int(address), 4096)
"""


@pytest.fixture
def on_driver(run_python):
    def run(version, code):
        return run_python(START.format(version=version) + code, "-W", "ignore")

    return run


def test_resources_of_cuda_13_are_refused_on_older_drivers(on_driver):
    on_driver(
        12080,
        """
assert "PinnedMemoryResource without options requires CUDA 13.0" in raised(
    RuntimeError, PinnedMemoryResource)
assert "CUDA 12.8" in raised(RuntimeError, ManagedMemoryResource, {})
""",
    )


def test_pools_of_host_memory_with_options_require_no_new_driver(on_driver):
    on_driver(
        12080,
        """
resource = PinnedMemoryResource({"numa_id": 0})
resource.allocate(16, stream=stream).close()
resource.close()
""",
    )


@pytest.mark.parametrize("version", [12020, 12080, 13000])
def test_advice_and_prefetches_work(on_driver, version):
    on_driver(
        version,
        MANAGED
        + """
memory.read_mostly = True
memory.preferred_location = Host()
memory.prefetch(device, stream=stream)
prefetch_batch(stream, [memory], Host())
assert memory.read_mostly and memory.preferred_location == Host()
assert memory.last_prefetch_location == Host()
memory.prefetch(device, stream=stream)
assert memory.last_prefetch_location is device
memory.preferred_location = None
assert memory.preferred_location is None
driver.cuMemFree(memory.handle)
""",
    )


def test_functions_missing_on_cuda_12_are_named(on_driver):
    on_driver(
        12080,
        MANAGED
        + """
assert "use Host()" in raised(TypeError, memory.prefetch, Host(0), stream=stream)
assert "discard requires CUDA 13.0" in raised(RuntimeError, memory.discard, stream=stream)
for function in (discard_prefetch_batch, lambda s, b, _: discard_batch(s, b)):
    assert "requires CUDA 13.0" in raised(RuntimeError, function, stream, [memory], device)
driver.cuMemFree(memory.handle)
""",
    )


def test_all_of_them_work_on_cuda_13(on_driver):
    on_driver(
        13000,
        """
PinnedMemoryResource().close()
resource = ManagedMemoryResource({})
memory = resource.allocate(4096, stream=stream)
memory.discard(stream=stream)
discard_prefetch_batch(stream, [memory], device)
discard_batch(stream, [memory])
memory.close(stream)
resource.close()
stream.sync()
""",
    )


@pytest.mark.parametrize("version", [12080, 13000])
def test_copies_with_options_fall_back_where_the_driver_has_none(on_driver, version):
    on_driver(
        version,
        f"""
with device.allocate(8, stream=stream) as src, device.allocate(8, stream=stream) as dst:
    src.fill(3, stream=stream)
    src.copy_to(dst, stream=stream, options=CopyOptions("any"))
    during = CopyOptions("during_api_call")
    copy_batch(stream, [src], [dst], options=CopyOptions("any"))
    if {version} < 13000:
        text = raised(RuntimeError, src.copy_to, dst, stream=stream, options=during)
        assert "'during_api_call' needs a newer driver" in text
        assert "newer" in raised(RuntimeError, copy_batch, stream, [src], [dst], options=during)
    else:  # batches have attributes here, single copies do not
        src.copy_to(dst, stream=stream, options=during)
    content = bytearray(8)
    dst.copy_to(content, stream=stream)
    stream.sync()
    assert content == bytes([3]) * 8
""",
    )
