# SPDX-License-Identifier: Apache-2.0
"""The emulator's own C functions through ctypes; a library is opened on first use."""

import json
import os
import sys
from functools import cache
from pathlib import Path

from cuda.bindings import _low

PREFIX = "HALFWARP_EMULATOR_"


def path():
    """Return the path of the emulator's library, which is beside the loader."""
    return Path(_low.__file__).with_name("libcuda_emulated.so")


def preload_path():
    """Return the path of the preload library for programs that bundle NVRTC."""
    return path().with_name("libcuda_preload.so")


def runtime_path():
    """Return the path of the emulated runtime library."""
    return path().with_name("libcudart_emulated.so")


def runtime_12_path():
    """Return the path of the library with the forms of functions that CUDA 12 has."""
    return path().with_name("libcudart12_emulated.so")


def management_path():
    """Return the path of the emulated management library (NVML)."""
    return path().with_name("libnvml_emulated.so")


def communication_path():
    """Return the path of the emulated NCCL."""
    return path().with_name("libnccl_emulated.so")


@cache
def load():
    """Return the library with the types of its functions declared.

    Raise RuntimeError if the library is not installed.
    """
    import ctypes as c

    if not path().exists():
        raise RuntimeError(
            f"the emulator is not installed: {path()} is missing; reinstall the package halfwarp"
        )
    library = c.CDLL(str(path()))
    text = [c.c_char_p, c.c_size_t]
    types_of = {
        "options stats leaks last_fault faults unused_suppressions device_table option_problem "
        "mark_counts": (text, c.c_size_t),
        "error_text": ([c.c_int, *text], c.c_size_t),
        "check_option": ([c.c_char_p, c.c_char_p, *text], c.c_int),
        "arm": ([c.c_char_p, *text], c.c_uint64),
        "disarm": ([c.c_uint64, c.POINTER(c.c_uint64)], c.c_uint64),
        "own": ([c.c_void_p], None),
        "profile_open": ([c.c_int, c.c_int], c.c_uint64),
        "profile_read": ([c.c_uint64, *text], c.c_size_t),
        "profile_close": ([c.c_uint64], None),
        "observe_compiles": ([c.CFUNCTYPE(None, c.c_void_p, c.c_size_t)], None),
        "substitute_ptx": ([c.c_char_p, c.c_char_p], None),
        "register_cubin": ([c.c_char_p, c.c_size_t, c.c_char_p], None),
        "graphics_object": (
            [c.c_uint, c.c_uint64, c.c_uint64, c.c_uint64, c.c_int, c.c_uint],
            None,
        ),
        "settle reset": ([], None),
        "repair is_active is_announced": ([], c.c_int),
    }
    for names, types in types_of.items():
        for name in names.split():
            _declare(library, name, *types)
    return library


@cache
def load_management():
    """Return the emulated NVML with the types of its own functions declared."""
    import ctypes as c

    load()  # raises if the emulator is not installed
    library = c.CDLL(str(management_path()))
    number = c.POINTER(c.c_longlong)
    sensor = [c.c_uint, c.c_char_p]
    event = [c.c_uint, c.c_ulonglong, c.c_ulonglong, c.c_int]
    for name, arguments, result in (
        ("sensor", [c.c_uint], c.c_char_p),
        ("read", [*sensor, number], c.c_int),
        ("set", [*sensor, c.c_longlong, number, number], c.c_int),
        ("post", event, c.c_int),
        ("reset", [], None),
    ):
        _declare(library, name, arguments, result, "halfwarp_nvml")
    return library


def sensor_names():
    names, query = [], load_management().halfwarp_nvml_sensor
    while name := query(len(names)):
        names.append(name.decode())
    return names


def _c_text(text, label):
    """Return a str as a C string; reject a NUL inside, which would truncate it."""
    if "\0" in text:
        raise ValueError(f"{label} cannot contain a NUL, got {text!r}")
    return text.encode()


def _device_index(device):
    """Return an index that ctypes does not truncate; -1 becomes the last one, which is unused."""
    return device if 0 <= device < 1 << 32 else -1


def read_sensor(device, name):
    import ctypes as c

    value, sensor = c.c_longlong(), _c_text(name, "the name of a sensor")
    read = load_management().halfwarp_nvml_read
    if not read(_device_index(device), sensor, c.byref(value)):
        raise ValueError(f"there is no emulated device {device}")
    return value.value


def set_sensor(device, name, value):
    import ctypes as c

    minimum, maximum = c.c_longlong(), c.c_longlong()
    bounds = c.byref(minimum), c.byref(maximum)
    fits = -(1 << 63) <= value < 1 << 63
    passed = value if fits else (1 << 63) - 1
    sensor = _c_text(name, "the name of a sensor")
    if load_management().halfwarp_nvml_set(device, sensor, passed, *bounds) != 1:
        raise ValueError(f"{name} must be {minimum.value} to {maximum.value}, got {value}")


