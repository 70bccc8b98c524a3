# SPDX-License-Identifier: Apache-2.0
"""A traceback ends at the user's call; HALFWARP_FULL_TRACEBACK=1 adds the functions inside."""

# Prints the name of the last frame, and the number of frames, for each error. A second error of
# the same line uses a cache of code objects, which all files of an extension share.
FACTORY_MADE = """
import traceback
from cuda.core import Buffer, Context, Event, Kernel, ObjectCode, Stream

for cls in (Buffer, Context, Event, Kernel, ObjectCode, Stream) * 2:
    try:
        cls(1)
    except RuntimeError as error:
        assert f"{cls.__name__} objects cannot" in str(error)
        frames = traceback.extract_tb(error.__traceback__)
        print(cls.__name__, frames[-1].name, len(frames))
"""

# A function of the user that is called from inside the package raises.
CALLED_BACK = """
import traceback
from cuda.core import Device, LaunchConfig, MemoryResource

class Resource(MemoryResource):
    def allocate(self, size, *, stream=None):
        return self.missing(size)
    def deallocate(self, pointer, size, *, stream=None): pass
    is_device_accessible = is_host_accessible = True
    device_id = 0

device = Device()
device.set_current()
device.memory_resource = Resource()
try:
    device.allocate(8, stream=device.default_stream)
except AttributeError as error:
    print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
"""


def test_the_last_frame_is_the_users_call(run_python):
    lines = run_python(FACTORY_MADE, HALFWARP_FULL_TRACEBACK="0").splitlines()
    assert len(lines) == 12
    for line in lines:
        assert line.split()[1:] == ["<module>", "1"]


def test_a_full_traceback_names_the_function_that_raised(run_python):
    lines = run_python(FACTORY_MADE, HALFWARP_FULL_TRACEBACK="1").splitlines()
    assert len(lines) == 12
    for line in lines:
        name, last, number = line.split()
        assert last.endswith(f".{name}.__init__")
        assert int(number) > 1


def test_functions_of_the_user_stay(run_python):
    assert run_python(CALLED_BACK, HALFWARP_FULL_TRACEBACK="0") == "['<module>', 'allocate']\n"
    full = run_python(CALLED_BACK, HALFWARP_FULL_TRACEBACK="1")
    assert full.startswith("['<module>', 'cuda.core.") and full.endswith("'allocate']\n")
