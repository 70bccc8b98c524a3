# SPDX-License-Identifier: Apache-2.0
"""The invented facts of an emulated board: sensors, limits and structures, number by number."""

import ast

import pytest

# name: initial value, smallest and largest value
SENSORS = {
    "temperature": (41, -100, 300), "memory_temperature": (45, -100, 300),
    "power": (75_000, 0, 10_000_000), "power_limit": (700_000, 1000, 10_000_000),
    "gpu_utilization": (0, 0, 100), "memory_utilization": (0, 0, 100),
    "encoder_utilization": (0, 0, 100), "decoder_utilization": (0, 0, 100),
    "graphics_clock": (345, 0, 100_000), "sm_clock": (345, 0, 100_000),
    "memory_clock": (1000, 0, 100_000), "video_clock": (765, 0, 100_000),
    "performance_state": (0, 0, 32), "clock_event_reasons": (1, 0, 2**62),
    "fans": (1, 0, 8), "fan_speed": (30, 0, 100), "fan_target": (30, 0, 100),
    "fan_policy": (0, 0, 2**31), "pcie_rx": (0, 0, 2**32), "pcie_tx": (0, 0, 2**32),
    "pcie_replays": (0, 0, 2**31), "persistence_mode": (1, 0, 1), "auto_boost": (1, 0, 1),
    "display_connected": (0, 0, 1), "display_active": (0, 0, 1), "c2c": (0, 0, 1),
    "addressing_mode": (1, 0, 2**31), "nvlinks": (0, 0, 36), "nvlink_version": (6, 0, 2**31),
    "repair_pending": (0, 0, 1),
}  # fmt: skip


def test_sensors_have_initial_values_and_limits(run_emulated):
    code = """
from cuda.core import emulation
initial, limits = emulation.sensors(), {}
for name in initial:
    for value in (-2**63, 2**63 - 1):
        try:
            emulation.set_sensors(**{name: value})
        except ValueError as error:
            limits[name] = str(error)
print(repr((initial, limits)))
"""
    initial, limits = ast.literal_eval(run_emulated(code).stdout)
    assert initial == {name: row[0] for name, row in SENSORS.items()}
    for name, (_, least, most) in SENSORS.items():
        assert f"{least} to {most}" in limits[name], limits[name]


@pytest.mark.parametrize("name", SENSORS)
def test_a_sensor_accepts_its_limits(emulated, name):
    before = emulated.sensors()[name]
    _, least, most = SENSORS[name]
    try:
        for value in (least, most):
            emulated.set_sensors(**{name: value})
            assert emulated.sensors()[name] == value
        for value in (least - 1, most + 1):
            with pytest.raises(ValueError, match=name):
                emulated.set_sensors(**{name: value})
        assert emulated.sensors()[name] == most
    finally:
        emulated.set_sensors(**{name: before})


# Queries of one number for a board, arguments before the output, the result and the number.
NUMBERS = [
    *(("MaxClockInfo", (kind,), 0, most) for kind, most in enumerate((1980, 1980, 1000, 1545))),
    *(("ClockInfo", (kind,), 0, value) for kind, value in enumerate((345, 345, 1000, 765))),
    ("MaxClockInfo", (4,), 2, 77),
    ("ClockInfo", (4,), 2, 77),
    ("Clock", (0, 1), 3, 77),
    ("Clock", (0, 2), 3, 77),
    ("Clock", (0, 4), 2, 77),
    *(("TemperatureThreshold", (n,), 0, t) for n, t in enumerate((95, 90, 100, 87))),
    ("TemperatureThreshold", (4,), 3, 77),
    ("TemperatureThreshold", (8,), 2, 77),
    ("PowerManagementDefaultLimit", (), 0, 700_000),
    ("PcieSpeed", (), 0, 32_000),
    ("PcieThroughput", (0,), 0, 0),
    ("PcieThroughput", (2,), 2, 77),
    ("BoardId", (), 0, 1),
    ("Index", (), 0, 1),
    ("MinorNumber", (), 0, 1),
    ("ModuleId", (), 0, 1),
    ("MultiGpuBoard", (), 0, 0),
    ("Brand", (), 0, 0),
    ("MaxMigDeviceCount", (), 0, 0),
    ("MemoryBusWidth", (), 0, 64),
    ("InforomConfigurationChecksum", (), 0, 0xE0A1),
    ("NumaNodeId", (), 0, 0),
]


