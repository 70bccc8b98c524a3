# SPDX-License-Identifier: Apache-2.0
"""peer_accessible_by: devices that can access the memory of a pool, on two emulated devices."""

import os
import subprocess
import sys

import pytest
from cuda.core.memory.driver_sets import _DriverSet

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
    "it is initially empty": """
assert peers == set() and not peers and len(peers) == 0
assert repr(peers) == "PeerAccessibleBySetProxy(set())"
""",
    "members can be added and removed": """
peers.add(second)
assert second in peers and 1 in peers and "1" not in peers and third not in peers
assert True not in peers
assert list(peers) == [second]
peers.add(2)
assert list(peers) == [second, third]
peers.remove(1)
assert raised(KeyError, peers.remove, 1)
peers.discard(1); peers.discard(9); peers.discard("x"); peers.discard(first)
assert peers.pop() is third and raised(KeyError, peers.pop)
""",
    "the owner is ignored": """
peers.add(first); peers.update([0, first])
resource.peer_accessible_by = [first, second]
assert list(peers) == [second] and first not in peers
""",
    "a change applies to every wrapper of the pool": """
first_wrapper, second_wrapper = DeviceMemoryResource(first), DeviceMemoryResource(0)
before = second_wrapper.peer_accessible_by
first_wrapper.peer_accessible_by = [1]
assert before == {second}
second_wrapper.peer_accessible_by = []
assert not first_wrapper.peer_accessible_by
""",
    "a bulk change is one driver call, a no-op none": """
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
    "operators return plain sets": """