def post_event(device, number, data, is_of_system):
    post = load_management().halfwarp_nvml_post
    receivers = post(_device_index(device), number, data, is_of_system)
    if receivers < 0:
        raise ValueError(f"there is no emulated device {device}")
    return receivers


def reset_management():
    """Reset the sensors if the emulated NVML is loaded."""
    if load_management.cache_info().currsize:
        load_management().halfwarp_nvml_reset()


def _declare(library, name, arguments, result, prefix="halfwarp_emulator"):
    function = getattr(library, f"{prefix}_{name}")
    function.argtypes = arguments
    function.restype = result


def is_chosen():
    """Return whether the emulator serves driver calls, now or from the first call."""
    return _low.is_emulated()


def is_loaded():
    """Return whether the emulator is loaded, even if its settings are invalid."""
    return _low.backend() == "emulator"


def is_running():
    """Return whether cuInit succeeded on the emulator in this process."""
    return is_loaded() and bool(load().halfwarp_emulator_is_active())


def start():
    """Call cuInit if the emulator is chosen and this is the first use of the driver."""
    if is_chosen() and not is_running():
        from cuda.bindings import driver

        driver.cuInit(0)


def has_announced():
    """Return whether the options are final: the notice that shows them was printed."""
    return bool(load().halfwarp_emulator_is_announced())


def choose(options):
    """Select the emulator with options as strings, before the first driver call."""
    load()
    _low.set_backend("emulator")
    if context := sys.modules.get("cuda.core.system._nvml_context"):
        context.reset()
    for name, value in options.items():
        os.environ[PREFIX + name.upper()] = value
    if "coverage" in sys.modules:
        from halfwarp import coverage

        coverage.start()


def option_text(value):
    """Return an option's value in the syntax of its environment variable."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (set, frozenset, list, tuple)):
        return ",".join(sorted(map(str, value)))
    return str(value)


def check_option(name, value):
    """Return the canonical spelling of an option's value; raise ValueError if invalid."""
    output, value_text = _buffer(4096), _c_text(option_text(value), f"option {name!r}")
    option = _c_text(name, "the name of an option")
    is_valid = load().halfwarp_emulator_check_option(option, value_text, output, len(output))
    result = output.value.decode()
    if not is_valid:
        raise ValueError(result)
    return result


def record(name):
    """Return a JSON record of the library as Python objects."""
    if not is_chosen():
        raise RuntimeError(
            "the emulator is not active; set HALFWARP_BACKEND=emulator, or call "
            "cuda.core.emulation.enable(), before the first driver call"
        )
    return json.loads(_text(getattr(load(), f"halfwarp_emulator_{name}")))


def error_text(code):
    return _text(load().halfwarp_emulator_error_text, code)


def origins(address, size):
    """Return the writers of a range of device memory as Python objects."""
    import ctypes

    first, size = ctypes.c_uint64(address), ctypes.c_uint64(size)
    return json.loads(_text(load().halfwarp_emulator_origins, first, size))


def profile(session):
    """Return what kernels executed since a session was opened, as Python objects."""
    return json.loads(_text(load().halfwarp_emulator_profile_read, session))


def mark_counts():
    """Return the counts of the marks of coverage that kernels have executed, by number."""
    return json.loads(_text(load().halfwarp_emulator_mark_counts))


def device_table():
    return json.loads(_text(load().halfwarp_emulator_device_table))


def arm(rules):
    """Add fault rules and return the last rule's id; raise ValueError for invalid syntax."""
    start()
    text = _buffer(4096)
    rule = load().halfwarp_emulator_arm(_c_text(rules, "a fault rule"), text, len(text))
    if not rule:
        raise ValueError(text.value.decode())
    return rule


def disarm(rule):
    """Remove a rule; return the numbers of its failures and of its matching calls."""
    import ctypes

    matches = ctypes.c_uint64()
    return load().halfwarp_emulator_disarm(rule, ctypes.byref(matches)), matches.value


def probe(cause):
    """Check that an ordinary operation succeeds in this thread's context, if any."""
    import ctypes

    library, context, address = load(), ctypes.c_void_p(), ctypes.c_uint64()
    library.cuCtxGetCurrent(ctypes.byref(context))
    if not context:
        return
    codes = [library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(256))]
    codes += [library.cuMemFree_v2(address), library.cuCtxSynchronize()]
    if any(codes):
        raise AssertionError(f"sweep: after {cause} allocate, free and synchronize return {codes}")


def _buffer(size):
    import ctypes

    return ctypes.create_string_buffer(size)


def _text(function, *arguments):
    """Return the text that a function writes into a buffer; the function returns its length."""
    text = _buffer(4096)
    while (length := function(*arguments, text, len(text))) >= len(text):
        text = _buffer(length + 1024)
    return text.value.decode("utf-8", "replace")