@pytest.fixture
def lines(talk, run_emulated):
    """Run code with an initialized NVML and two boards; return its output as an object."""
    start = """
ask("nvmlInit_v2")
d, other = device(1), device(0)
"""
    return lambda code, **options: ast.literal_eval(
        "".join(talk(start + code, devices=2, **options))
    )


def test_queries_of_a_number(lines):
    requests = [(name, arguments) for name, arguments, *_ in NUMBERS]
    answers = lines(f"""
answers = []
for name, arguments in {requests!r}:
    value = u(77)
    code = ask("nvmlDeviceGet" + name, d, *arguments, c.byref(value))
    answers.append((code, value.value))
print(answers)
""")
    expected = [(code, value) for *_, code, value in NUMBERS]
    wrong = [(*r, a) for r, a, e in zip(requests, answers, expected, strict=True) if a != e]
    assert not wrong


# Queries of a structure of 32-bit words: its bytes, its version (0: without), words before, words
# after.
STRUCTS = {
    "TemperatureV": (12, 1, {}, {2: 41}),
    "MarginTemperature": (8, 1, {}, {1: 87 - 41}),
    "ClockOffsets": (24, 1, {}, {3: 0, 4: -200, 5: 200}),
    "AddressingMode": (8, 1, {}, {1: 1}),
    "RepairStatus": (12, 1, {}, {1: 0, 2: 0}),
    "FanSpeedRPM": (12, 1, {}, {2: 30 * 40}),
    "CoolerInfo": (16, 1, {}, {2: 2, 3: 2}),
    "DynamicPstatesInfo": (132, 0, {}, {1: 1, 2: 0, 3: 80, 4: 30, 5: 1, 6: 0, 7: 80, 8: 30, 9: 0}),
    "UtilizationRates": (8, 0, {}, {0: 0, 1: 0}),
    "Attributes_v2": (48, 0, {}, {0: 4, 1: 1, 2: 0, 6: 1, 7: 1, 8: 2048}),
}


