# SPDX-License-Identifier: Apache-2.0
"""NVML on the emulator as C programs use it: ctypes over the library, in fresh processes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def declared():
    """Return the functions of the facts with the declared type of their first parameter."""
    text = (ROOT / "generator" / "api" / "nvml.api").read_text()
    return dict(re.findall(r"^fn (\w+)\(([^,)]*)", text, re.M))


def test_each_function_of_the_api_is_exported_and_returns(talk):
    functions = {name: first.startswith("nvmlDevice_t") for name, first in declared().items()}
    functions.pop("nvmlErrorString")
    code = f"""
functions = {functions!r}
before = {{name: ask(name, *[None] * 6) for name in functions if "Init" not in name}}
assert set(before.values()) == {{1}}, before
lib.nvmlInit_v2()
of_devices = [name for name, is_first in functions.items() if is_first]
wrong = {{name: ask(name, handle(8), *[None] * 5) for name in of_devices}}
assert set(wrong.values()) == {{2}}, wrong
first = device()
functions.pop("nvmlShutdown")
answers = {{name: ask(name, first, *[None] * 5) for name in of_devices}}
print(len(functions), sorted(set(answers.values())), sum(v == 3 for v in answers.values()))
"""
    count, *codes, refused = talk(code)
    assert int(count) == len(functions) - 1
    assert set("".join(codes)) <= set("[0,23]")  # success, no output buffer, or not found
    assert int(refused) > 100


def test_inits_and_shutdowns_are_counted(talk):
    code = """
n = out()
print(lib.nvmlDeviceGetCount_v2(c.byref(n)), lib.nvmlShutdown(), lib.nvmlInit_v2(),
      lib.nvmlInitWithFlags(1), lib.nvmlShutdown(), lib.nvmlDeviceGetCount_v2(c.byref(n)),
      lib.nvmlShutdown(), lib.nvmlDeviceGetCount_v2(c.byref(n)), n.value)
"""
    assert talk(code, devices="3") == ["1", "1", "0", "0", "0", "0", "0", "1", "3"]


def test_texts_need_a_large_enough_buffer(talk):
    code = """
lib.nvmlInit_v2()
d = device()
for size in (0, 5, 26, 27, 96):
    text = c.create_string_buffer(96)
    print(ask("nvmlDeviceGetName", d, text, u(size)), len(text.value))
lib.nvmlErrorString.restype = c.c_char_p
print(lib.nvmlErrorString(3).decode().replace(" ", "_"), lib.nvmlErrorString(12345).decode()[:7])
"""
    results = ["7", "0", "7", "0", "7", "0", "0", "26", "0", "26"]
    assert talk(code) == [*results, "Not_Supported", "Unknown"]


def test_structs_state_their_version(talk):
    code = """
lib.nvmlInit_v2()
d = device()
for version in (0, 1 << 24 | 40, 2 << 24 | 40, 2 << 24 | 39):
    memory = (c.c_uint64 * 5)(version)
    print(ask("nvmlDeviceGetMemoryInfo_v2", d, memory), memory[1])
"""
    assert talk(code, memory="1GiB") == ["25", "0", "25", "0", "0", "1073741824", "25", "0"]


def test_lists_return_the_size_they_need(talk):
    code = """
lib.nvmlInit_v2()
for room in (0, 1, 2, 3):
    n, list_ = u(room), (handle * 4)()
    print(ask("nvmlDeviceGetTopologyNearestGpus", device(1), 30, c.byref(n), list_), n.value)
print(list_[0] == device(0).value, list_[1] == device(2).value)
"""
    assert talk(code, devices="3") == ["7", "2", "7", "2", "0", "2", "0", "2", "True", "True"]


@pytest.mark.parametrize(
    ("capability", "architecture"),
    [("7.5", 6), ("8.0", 7), ("8.6", 7), ("9.0", 9), ("10.0", 10), ("12.0", 10)],
)
def test_architectures(talk, capability, architecture):
    code = """
lib.nvmlInit_v2()
arch, major, minor = out(), c.c_int(), c.c_int()
ask("nvmlDeviceGetArchitecture", device(), c.byref(arch))
ask("nvmlDeviceGetCudaComputeCapability", device(), c.byref(major), c.byref(minor))
print(arch.value, f"{major.value}.{minor.value}")
"""
    assert talk(code, cc=capability) == [str(architecture), capability]


def test_nvml_alone_starts_no_driver(talk):
    code = """
