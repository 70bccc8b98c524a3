# SPDX-License-Identifier: Apache-2.0
"""Finding the driver, the emulator and NVRTC: choice, failures, threads. Each case is a process."""

import os
import re
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest
from cuda.bindings import _low

BINDINGS = Path(_low.__file__).parent
EMULATOR = BINDINGS / "libcuda_emulated.so"

# Calls slots of the table like C: `call("cuInit", 0)` with the GIL, errors raised.
TABLE = """
import ctypes
from cuda.bindings import _low

class Api(ctypes.Structure):
    _fields_ = [("table", ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p)),
                ("ensure", ctypes.c_void_p),
                ("has", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_uint)),
                ("name_of", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)),
                ("backend", ctypes.CFUNCTYPE(ctypes.c_char_p))]

pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
api = ctypes.cast(pointer(_low._api, b"cuda.bindings._low._api"), ctypes.POINTER(Api))[0]

def id_of(library):
    return _low.library_names().index(library)

def slot_of(name, library="driver", count=2000):
    table, which = api.table(library.encode()), id_of(library)
    return next(i for i in range(count) if api.name_of(which, table[i]) == name.encode())

def call(name, *arguments, library="driver"):
    table = api.table(library.encode())
    return ctypes.PYFUNCTYPE(ctypes.c_int)(table[slot_of(name, library)])(*arguments)

def message(function, *arguments, **options):
    try:
        return f"no error: {function(*arguments, **options)}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""


def run(code, library_path=None, **variables):
    """Return the lines that a fresh interpreter prints; its environment is ours plus
    `variables`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    environment.pop("LD_LIBRARY_PATH", None)
    if library_path is not None:
        environment["LD_LIBRARY_PATH"] = str(library_path)
    done = subprocess.run(
        [sys.executable, "-c", TABLE + textwrap.dedent(code)],
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def no_driver(tmp_path):
    """Create a folder that hides any installed driver behind an invalid library file."""
    (tmp_path / "libcuda.so.1").write_text(
        "this is no shared object, whatever its name says\n" * 99
    )
    return tmp_path


def test_import_opens_no_library():
    lines = run("""
        import sys
        maps = open("/proc/self/maps").read()
        print("libcuda" in maps, "libnvrtc" in maps, "cuda.pathfinder" in sys.modules)
        print(_low.backend(), api.backend())
    """)
    assert lines == ["False False False", "None None"]


def test_a_missing_driver_names_the_caller_and_the_emulator(no_driver):
    (line,) = run('print(message(call, "cuInit", 0))', no_driver)
    assert line.startswith("DynamicLibNotFoundError: cuInit() needs the CUDA driver")
    assert "libcuda.so.1" in line
    assert f"LD_LIBRARY_PATH={no_driver}" in line
    assert "HALFWARP_BACKEND=emulator" in line


def test_a_missing_driver_is_a_runtime_error_of_the_pathfinder(no_driver):
    lines = run(
        """
        from cuda.pathfinder import DynamicLibNotFoundError
        try:
            _low.load("driver")
        except RuntimeError as error:
            print(type(error) is DynamicLibNotFoundError)
        """,
        no_driver,
    )
    assert lines == ["True"]


def test_the_second_failing_call_raises_the_same_error(no_driver):
    lines = run('for i in range(3): print(message(call, "cuMemAlloc", 0, 0))', no_driver)
    assert len(lines) == 3
    assert len(set(lines)) == 1


def test_a_library_that_appears_later_is_found(tmp_path):
    (tmp_path / "libcuda.so.1").write_text("not a library yet\n" * 99)
    lines = run(
        f"""
        import os
        print(message(call, "cuInit", 0)[:23])
        os.remove({str(tmp_path / "libcuda.so.1")!r})
        os.symlink({str(EMULATOR)!r}, {str(tmp_path / "libcuda.so.1")!r})
        print(message(call, "cuInit", 0), _low.backend())
        """,
        tmp_path,
    )
    assert lines == ["DynamicLibNotFoundError", "no error: 0 driver"]


@pytest.mark.parametrize("value", ["gpu", "Emulator", "emulator ", "1"])
def test_a_wrong_backend_value_names_the_accepted_values_each_time(value):
    lines = run(
        'print(message(call, "cuInit", 0))\nprint(message(_low.load, "driver"))',
        HALFWARP_BACKEND=value,
    )
    assert lines[0] == lines[1]
    assert lines[0].startswith(f"RuntimeError: HALFWARP_BACKEND={value!r} is not understood")
    assert all(word in lines[0] for word in ("driver", "emulator", "auto"))


@pytest.mark.parametrize("value", ["", "driver"])
def test_unset_or_driver_never_chooses_the_emulator(no_driver, value):
    (line,) = run('print(message(call, "cuInit", 0))', no_driver, HALFWARP_BACKEND=value)
    assert line.startswith("DynamicLibNotFoundError")


def test_emulator_is_chosen_on_request():
    lines = run(
        'print(call("cuInit", 0), _low.backend(), api.backend())', HALFWARP_BACKEND="emulator"
    )
    assert lines == ["0 emulator b'emulator'"]


def test_auto_chooses_the_emulator_when_the_driver_cannot_be_opened(no_driver):
    assert run('call("cuInit", 0); print(_low.backend())', no_driver, HALFWARP_BACKEND="auto") == [
        "emulator"
    ]


def test_auto_recognizes_the_emulator_in_the_search_paths(tmp_path):
    """Programs that open libcuda.so.1 themselves find it there."""
    (tmp_path / "libcuda.so.1").symlink_to(EMULATOR)
    code = 'call("cuInit", 0); print(_low.is_emulated()); print(_low.backend())'
    assert run(code, tmp_path, HALFWARP_BACKEND="auto") == ["True", "emulator"]
    assert run(code, tmp_path, HALFWARP_BACKEND="driver") == ["False", "driver"]


@pytest.mark.parametrize(
    ("status", "count", "backend"),
    [
        (100, 0, "emulator"),  # CUDA_ERROR_NO_DEVICE
        (34, 0, "emulator"),  # CUDA_ERROR_STUB_LIBRARY
        (0, 0, "emulator"),
        (0, 1, "driver"),
        (803, 0, "driver"),  # CUDA_ERROR_SYSTEM_DRIVER_MISMATCH is reported to the user
    ],
)
def test_auto_chooses_the_emulator_only_without_a_device(small_driver, status, count, backend):
    folder = small_driver(status=status, devices=count)
    code = 'print(_low.is_emulated()); call("cuInit", 0); print(_low.backend())'
    assert run(code, folder, HALFWARP_BACKEND="auto") == [str(backend == "emulator"), backend]


def test_the_notice_explains_why_auto_chose_the_emulator(no_driver):
    done = subprocess.run(
        [sys.executable, "-c", TABLE + 'call("cuInit", 0)'],
        env=os.environ | {"HALFWARP_BACKEND": "auto", "LD_LIBRARY_PATH": str(no_driver)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "because" in done.stderr
    assert "libcuda.so.1" in done.stderr


@pytest.mark.parametrize("backend", ["driver", "emulator"])
def test_is_emulated_is_known_without_opening_a_library(no_driver, backend):
    lines = run("print(_low.is_emulated(), _low.backend())", no_driver, HALFWARP_BACKEND=backend)
    assert lines == [f"{backend == 'emulator'} None"]


def test_functions_of_the_emulator_are_found_by_name():
    lines = run(
        """
        print(_low.emulator_function("halfwarp_emulator_is_active") != 0)
        print(_low.emulator_function("no_such_function"))
        """,
        HALFWARP_BACKEND="emulator",
    )
    assert lines == ["True", "0"]


def test_set_backend_overrides_the_variable_before_the_first_use():
    lines = run(
        """
        _low.set_backend("emulator")
        print(call("cuInit", 0), _low.backend())
        _low.set_backend("emulator")
        print(message(_low.set_backend, "driver"))
        print(message(_low.set_backend, "gpu"))
        """,
        HALFWARP_BACKEND="driver",
    )
    assert lines[0] == "0 emulator"
    assert lines[1].startswith("RuntimeError: the backend cannot change to 'driver'")
    assert lines[2] == "ValueError: backend must be 'driver' or 'emulator', got 'gpu'"


def test_a_real_driver_in_use_refuses_the_emulator(tmp_path):
    (tmp_path / "libcuda.so.1").symlink_to(EMULATOR)
    (line,) = run('call("cuInit", 0); print(message(_low.set_backend, "emulator"))', tmp_path)
    assert line.startswith("RuntimeError: the backend cannot change to 'emulator'")
    assert "'driver' already" in line


def test_a_missing_driver_function_is_named_with_its_version():
    lines = run(
        """
        _low._answer_as_driver_of(12000)
        print(call("cuInit", 0))
        for i in range(2):
            print(message(call, "cuStreamGetCtx_v2", 0, 0, 0))
        slots = slot_of("cuStreamGetCtx_v2"), slot_of("cuInit")
        print(*(api.has(id_of("driver"), slot) for slot in slots))
        print(_low.inspect_function_pointer("driver", "cuStreamGetCtx_v2"))
        from cuda.bindings._internal.utils import FunctionNotFoundError
        print(issubclass(FunctionNotFoundError, RuntimeError))
        """,
        HALFWARP_BACKEND="emulator",
        HALFWARP_EMULATOR_MODE="null",
    )
    message = (
        "FunctionNotFoundError: cuStreamGetCtx_v2 is not in the CUDA driver, "
        "which supports CUDA 12.0: it needs a driver of CUDA 12.5 or newer"
    )
    assert lines == ["0", message, message, "0 1", "0", "True"]


def test_a_newer_variant_does_not_replace_an_older_one():
    # cuStreamGetCaptureInfo of CUDA 12.3 has one parameter more than in 11.3.
    lines = run(
        """
        _low._answer_as_driver_of(12020)
        print(message(call, "cuStreamGetCaptureInfo"))
        print(_low.inspect_function_pointer("driver", "cuStreamGetCaptureInfo_v3"))
        """,
        HALFWARP_BACKEND="emulator",
        HALFWARP_EMULATOR_MODE="null",
    )
    assert lines[0].startswith("FunctionNotFoundError: cuStreamGetCaptureInfo is not in the CUDA")
    assert lines[1] == "0"


@pytest.mark.parametrize("mode", ["null", "async"])
@pytest.mark.parametrize("version", [12000, 12020, 12040, 12080, 13000, 13040])
def test_a_driver_has_the_functions_of_its_version_only(mode, version):
    lines = run(
        f"""
        from generator import libraries
        from cuda.bindings import driver
        _low._answer_as_driver_of({version})
        exists = lambda f: _low.inspect_function_pointer("driver", f.c_name) != 0
        introduced = lambda f: f.older or f.version
        functions = libraries.load("driver").functions
        missing = [f.name for f in functions if introduced(f) <= {version} and not exists(f)]
        newer = [f.name for f in functions if introduced(f) > {version} and exists(f)]
        print(missing, newer, driver.cuDriverGetVersion()[1])
        """,
        HALFWARP_BACKEND="emulator",
        HALFWARP_EMULATOR_MODE=mode,
    )
    assert lines == [f"[] [] {version}"]


def test_an_older_variant_of_the_same_types_replaces_a_newer_one():
    lines = run(
        """
        for version in 12000, 12080:
            _low._answer_as_driver_of(version)
            print(_low.inspect_function_pointer("driver", "cuEventElapsedTime_v2") != 0)
        """,
        HALFWARP_BACKEND="emulator",
    )
    assert lines == ["True", "True"]


def test_a_cuda_11_driver_is_refused_with_a_remedy(small_driver):
    (line,) = run('print(message(call, "cuInit", 0))', small_driver(version=11080))
    assert line.startswith("NotSupportedError: cuInit() needs a driver of CUDA 12.0 or newer")
    assert "supports CUDA 11.8" in line
    assert "HALFWARP_BACKEND=emulator" in line


def test_auto_chooses_the_emulator_over_a_cuda_11_driver(small_driver):
    folder = small_driver(version=11080)
    lines = run('call("cuInit", 0); print(_low.backend())', folder, HALFWARP_BACKEND="auto")
    assert lines == ["emulator"]


def test_missing_nvrtc_names_the_caller_and_the_package():
    (line,) = run("""
        import cuda.pathfinder as pathfinder
        def nothing(name):
            raise pathfinder.DynamicLibNotFoundError(f"no {name} in /nowhere")
        pathfinder.load_nvidia_dynamic_lib = nothing
        print(message(call, "nvrtcVersion", 0, 0, library="nvrtc"))
    """)
    assert line.startswith("DynamicLibNotFoundError: nvrtcVersion() needs the library nvrtc")
    assert "no nvrtc in /nowhere" in line
    assert "nvidia-cuda-nvrtc" in line


def test_nvrtc_is_found_without_a_driver(no_driver):
    lines = run(
        """
        major, minor = ctypes.c_int(), ctypes.c_int()
        print(call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor), library="nvrtc"))
        print(major.value >= 12, _low.backend())
        """,
        no_driver,
    )
    assert lines == ["0", "True None"]


@pytest.mark.parametrize("takes_lock", [True, False], ids=["with the GIL", "without the GIL"])
def test_threads_that_make_the_first_call_together_all_succeed(takes_lock):
    kind = "PYFUNCTYPE" if takes_lock else "CFUNCTYPE"
    lines = run(
        f"""
        import threading
        names = ["cuInit", "cuCtxGetCurrent", "cuDeviceGetCount", "cuDriverGetVersion"] * 8
        slots = [slot_of(name) for name in names]
        start, results = threading.Barrier(len(names)), []
        def first(slot):
            function = ctypes.{kind}(ctypes.c_int)(api.table(b"driver")[slot])
            out = ctypes.c_uint64()
            start.wait()
            results.append(function(ctypes.byref(out)) if slot != slots[0] else function(0))
        threads = [threading.Thread(target=first, args=(s,)) for s in slots]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(results == [0] * len(names), _low.backend())
        """,
        HALFWARP_BACKEND="emulator",
        HALFWARP_EMULATOR_MODE="null",
    )
    assert lines == ["True emulator"]


def test_threads_that_fail_together_each_get_the_error(no_driver):
    lines = run(
        """
        import threading
        start, results = threading.Barrier(16), []
        def first():
            start.wait()
            results.append(message(call, "cuInit", 0))
        threads = [threading.Thread(target=first) for _ in range(16)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(len(results), len(set(results)), results[0][:23])
        """,
        no_driver,
    )
    assert lines == ["16 1 DynamicLibNotFoundError"]


def test_the_variable_selects_per_thread_default_streams():
    code = 'print(_low.inspect_function_pointer("driver", "cuMemcpyAsync") % 4096)'
    both = [
        run(code, HALFWARP_BACKEND="emulator", CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=value)
        for value in ("0", "1")
    ]
    assert both[0] != both[1]


def test_inspect_accepts_public_and_exported_names():
    lines = run(
        """
        inspect = _low.inspect_function_pointer
        print(inspect("driver", "cuMemAlloc") == inspect("driver", "cuMemAlloc_v2") != 0)
        print(inspect("driver", "cuNoSuchFunction"), inspect("nvrtc", "nvrtcVersion") != 0)
        print(message(inspect, "cudart", "cudaMalloc"))
        """,
        HALFWARP_BACKEND="emulator",
    )
    assert lines == [
        "True",
        "0 True",
        f"ValueError: library must be one of {', '.join(_low.library_names())}, got 'cudart'",
    ]


def test_private_modules_export_addresses_under_existing_names():
    lines = run(
        """
        from cuda.bindings._internal import driver, nvrtc
        one = driver._inspect_function_pointer("__cuMemAlloc_v2")
        print(one == _low.inspect_function_pointer("driver", "cuMemAlloc") != 0)
        everything = driver._inspect_function_pointers()
        print(everything["__cuMemAlloc_v2"] == one, len(everything) > 500)
        print("__nvrtcVersion" in nvrtc._inspect_function_pointers())
        """,
        HALFWARP_BACKEND="emulator",
    )
    assert lines == ["True", "True True", "True"]


@pytest.mark.parametrize("extension", ["_low", "cydriver", "cynvrtc"])
def test_the_low_layer_needs_no_cplusplus_runtime(extension):
    (built,) = BINDINGS.glob(extension + sysconfig.get_config_var("EXT_SUFFIX"))
    shown = subprocess.run(["readelf", "-d", built], capture_output=True, text=True, check=True)
    needed = re.findall(r"NEEDED.*\[(.*?)\]", shown.stdout)
    assert needed, shown.stdout
    assert not [name for name in needed if "stdc++" in name or "gcc_s" in name]


OPENING = """
    import sys
    from pathlib import Path
    paths = sys.path[:]
    folders = [path for path in paths if Path(path, "nvidia").is_dir()]
    finders = [path for path in folders if Path(path, "cuda/pathfinder").is_dir()]
    if is_single and finders:
        sys.path[:] = [path for path in paths if path not in folders or path in finders]
        folders = finders
    from cuda.bindings import nvrtc
    nvrtc.nvrtcVersion()
    is_imported = "cuda.pathfinder" in sys.modules
    maps = Path("/proc/self/maps").read_text().splitlines()
    opened = {Path(line.split()[-1]).resolve() for line in maps if "/libnvrtc.so" in line}
    sys.path[:] = paths
    from cuda.pathfinder import load_nvidia_dynamic_lib
    print(is_imported, opened == {Path(load_nvidia_dynamic_lib("nvrtc").abs_path).resolve()})
    print(any(Path(path, "nvidia/cu13/lib/libnvrtc.so.13").is_file() for path in folders[:1]))
"""


def opening(is_single, **variables):
    """Open NVRTC with one or all folders of packages on the path; returns three booleans."""
    lines = run(f"    is_single = {is_single}{OPENING}", **variables)
    return [word == "True" for line in lines for word in line.split()]


def test_nvrtc_of_a_package_is_opened_without_the_pathfinder():
    is_imported, is_same, has_package = opening(True)
    assert is_same
    assert is_imported != has_package


def test_settings_of_the_pathfinder_are_left_to_it():
    assert opening(True, CUDA_PATHFINDER_ANY_SETTING="1")[:2] == [True, True]


@pytest.mark.parametrize("other", ["nvidia/cu13/lib", "nvidia/cuda_nvrtc"])
def test_a_second_folder_of_packages_is_left_to_the_pathfinder(tmp_path, other):
    folder = tmp_path / "site-packages"
    (folder / other).mkdir(parents=True)
    paths = [str(folder), os.environ.get("PYTHONPATH", "")]
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    assert opening(False, **variables)[:2] == [True, True]


def test_nvrtc_that_is_loaded_already_is_the_one_in_use():
    (line,) = run("""
        import sys
        from cuda.pathfinder import load_nvidia_dynamic_lib
        path = load_nvidia_dynamic_lib("nvrtc").abs_path
        for name in [name for name in sys.modules if name.startswith("cuda.pathfinder")]:
            del sys.modules[name]
        from cuda.bindings import nvrtc
        print(nvrtc.nvrtcVersion()[0] == 0, "cuda.pathfinder" in sys.modules)
    """)
    assert line == "True True"
