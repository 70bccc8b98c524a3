# SPDX-License-Identifier: Apache-2.0
"""Where each implementation runs: its interpreter, its environment variables, its C floor."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from build_support.headers import find as find_headers

REFERENCE = ["cuda-bindings==13.5.0", "cuda-core==1.2.2"]
# What it compiles with, as our own extra has it: not every machine has a toolkit.
LIBRARIES = [f"nvidia-{name}==13.5.*" for name in ("cuda-nvrtc", "nvjitlink", "nvvm")]
# What CuPy and Numba come with; CuPy's own CUDA runtime does not start on the null driver.
BESIDE = {
    "cupy": ["cupy-cuda13x[ctk]", "numpy"],
    "numba": ["numba-cuda[cu13]", *REFERENCE, *LIBRARIES],
}
FOLDER = Path(__file__).parent
NULL = {"HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_MODE": "null"}


def cache_folder():
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return root / "halfwarp" / f"benchmarks-py{sys.version_info[0]}{sys.version_info[1]}"


def reference_python():
    """The interpreter of a cached environment that holds NVIDIA's packages; made when missing."""
    return cached_python("-".join(REFERENCE).replace("==", "-"), *REFERENCE, "numpy", *LIBRARIES)


def cached_python(name, *packages):
    """The interpreter of a cached environment that holds these packages; made when missing."""
    folder = cache_folder() / name
    python = folder / "bin" / "python"
    done = folder / ".complete"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        command = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*command, *packages], check=True)
        done.touch()
    return str(python)


def unpack_wheels(wheels):
    """A folder with the packages of the wheels in a folder, to be put first on the path.

    For machines without a network: this interpreter then serves the reference as well, with the
    libraries that it has.
    """
    target = tempfile.mkdtemp(prefix="halfwarp-reference-")
    files = sorted(map(str, Path(wheels).glob("cuda_*.whl")))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", target, *files], check=True)
    return target


def places(backend, wheels=None):
    """Implementation -> (interpreter, environment variables)."""
    ours, theirs = (environment(name, backend) for name in ("ours", "reference"))
    if not wheels:
        return {"ours": (sys.executable, ours), "theirs": (reference_python(), theirs)}
    theirs["PYTHONPATH"] = unpack_wheels(wheels)
    return {"ours": (sys.executable, ours), "theirs": (sys.executable, theirs)}


def places_beside(backend, theirs, wheels=None):
    """CuPy's and Numba's (interpreter, environment variables); with `wheels` those of NVIDIA's."""
    if wheels:
        return dict.fromkeys(BESIDE, theirs)
    names = [name for name in BESIDE if (backend, name) != ("null", "cupy")]
    variables = environment("reference", backend)
    return {name: (cached_python(name, *BESIDE[name]), variables) for name in names}


def emulator_folder():
    """A folder whose `libcuda.so.1` is the emulator, for programs that are not ours."""
    found = subprocess.run(
        [sys.executable, "-m", "cuda.core.emulation", "path"],
        check=True,
        capture_output=True,
        text=True,
    )
    return found.stdout.strip().splitlines()[-1]


def find_compiler():
    return shutil.which("cc") or shutil.which("gcc")


def environment(implementation, backend):
    """The variables under which `ours`, `reference` or `floor` runs on a backend."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    # pip compiles what it installs; a working tree gets its compiled modules at the first import
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    if implementation != "ours":
        variables.pop("PYTHONPATH", None)  # a working tree would take the reference's place
    if backend == "gpu":
        return variables
    variables |= NULL
    if implementation != "ours":
        variables["LD_LIBRARY_PATH"] = emulator_folder()
    return variables


def build_floor(backend):
    """Compile the C twins; None when there is no compiler or no header."""
    compiler, headers = find_compiler(), find_headers()
    if not compiler or not headers:
        return None
    program = Path(tempfile.mkdtemp(prefix="halfwarp-floor-")) / "floor"
    library = ["-l:libcuda.so.1"]
    if backend == "null":
        library = [f"-L{emulator_folder()}", *library]
    else:
        folders = ("/usr/local/nvidia/lib64", f"/usr/lib/{platform.machine()}-linux-gnu")
        library = [*(f"-L{p}" for p in folders if Path(p).exists()), *library]
    command = [
        compiler,
        "-O2",
        f"-I{headers}",
        str(FOLDER / "floor" / "floor.c"),
        "-o",
        str(program),
    ]
    subprocess.run([*command, *library, "-ldl"], check=True)
    return str(program)