peers.add(1)
assert type(peers | {third}) is set and peers | {third} == {second, third}
assert peers & {second} == {second} and peers - {second} == set()
assert peers ^ {third} == {second, third}
""",
    "tuples of ordinals compare equal": """
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
    "a device without access to the memory is named and nothing changes": """
from cuda.core.memory.driver_sets import PeerAccessibleBySetProxy
class Apart(PeerAccessibleBySetProxy):
    def _can_reach(self, member):
        return False
apart = Apart(resource)
assert raised(ValueError, apart.add, 1) == "Device 0 cannot access peer: 1"
assert raised(ValueError, apart.update, [2, 1]) == "Device 0 cannot access peer(s): 1, 2"
assert not peers
""",
    "a refusal of the driver keeps the set": """
from cuda.core import CUDAError
with emulation.inject("cuMemPoolSetAccess", error="CUDA_ERROR_INVALID_DEVICE"):
    assert "[cuMemPoolSetAccess]" in raised(CUDAError, peers.update, [1, 2])
assert not peers
""",
    "a closed resource is refused": """
held = resource.peer_accessible_by
resource.close()
text = "DeviceMemoryResource has been closed"
assert raised(RuntimeError, lambda: resource.peer_accessible_by) == text
assert raised(RuntimeError, lambda: list(held)) == text
assert raised(RuntimeError, held.add, 1) == text
""",
    "a kernel of a peer writes only to memory that it can access": """
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
content = bytearray(4)
memory.copy_to(content, stream=stream)
stream.sync()
assert content[0] == 7
""",
    "a copy with options or a fill without access has a hint": """
from cuda.core import CUDAError
from cuda.core.utils import CopyOptions, copy_batch
other = DeviceMemoryResource(second, {})
second.set_current()
second_stream = second.create_stream()
far = other.allocate(64, stream=second_stream)
far.fill(2, stream=second_stream)
second_stream.sync()
first.set_current()
first_stream = first.create_stream()
near = resource.allocate(64, stream=first_stream)
calls = {
    "cuMemcpyWithAttributesAsync": lambda: far.copy_to(
        near, stream=first_stream, options=CopyOptions()),
    "cuMemsetD8Async": lambda: far.fill(3, stream=first_stream),
    "cuMemsetD16Async": lambda: far.fill(b"ab", stream=first_stream),
    "cuMemsetD32Async": lambda: far.fill(b"abcd", stream=first_stream),
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
assert "[cuMemcpyBatchAsync]" in raised(CUDAError, copy_batch, first_stream, [near], [far])
other.peer_accessible_by.add(0)
for call in calls.values():
    call()
near.fill(7, stream=first_stream)
near.copy_to(far, stream=first_stream)
copy_batch(first_stream, [near], [far])
first_stream.sync()
content = bytearray(64)
second.set_current()
far.copy_to(content, stream=second_stream)
second_stream.sync()
assert content == bytes([7]) * 64
near.close(); far.close(second_stream)
""",
    "access is removed before an owned pool is destroyed": """
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
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


class Stored(_DriverSet):
    """Numbers below 10 in a list; odd texts are their names, and 7 is ignored."""

    __slots__ = ("changes", "members")
    _property = "stored"

    def __init__(self, *members):
        self.members, self.changes = sorted(members), []

    def _members(self):
        return list(self.members)

    def _accept(self, value):
        if not isinstance(value, (int, str)):
            raise TypeError(value)
        return None if int(value) == 7 else int(value)

    def _find(self, value):
        return int(value) if str(value).isdigit() else None

    def _change(self, removed, added):
        assert not set(removed) & set(added)
        assert set(removed) <= set(self.members) and not set(added) & set(self.members)
        self.changes.append((removed, added))
        self.members = sorted({*self.members, *added} - {*removed})


def applied(function, *members):
    """Return the members and the changes after a function of a set."""
    stored = Stored(*members)
    function(stored)
    return stored.members, stored.changes


@pytest.mark.parametrize(
    ("function", "members", "changes"),
    [
        (lambda s: s.add(3), [1, 2, 3], [([], [3])]),
        (lambda s: s.add(2), [1, 2], []),
        (lambda s: s.add(7), [1, 2], []),
        (lambda s: s.discard("2"), [1], [([2], [])]),
        (lambda s: s.discard(3), [1, 2], []),
        (lambda s: s.discard("x"), [1, 2], []),
        (lambda s: s.remove(1), [2], [([1], [])]),
        (lambda s: s.pop(), [2], [([1], [])]),
        (lambda s: s.clear(), [], [([1, 2], [])]),
        (lambda s: s.update([2, 3], ["4", 3, 7]), [1, 2, 3, 4], [([], [3, 4])]),
        (lambda s: s.update(), [1, 2], []),
        (lambda s: s.difference_update([1, 5], ["2"]), [], [([1, 2], [])]),
        (lambda s: s.difference_update([5, "x"]), [1, 2], []),
        (lambda s: s.intersection_update([1, 2, 3], ["2", "x"]), [2], [([1], [])]),
        (lambda s: s.intersection_update(), [1, 2], []),
        (lambda s: s.symmetric_difference_update([2, 3, 3, 7]), [1, 3], [([2], [3])]),
        (lambda s: s.symmetric_difference_update([]), [1, 2], []),
        (lambda s: s.__ior__({3}), [1, 2, 3], [([], [3])]),
        (lambda s: s.__iand__({2, 4}), [2], [([1], [])]),
        (lambda s: s.__isub__({2, 4}), [1], [([2], [])]),
        (lambda s: s.__isub__(s), [], [([1, 2], [])]),
        (lambda s: s.__ixor__({2, 4}), [1, 4], [([2], [4])]),
        (lambda s: s.__ixor__(s), [], [([1, 2], [])]),
        (lambda s: s._replace([2, 5]), [2, 5], [([1], [5])]),
    ],
)
def test_an_operation_is_at_most_one_change(function, members, changes):
    assert applied(function, 1, 2) == (members, changes)


def test_members_are_compared_and_shown_as_a_set():
    stored = Stored(1, 2)
    assert "1" in stored and 3 not in stored and "x" not in stored
    assert (len(stored), list(stored), stored) == (2, [1, 2], {1, 2})
    assert (stored | {3}, stored & {2}, stored - {2}, stored ^ {2, 3}) == (
        {1, 2, 3},
        {2},
        {1},
        {1, 3},
    )
    assert (repr(stored), repr(Stored())) == ("Stored({1, 2})", "Stored(set())")
    for operator in ("__ior__", "__iand__", "__isub__", "__ixor__"):
        assert getattr(stored, operator)({1, 2, 3}) is stored


def test_what_a_set_cannot_do_is_an_error_without_a_change():
    stored = Stored(1)
    for call, error, text in (
        (lambda: stored.remove(2), KeyError, "2"),
        (lambda: Stored().pop(), KeyError, "pop from an empty Stored"),
        (lambda: stored.update(3), TypeError, "stored must be an iterable of devices, got int"),
        (lambda: stored.update([2, 1.5]), TypeError, "1.5"),
    ):
        with pytest.raises(error, match=text):
            call()
    assert (stored.members, stored.changes) == ([1], [])
