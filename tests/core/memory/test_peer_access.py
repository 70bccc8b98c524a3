# SPDX-License-Identifier: Apache-2.0
"""peer_accessible_by: which other devices may use the memory of a pool, on two emulated devices."""

import os
import subprocess
import sys

import pytest

START = """
from cuda.core import Device, DeviceMemoryResource, emulation
first, second, third = Device.get_all_devices()
for each in (third, second, first):
    each.set_current()
resource = DeviceMemoryResource(first, {})
peers = resource.peer_accessible_by
def set_calls():
    return emulation.stats()["calls"].get("cuMemPoolSetAccess", 0)
def raised(kind, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised")
"""

CASES = {
    "it begins empty": """
assert peers == set() and not peers and len(peers) == 0
assert repr(peers) == "PeerAccessibleBySetProxy(set())"
""",
    "members come and go": """
peers.add(second)
assert second in peers and 1 in peers and "1" not in peers and third not in peers
assert list(peers) == [second]
peers.add(2)
assert list(peers) == [second, third]
peers.remove(1)
assert raised(KeyError, peers.remove, 1)
peers.discard(1); peers.discard(9); peers.discard("x"); peers.discard(first)
assert peers.pop() is third and raised(KeyError, peers.pop)
""",
    "the owner is dropped in silence": """
peers.add(first); peers.update([0, first])
resource.peer_accessible_by = [first, second]
assert list(peers) == [second] and first not in peers
""",
    "rule 16: set on one wrapper it is seen by every wrapper of the pool": """
one, other = DeviceMemoryResource(first), DeviceMemoryResource(0)
before = other.peer_accessible_by
one.peer_accessible_by = [1]
assert before == {second}
other.peer_accessible_by = []
assert not one.peer_accessible_by
""",
    "rule 17: one driver call per bulk change, none for no-ops": """
def calls(function, *arguments):
    before = set_calls()
    function(*arguments)
    return set_calls() - before
def in_place():
    resource.peer_accessible_by |= {second, third}
assert calls(in_place) == 1 and peers == {second, third}
assert calls(in_place) == 0 and calls(peers.update, [1], [2]) == 0
assert calls(setattr, resource, "peer_accessible_by", [2]) == 1 and peers == {third}
assert calls(peers.symmetric_difference_update, [1, 2]) == 1 and peers == {second}
assert calls(peers.intersection_update, [2]) == 1 and not peers
assert calls(peers.clear) == 0 and calls(peers.difference_update, [1]) == 0
assert calls(peers.update, [1], [2]) == 1 and calls(peers.clear) == 1
""",
    "operators give plain sets": """
peers.add(1)
assert type(peers | {third}) is set and peers | {third} == {second, third}
assert peers & {second} == {second} and peers - {second} == set()
assert peers ^ {third} == {second, third}
""",
    "tuples of ordinals compare as they did": """
peers.update([2, 1])
assert peers == (1, 2) and peers == [2, 1] and peers != (1,)
assert tuple(int(each) for each in peers) == (1, 2)
""",
    "an unknown device is refused and changes nothing": """
peers.add(1)
assert "got 7" in raised(ValueError, peers.update, [2, 7])
assert "str" in raised(TypeError, setattr, resource, "peer_accessible_by", ["x"])
assert "iterable" in raised(TypeError, setattr, resource, "peer_accessible_by", 5)
assert peers == {second}
""",
    "a device that cannot reach the memory is named and nothing changes": """
from cuda.core.memory.driver_sets import PeerAccessibleBySetProxy
class Apart(PeerAccessibleBySetProxy):
    def _can_reach(self, member):
        return False
apart = Apart(resource)
assert raised(ValueError, apart.add, 1) == "Device 0 cannot access peer: 1"
assert raised(ValueError, apart.update, [2, 1]) == "Device 0 cannot access peer(s): 1, 2"
assert not peers
""",
    "the driver refuses and the set stays as it was": """
from cuda.core import CUDAError
with emulation.inject("cuMemPoolSetAccess", error="CUDA_ERROR_INVALID_DEVICE"):
    assert "[cuMemPoolSetAccess]" in raised(CUDAError, peers.update, [1, 2])
assert not peers
""",
    "a closed resource refuses": """
held = resource.peer_accessible_by
resource.close()
text = "DeviceMemoryResource has been closed"
assert raised(RuntimeError, lambda: resource.peer_accessible_by) == text
assert raised(RuntimeError, lambda: list(held)) == text
assert raised(RuntimeError, held.add, 1) == text
""",
    "a kernel of a peer writes where it may, and only there": """
from cuda.core import CUDAError, LaunchConfig, ObjectCode, launch
ptx = '''.version 8.0
.target sm_75
.address_size 64
.visible .entry put(.param .u64 to) {
  .reg .b64 %a; .reg .b32 %v;
  ld.param.u64 %a, [to]; mov.u32 %v, 7; st.global.u32 [%a], %v; ret; }'''
stream = first.create_stream()
memory = resource.allocate(4, stream=stream)
memory.fill(0, stream=stream)
stream.sync()
peers.add(second)
second.set_current()
other = second.create_stream()
kernel = ObjectCode.from_ptx(ptx).get_kernel("put")
launch(other, LaunchConfig(grid=1, block=1), kernel, memory)
other.sync()
first.set_current()
seen = bytearray(4)
memory.copy_to(seen, stream=stream)
stream.sync()
assert seen[0] == 7
""",
    "a copy with options or a fill without access says how to get it": """
from cuda.core import CUDAError
from cuda.core.utils import CopyOptions, copy_batch
other = DeviceMemoryResource(second, {})
second.set_current()
there = second.create_stream()
far = other.allocate(64, stream=there)
far.fill(2, stream=there)
there.sync()
first.set_current()
here = first.create_stream()
near = resource.allocate(64, stream=here)
calls = {
    "cuMemcpyWithAttributesAsync": lambda: far.copy_to(
        near, stream=here, options=CopyOptions()),
    "cuMemsetD8Async": lambda: far.fill(3, stream=here),
    "cuMemsetD16Async": lambda: far.fill(b"ab", stream=here),
    "cuMemsetD32Async": lambda: far.fill(b"abcd", stream=here),
}
for function, call in calls.items():
    try:
        call()
    except CUDAError as error:
        assert error.where == function.strip() and error.code == 1, error
        [note] = error.__notes__
        assert note.startswith(f"the memory at {int(far.handle):#x} belongs to device 1, the st")
        assert "peer_accessible_by.add(0)" in note
    else:
        raise AssertionError(function)
assert "[cuMemcpyBatchAsync]" in raised(CUDAError, copy_batch, here, [near], [far])
other.peer_accessible_by.add(0)
for call in calls.values():
    call()
near.fill(7, stream=here)
near.copy_to(far, stream=here)
copy_batch(here, [near], [far])
here.sync()
seen = bytearray(64)
second.set_current()
far.copy_to(seen, stream=there)
there.sync()
assert seen == bytes([7]) * 64
near.close(); far.close(there)
""",
    "access is taken back before an owned pool goes": """
peers.update([1, 2])
before = set_calls()
resource.close()
assert set_calls() - before == 1
""",
}


@pytest.mark.parametrize("case", CASES)
def test_peer_access(case):
    environment = os.environ | {"HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_DEVICES": "3"}
    done = subprocess.run(
        [sys.executable, "-c", START + CASES[case]],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