@pytest.mark.parametrize("name", STRUCTS)
def test_queries_of_a_structure(lines, name):
    size, version, before, after = STRUCTS[name]
    words = lines(f"""
words = (c.c_int * 64)()
for place, value in {before!r}.items():
    words[place] = value
codes = []
if {version}:
    for wrong in (0, {version} + 1 << 24 | {size}, {version} << 24 | {size} + 1):
        words[0] = wrong
        codes.append(ask("nvmlDeviceGet{name}", d, words))
    words[0] = {version} << 24 | {size}
codes.append(ask("nvmlDeviceGet{name}", d, words))
print((codes, list(words)))
""")
    codes, values = words
    assert codes == ([25] * 3 if version else []) + [0]
    assert {place: values[place] for place in after} == after
    assert not any(values[size // 4 :])


def test_bounds_and_thermal_settings(lines):
    low_high, settings, states = lines("""
pairs = []
for name, arguments in (("PowerManagementLimitConstraints", ()), ("MinMaxFanSpeed", ()),
                        *(("MinMaxClockOfPState", (kind, 0)) for kind in range(4)),
                        ("EncoderUtilization", ()), ("DecoderUtilization", ()),
                        ("AutoBoostedClocksEnabled", ()),
                        ("MinMaxClockOfPState", (4, 0)), ("MinMaxClockOfPState", (0, 1))):
    first, second = u(77), u(77)
    code = ask("nvmlDeviceGet" + name, d, *arguments, c.byref(first), c.byref(second))
    pairs.append((code, first.value, second.value))
settings = []
for target in (0, 1, 2, 15):
    words = (c.c_int * 16)(*[77] * 16)
    settings.append((ask("nvmlDeviceGetThermalSettings", d, target, words), list(words)[:6]))
states = []
for size in (3, 4, 11, 12):
    words = (c.c_int * 4)(*[77] * 4)
    states.append((ask("nvmlDeviceGetSupportedPerformanceStates", d, words, u(size)), list(words)))
print((pairs, settings, states))
""")
    assert low_high == [
        (0, 200_000, 700_000), (0, 0, 100),
        (0, 345, 1980), (0, 345, 1980), (0, 1000, 1000), (0, 765, 1545),
        (0, 0, 100_000), (0, 0, 100_000), (0, 1, 1), (2, 77, 77), (3, 77, 77),
    ]  # fmt: skip
    sensor = [1, 1, -40, 95, 41, 1]  # one sensor inside the GPU
    none = [0] * 6
    assert settings == [(0, none), (0, sensor), (0, none), (0, sensor)]
    assert states == [
        (7, [77] * 4), (0, [0, 77, 77, 77]), (0, [0, 32, 77, 77]), (0, [0, 32, 32, 77]),
    ]  # fmt: skip


def test_the_bus_of_each_board(lines):
    answers = lines("""
rows = []
for index in range(2):
    text = c.create_string_buffer(128)
    assert ask("nvmlDeviceGetPciInfo_v3", device(index), text) == 0
    legacy, words, full = text.raw[:16], text.raw[16:36], text.raw[36:68]
    rows.append((legacy.split(b"\\0")[0], full.split(b"\\0")[0],
                 [int.from_bytes(words[i : i + 4], "little") for i in range(0, 20, 4)]))
    words = (u * 32)(1 << 24 | 64)
    assert ask("nvmlDeviceGetPciInfoExt", device(index), words) == 0
    rows.append((list(words)[:8], bytes(words)[32:64].split(b"\\0")[0]))
print(rows)
""")
    ids = [0xE00110DE, 0x000110DE]
    assert answers == [
        (b"E000:00:00.0", b"0000E000:00:00.0", [0xE000, 0, 0, *ids]),
        ([1 << 24 | 64, 0xE000, 0, 0, *ids, 3, 2], b"0000E000:00:00.0"),
        (b"E000:01:00.0", b"0000E000:01:00.0", [0xE000, 1, 0, *ids]),
        ([1 << 24 | 64, 0xE000, 1, 0, *ids, 3, 2], b"0000E000:01:00.0"),
    ]


def test_a_board_is_found_by_parts_of_its_bus_id(lines):
    codes = lines("""
codes = []
for text in (b"e000:1:0", b"0000E000:01:00.0", b"E000:1:0.7", b"1:0", b"e001:1:0", b"e000:2:0",
             b"e000:1:1", b"e000", b""):
    match = handle()
    code = ask("nvmlDeviceGetHandleByPciBusId_v2", text, c.byref(match))
    codes.append((code, match.value == d.value))
serial = [ask("nvmlDeviceGetHandleBySerial", *pair)
          for pair in ((b"1", c.byref(match)), (None, c.byref(match)), (b"1", None))]
print((codes, serial))
""")
    same, none, bad = (0, True), (6, False), (2, False)
    assert codes == ([same] * 3 + [none] * 4 + [bad] * 2, [6, 2, 2])


def test_the_topology_of_two_boards(lines):
    answers = lines("""
levels = []
for second in (d, other, handle(8)):
    level = u(77)
    code = ask("nvmlDeviceGetTopologyCommonAncestor", d, second, c.byref(level))
    levels.append((code, level.value))
nearest = []
for level in (0, 10, 20, 30, 40, 50):
    count, list_ = u(2), (handle * 2)()
    code = ask("nvmlDeviceGetTopologyNearestGpus", d, level, c.byref(count), list_)
    nearest.append((code, count.value, list_[0] == other.value))
count, list_ = u(2), (handle * 2)()
every = ask("nvmlSystemGetTopologyGpuSet", 0, c.byref(count), list_), list(list_)
peers = []
for index in range(8):
    status = c.c_int(77)
    peers.append((ask("nvmlDeviceGetP2PStatus", d, other, index, c.byref(status)), status.value))
bad = [ask("nvmlDeviceGetP2PStatus", d, handle(8), 0, c.byref(status)),
       ask("nvmlDeviceOnSameBoard", d, handle(8), c.byref(status))]
print((levels, nearest, every == (0, [other.value, d.value]), count.value, peers, bad))
""")
    levels, nearest, has_every, count, peers, bad = answers
    assert levels == [(0, 0), (0, 30), (2, 77)]
    assert nearest == [(0, 0, False)] * 3 + [(0, 1, True)] + [(0, 0, False)] * 2
    assert (has_every, count, bad) == (True, 2, [2, 2])
    supported, unsupported = (0, 0), (0, 5)
    unknown = (2, 77)
    assert peers[:2] == [supported] * 2 and peers[2] == unsupported
    assert peers[6:] == [unknown] * 2, peers


def test_texts_of_the_board(lines):
    texts = lines("""
texts = []
for name, arguments in (*(("InforomVersion", (kind,)) for kind in range(5)),
                        ("InforomImageVersion", ()), ("BoardPartNumber", ()), ("VbiosVersion", ()),
                        ("Name", ()), ("UUID", ())):
    text = c.create_string_buffer(96)
    texts.append((ask("nvmlDeviceGet" + name, d, *arguments, text, u(96)), text.value))
for name in ("DriverVersion", "NVMLVersion"):
    text = c.create_string_buffer(96)
    texts.append((ask("nvmlSystemGet" + name, text, u(96)), text.value))
branch = c.create_string_buffer(96)
for length in (7, 8, 200):
    c.memmove(branch, c.byref(u(1 << 24 | 84)), 4)
    code = ask("nvmlSystemGetDriverBranch", branch, u(length))
    texts.append((code, branch.raw[4:].split(b"\\0")[0]))
for pid, room in ((os.getpid(), 4096), (os.getpid(), 2), (4194305, 4096)):
    text = c.create_string_buffer(4096)
    code = ask("nvmlSystemGetProcessName", u(pid), text, u(room))
    texts.append((code, text.value == os.path.realpath("/proc/self/exe").encode()))
version, wide = c.c_int(), c.c_int()
texts.append([ask("nvmlSystemGetCudaDriverVersion", c.byref(version)), version.value])
texts.append([ask("nvmlSystemGetCudaDriverVersion_v2", c.byref(wide)), wide.value])
print(texts)
""")
    uuid = texts[9][1]
    assert uuid.startswith(b"GPU-454d554c-4154-4544-") and len(uuid) == 40, uuid
    del texts[9]
    assert texts == [
        (0, b"2.1"), (0, b"7.16"), (0, b"2.0"), (3, b""), (2, b""),
        (0, b"E000.0001.00.01"), (0, b"EMULATED-0001"), (0, b"E0.00.01.00.00"),
        (0, b"EmulatedCUDAdevice(CPU)"), (0, b"600.13.05"), (0, b"13.600.13.05"),
        (7, b""), (0, b"r600_13"), (0, b"r600_13"),
        (0, True), (7, False), (6, False), [0, 13050], [0, 13050],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("capability", "architecture"), [("8.7", 7), ("8.9", 8), ("10.3", 10), ("11.0", 10)]
)
def test_further_architectures(lines, capability, architecture):
    code = """
arch = u()
ask("nvmlDeviceGetArchitecture", d, c.byref(arch))
print(arch.value)
"""
    assert lines(code, cc=capability) == architecture


def test_fields_are_read_and_cleared(lines):
    answers = lines("""
from cuda.core import emulation
emulation.set_sensors(1, nvlinks=7, pcie_replays=5)
class Field(c.Structure):
    _fields_ = (("id", u), ("scope", u), ("time", c.c_longlong), ("latency", c.c_longlong),
                ("kind", u), ("code", u), ("value", c.c_longlong))
from cuda.bindings.nvml import FieldId as F
requested = [F.DEV_NVLINK_LINK_COUNT, F.DEV_TEMPERATURE_SHUTDOWN_TLIMIT,
          F.DEV_TEMPERATURE_SLOWDOWN_TLIMIT, F.DEV_TEMPERATURE_GPU_MAX_TLIMIT,
          F.DEV_PCIE_REPLAY_COUNTER, F.DEV_TOTAL_ENERGY_CONSUMPTION, F.DEV_ECC_CURRENT]
fields = (Field * len(requested))(*(Field(int(each), latency=9) for each in requested))
import time
before = time.time()
codes = [ask("nvmlDeviceGetFieldValues", d, count, fields) for count in (0, -1, len(requested))]
after = time.time()
rows = [(f.code, f.kind, c.c_int(f.value & 0xFFFFFFFF).value) for f in fields]
is_now = all(before - 1 <= f.time / 1e6 <= after + 1 for f in fields)
latencies = {f.latency for f in fields}
cleared = [ask("nvmlDeviceClearFieldValues", d, count, fields) for count in (0, 7)]
print((codes, rows[:5] + [rows[5][:2], rows[6][0]], is_now, latencies, cleared,
       [f.code for f in fields], emulation.sensors(1)["pcie_replays"]))
""")
    signed, unsigned, wide = 5, 1, 3
    rows = [(0, unsigned, 7), (0, signed, -8), (0, signed, -3), (0, signed, 0), (0, unsigned, 5)]
    assert answers == (
        [2, 2, 0], [*rows, (0, wide), 3], True, {0}, [2, 0], [3, 3, 3, 3, 0, 3, 3], 0,
    )  # fmt: skip


def test_events_wait_in_order_up_to_64(lines):
    answers = lines("""
from cuda.core import emulation
sets = [handle() for _ in range(65)]
created = [ask("nvmlEventSetCreate", c.byref(each)) for each in sets]
first, second = sets[:2]
clock, xid, everything = 16, 8, c.c_ulonglong(16 | 8)
codes = [ask("nvmlDeviceRegisterEvents", d, c.c_ulonglong(clock), first),
         ask("nvmlDeviceRegisterEvents", d, c.c_ulonglong(xid), first),
         ask("nvmlDeviceRegisterEvents", other, everything, second),
         ask("nvmlDeviceRegisterEvents", d, c.c_ulonglong(1 << 60), first),
         ask("nvmlDeviceRegisterEvents", d, everything, handle(8))]
posted = [emulation.post_event("xid_critical_error", 1, data=n) for n in range(66)]
posted.append(emulation.post_event("clock", 0))
class Event(c.Structure):
    _fields_ = (("device", handle), ("kind", c.c_ulonglong), ("data", c.c_ulonglong),
                ("gpu", u), ("compute", u))
received = []
for _ in range(65):
    event = Event()
    code = ask("nvmlEventSetWait_v2", first, c.byref(event), u(0))
    received.append((code, event.data) if code else (code, event.data, event.kind,
                    event.device == d.value, event.gpu == event.compute == 0xFFFFFFFF))
older = ask("nvmlEventSetWait", second, c.byref(event), u(0))
older = older, event.kind, event.device == other.value
freed = [ask("nvmlEventSetFree", each) for each in (*sets[:64], sets[0])]
recreated = ask("nvmlEventSetCreate", c.byref(sets[0]))
print((created, codes, posted, received, older, freed, recreated,
       ask("nvmlEventSetWait_v2", sets[0], c.byref(event), u(0)),
       ask("nvmlEventSetWait_v2", sets[0], None, u(0))))
""")
    created, codes, posted, received, older, freed, recreated, *waits = answers
    assert created == [0] * 64 + [23]
    assert codes == [0, 0, 0, 3, 2]
    assert posted == [1] * 64 + [0, 0, 1], "events beyond the 64th are dropped"
    assert received == [(0, n, 8, True, True) for n in range(64)] + [(10, 0)]
    assert older == (0, 16, True)
    assert (freed, recreated, waits) == ([0] * 64 + [2], 0, [10, 2])


def test_events_of_the_system(lines):
    answers = lines("""
from cuda.core import emulation
def request(size, **places):
    words = (c.c_ulonglong * 8)(1 << 24 | size)
    for place, value in places.items():
        words[int(place[1:])] = value
    return words
def call(name, request):
    return ask("nvmlSystem" + name, request)
create = request(16)
codes = [call("EventSetCreate", create)]
set_ = create[1]
unbind, bind, unknown = 1, 2, 4
for types, target in ((unbind | bind, set_), (unknown, set_), (unbind, 8)):
    codes.append(call("RegisterEvents", request(24, _1=types, _2=target)))
posted = [emulation.post_event(name, index)
          for name, index in (("bind", 1), ("unbind", 0), ("clock", 0))]
posted += [emulation.post_event("bind", 1) for _ in range(20)]
data, waits = (u * 128)(), []
def wait(room, source=set_, into=c.addressof(data)):
    words = request(32, _1=source, _2=into, _3=room)
    code = call("EventSetWait", words)
    return code, words[3] >> 32, [(data[4 * i], data[4 * i + 2]) for i in range(2)]
waits = [wait(1), wait(100), wait(100), wait(100), wait(0), wait(1, 8), wait(1, set_, 0)]
mixed = [ask("nvmlEventSetFree", handle(set_)), call("EventSetFree", request(16, _1=set_)),
         call("EventSetFree", request(16, _1=set_))]
wrong = [call(name, request(8)) for name in ("EventSetCreate", "EventSetFree", "RegisterEvents",
                                             "EventSetWait")]
print((codes, posted, waits, mixed, wrong))
""")
    codes, posted, waits, mixed, wrong = answers
    unbind, bind, first, second = 1, 2, 0xE000 << 16, 0xE000 << 16 | 1 << 8
    assert codes == [0, 0, 2, 2]
    assert posted == [1, 1, 0] + [1] * 20
    assert waits[0][:2] == (0, 1) and waits[0][2][0] == (bind, second)
    assert waits[1] == (0, 16, [(unbind, first), (bind, second)])
    assert waits[2][:2] == (0, 5)
    assert [each[0] for each in waits[3:]] == [10, 2, 2, 2]
    assert (mixed, wrong) == ([2, 0, 2], [25] * 4)