from cuda.core import emulation
lib.nvmlInit_v2()
memory = (c.c_uint64 * 5)(2 << 24 | 40)
ask("nvmlDeviceGetMemoryInfo_v2", device(), memory)
print(memory[4], own.load().halfwarp_emulator_is_active())
"""
    assert talk(code) == ["0", "0"]


def test_calls_through_nvml_are_not_counted_as_driver_calls(run_emulated):
    """Fault rules count only calls of the program."""
    code = """
from cuda.core import Device, emulation, system
Device(0).set_current()
before = emulation.stats()["calls"]
device = system.Device(index=0)
device.memory_info, device.name, device.uuid, device.compute_running_processes
print(emulation.stats()["calls"] == before)
"""
    assert run_emulated(code).stdout.split() == ["True"]


def test_options_are_fixed_once_nvml_has_used_them(run_emulated):
    code = """
from cuda.core import emulation, system
print(system.get_num_devices())
emulation.enable(devices=2)
try:
    emulation.enable(devices=3)
except RuntimeError as error:
    print("devices" in str(error))
"""
    assert run_emulated(code, devices="2").stdout.split() == ["2", "True"]


def test_invalid_options_give_no_devices(talk):
    code = "print(lib.nvmlInit_v2(), lib.nvmlInit_v2())"
    assert talk(code, devices="many") == ["9", "9"]


def test_sensors_are_set_by_name_and_reset(run_emulated):
    code = """
from cuda.core import emulation
before = emulation.sensors(1)
emulation.set_sensors(1, temperature=77, fan_speed=5)
assert emulation.sensors(0)["temperature"] == 41
changed = {k for k, v in emulation.sensors(1).items() if v != before[k]}
assert changed == {"temperature", "fan_speed"}
for wrong in ({"temperature": 99, "power": -1}, {"power": 1 << 70}, {"heat": 1}):
    try:
        emulation.set_sensors(1, **wrong)
    except ValueError as error:
        print(str(error).split()[0])
assert emulation.sensors(1)["temperature"] == 77
emulation.reset()
print(emulation.sensors(1) == before)
for ask in (emulation.sensors, emulation.set_sensors, lambda i: emulation.post_event("clock", i)):
    for index in (2, -1, 1 << 32, (1 << 32) + 1, 1 << 40, -1 << 32):
        try:
            ask(index)
        except ValueError as error:
            assert str(error) == f"there is no emulated device {index}"
        else:
            raise AssertionError(index)
"""
    assert run_emulated(code, devices="2").stdout.split() == ["power", "power", "unknown", "True"]


def test_a_value_of_more_than_64_bits_is_not_truncated(run_emulated):
    """ctypes would pass the low 64 bits, which are a temperature of -1, 0 or 41."""
    code = """
from cuda.core import emulation
for value in (1 << 63, (1 << 64) - 1, 1 << 64, (1 << 64) + 41, (1 << 65) - 1, 41 - (1 << 64),
              -(1 << 63), -(1 << 64), -(1 << 63) - 1):
    try:
        emulation.set_sensors(temperature=value)
    except ValueError as error:
        assert str(error) == f"temperature must be -100 to 300, got {value}"
    else:
        raise AssertionError(value)
print(emulation.sensors()["temperature"])
"""
    assert run_emulated(code).stdout.split() == ["41"]


def test_other_programs_find_it_in_the_folder(tmp_path):
    """Run a program without our packages: two files and the C library."""
    run = [sys.executable, "-m", "cuda.core.emulation", "path"]
    folder = Path(subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip())
    assert {each.name for each in folder.iterdir()} >= {"libcuda.so.1", "libnvidia-ml.so.1"}
    code = """
import ctypes as c
lib = c.CDLL("libnvidia-ml.so.1")
cuda = c.CDLL("libcuda.so.1")
used, d, context, address = (c.c_uint64 * 5)(2 << 24 | 40), c.c_void_p(), c.c_void_p(), c.c_uint64()
assert lib.nvmlInit_v2() == lib.nvmlDeviceGetHandleByIndex_v2(0, c.byref(d)) == 0
assert cuda.cuInit(0) == cuda.cuDevicePrimaryCtxRetain(c.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == cuda.cuMemAlloc_v2(c.byref(address), c.c_size_t(4096)) == 0
assert lib.nvmlDeviceGetMemoryInfo_v2(d, used) == 0
print(used[4])
cuda.cuMemFree_v2(address)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"LD_LIBRARY_PATH": str(folder)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "4096\n"), done.stderr


def test_a_real_nvml_opened_before_the_emulator_is_not_used(run_plainly):
    """No other NVML is queried once kernels are emulated."""
    code = """
import contextlib
from cuda.bindings import nvml
with contextlib.suppress(RuntimeError):  # none exists
    nvml.init_v2()
from cuda.core import Device, emulation, system
emulation.enable()
Device(0).set_current()
print(system.Device(index=0).name)
"""
    assert "Emulated" in run_plainly(code)


@pytest.fixture
def run_plainly():
    import os

    def run(code):
        plain = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
        done = subprocess.run(
            [sys.executable, "-c", code], env=plain, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_an_unknown_enumerator_is_refused(talk):
    results = talk("""
ask("nvmlInit_v2")
d, text, number = device(), c.create_string_buffer(64), c.byref(c.c_uint())
for n in (c.c_int(-1), c.c_int(-2**31), c.c_int(1000)):
    print(ask("nvmlDeviceGetInforomVersion", d, n, text, u(64)),
          ask("nvmlDeviceGetClockInfo", d, n, number),
          ask("nvmlDeviceGetMaxClockInfo", d, n, number),
          ask("nvmlDeviceGetTemperatureThreshold", d, n, number),
          ask("nvmlDeviceGetP2PStatus", d, d, n, number),
          ask("nvmlDeviceSetFanControlPolicy", d, u(0), n))
""")
    assert results == ["2"] * 18


def test_earlier_names_return_what_the_later_ones_do(talk):
    results = talk(
        """
ask("nvmlInit")
d, first, second = device(), u(), u()
assert ask("nvmlDeviceGetCount", c.byref(first)) == ask("nvmlDeviceGetCount_v2", c.byref(second))
print(first.value == second.value == 2)
other = handle()
print(ask("nvmlDeviceGetHandleByIndex", u(1), c.byref(other)), other.value == device(1).value)
print(ask("nvmlDeviceGetHandleByIndex", u(2), c.byref(other)))
text = (c.c_char * 128)()
ask("nvmlDeviceGetPciInfo_v3", other, text)
bus_id = bytes(text)[36:].partition(b"\\0")[0]
print(ask("nvmlDeviceGetHandleByPciBusId", bus_id, c.byref(other)), other.value == device(1).value)
for sensor, code in ((0, 0), (1, 2)):
    print(ask("nvmlDeviceGetTemperature", d, u(sensor), c.byref(first)) == code)
reading = (c.c_uint * 3)(1 << 24 | 12, 0, 0)
print(ask("nvmlDeviceGetTemperatureV", d, reading), reading[2] == first.value > 0)
from cuda.bindings import driver
driver.cuInit(0), driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
memory = driver.cuMemAlloc(1 << 20)[1]
old, new = (c.c_uint64 * 3)(), (c.c_uint64 * 5)(2 << 24 | 40)
print(ask("nvmlDeviceGetMemoryInfo", d, old), ask("nvmlDeviceGetMemoryInfo_v2", d, new))
print(old[0] == new[1] == old[1] + old[2], old[2] >= 1 << 20)
mode, reasons = u(9), (c.c_uint64 * 2)(7, 8)
print(ask("nvmlDeviceGetPowerManagementMode", d, c.byref(mode)), mode.value)
for kind in ("Current", "Supported"):
    values = []
    for name in ("Throttle", "Event"):
        value = c.c_uint64(99)
        assert ask(f"nvmlDeviceGet{kind}Clocks{name}Reasons", d, c.byref(value)) == 0
        values.append(value.value)
    print(values[0] == values[1] != 99)
""",
        devices="2",
    )
    expected = "True 0 True 2 0 True True True 0 True 0 0 True True 0 1 True True"
    assert " ".join(results) == expected


def test_fields_have_the_values_of_their_queries(talk):
    """Each field: an id, a result and a value, as the query of the same fact returns it."""
    results = talk("""
from cuda.bindings import nvml as n
from cuda.core import emulation
emulation.set_sensors(memory_temperature=71, power=250_000, power_limit=300_000, pcie_replays=5)
n.init_v2()
d = n.device_get_handle_by_index_v2(0)
F = n.FieldId
limits = n.device_get_power_management_limit_constraints(d)
expected = {
    F.DEV_MEMORY_TEMP: 71, F.DEV_POWER_INSTANT: 250_000, F.DEV_POWER_AVERAGE: 250_000,
    F.DEV_POWER_CURRENT_LIMIT: 300_000, F.DEV_POWER_REQUESTED_LIMIT: 300_000,
    F.DEV_POWER_MIN_LIMIT: limits[0], F.DEV_POWER_MAX_LIMIT: limits[1],
    F.DEV_POWER_DEFAULT_LIMIT: n.device_get_power_management_default_limit(d),
    F.DEV_PCIE_REPLAY_COUNTER: 5, F.DEV_TEMPERATURE_GPU_MAX_TLIMIT: 0,
}
for field, value in expected.items():
    entry = n.device_get_field_values(d, [int(field)])[0]
    number = int(entry.value.ui_val[0])
    print(entry.nvml_return == 0 and number == value or f"{field.name}={number}")
""")
    assert results == ["True"] * 10


def test_a_board_is_found_by_its_uuid_as_text_and_as_bytes(talk):
    results = talk(
        """
ask("nvmlInit_v2")
text = c.create_string_buffer(96)
assert ask("nvmlDeviceGetUUID", device(1), text, u(96)) == 0
number = bytes.fromhex(text.value.decode().removeprefix("GPU-").replace("-", ""))
def find(kind, value):
    request = c.create_string_buffer(c.string_at(c.byref((u * 2)(1 << 24 | 52, kind)), 8)
                                     + value, 56)
    match = handle()
    return ask("nvmlDeviceGetHandleByUUIDV", request, c.byref(match)), match.value
for kind, value in ((1, text.value), (2, number), (2, bytes(16)), (1, b"GPU-none"), (0, number)):
    code, match = find(kind, value)
    print(code, match == device(1).value)
""",
        devices="2",
    )
    assert results == ["0", "True", "0", "True", "6", "False", "6", "False", "2", "False"]


def test_clocks_and_neighbors(talk):
    results = talk(
        """
ask("nvmlInit_v2")
d, other, value, most = device(), device(1), u(), u()
current, boost, unsupported, unknown = 0, 3, 1, 9
assert ask("nvmlDeviceGetMaxClockInfo", d, 0, c.byref(most)) == 0
print(ask("nvmlDeviceGetClock", d, 0, boost, c.byref(value)), value.value == most.value)
assert ask("nvmlDeviceGetClockInfo", d, 0, c.byref(most)) == 0
print(ask("nvmlDeviceGetClock", d, 0, current, c.byref(value)), value.value == most.value)
print(ask("nvmlDeviceGetClock", d, 0, unsupported, c.byref(value)),
      ask("nvmlDeviceGetClock", d, 0, unknown, c.byref(value)))
for pair in ((d, d), (d, other)):
    assert ask("nvmlDeviceOnSameBoard", *pair, c.byref(value)) == 0
    print(value.value)
for pair, index in (((d, other), 0), ((d, d), 0), ((d, other), 2)):
    assert ask("nvmlDeviceGetP2PStatus", *pair, index, c.byref(value)) == 0
    print(value.value)
""",
        devices="2",
    )
    assert results[:8] == ["0", "True", "0", "True", "3", "2", "1", "0"]
    assert results[8] == "0" and results[9] == results[10] != "0"


def test_a_child_process_can_wait_for_events(talk):
    """The parent has a waiting thread, and its child has neither the waiter nor the lock."""
    code = """
import threading
assert ask("nvmlInit_v2") == 0
events = handle()
assert ask("nvmlEventSetCreate", c.byref(events)) == 0
data = (c.c_ulong * 8)()
waiting = threading.Thread(target=ask, args=("nvmlEventSetWait_v2", events, data, u(2**32 - 1)))
waiting.start()
child = os.fork()
if child == 0:
    count = out()
    codes = [
        ask("nvmlEventSetWait_v2", events, data, u(1)),
        ask("nvmlDeviceGetCount_v2", c.byref(count)),
        ask("nvmlEventSetFree", events),
        ask("nvmlShutdown"),
    ]
    print(*codes, flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert ask("nvmlEventSetFree", events) == 0
waiting.join()
"""
    assert talk(code) == ["10", "0", "0", "0"]
