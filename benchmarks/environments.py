# SPDX-License-Identifier: Apache-2.0
"""The environment of each implementation: interpreter, environment variables, C floor."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from build_support.headers import find as find_headers

REFERENCE = ["cuda-bindings==13.5.0", "cuda-core==1.2.2"]
# Libraries for compiling, as in our own extra: not every machine has a toolkit.
LIBRARIES = [f"nvidia-{name}==13.5.*" for name in ("cuda-nvrtc", "nvjitlink", "nvvm")]
# Packages of CuPy and Numba. CuPy's own CUDA runtime does not start on the null driver.
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
    """Return the interpreter of a cached environment with NVIDIA's packages."""
    return cached_python("-".join(REFERENCE).replace("==", "-"), *REFERENCE, "numpy", *LIBRARIES)


def cached_python(name, *packages):
    """Return the interpreter of an environment with these packages, created if missing."""
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
    """Unpack the wheels of a folder into a new folder, to be put first on the path.

    For machines without a network: the reference then uses this interpreter and its libraries.
    """
    target = tempfile.mkdtemp(prefix="halfwarp-reference-")
    files = sorted(map(str, Path(wheels).glob("cuda_*.whl")))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", target, *files], check=True)
    return target


def places(backend, wheels=None):
    """Map each implementation to (interpreter, environment variables)."""
    ours, theirs = (environment(name, backend) for name in ("ours", "reference"))
    if not wheels:
        return {"ours": (sys.executable, ours), "theirs": (reference_python(), theirs)}
    theirs["PYTHONPATH"] = unpack_wheels(wheels)
    return {"ours": (sys.executable, ours), "theirs": (sys.executable, theirs)}


def places_beside(backend, theirs, wheels=None):
    """Map CuPy and Numba to (interpreter, environment variables); with `wheels` NVIDIA's."""
    if wheels:
        return dict.fromkeys(BESIDE, theirs)
    names = [name for name in BESIDE if (backend, name) != ("null", "cupy")]
    variables = environment("reference", backend)
    return {name: (cached_python(name, *BESIDE[name]), variables) for name in names}


def emulator_folder():
    """Return a folder whose `libcuda.so.1` is the emulator, for other programs."""
    result = subprocess.run(
        [sys.executable, "-m", "cuda.core.emulation", "path"],
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout.strip().splitlines()[-1]


def find_compiler():
    return shutil.which("cc") or shutil.which("gcc")


def environment(implementation, backend):
    """Return the variables for `ours`, `reference` or `floor` on a backend."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    # pip compiles installed modules; a working tree gets compiled modules at the first import
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    if implementation != "ours":
        variables.pop("PYTHONPATH", None)  # a working tree would replace the reference
    if backend == "gpu":
        return variables
    variables |= NULL
    if implementation != "ours":
        variables["LD_LIBRARY_PATH"] = emulator_folder()
    return variables


def build_floor(backend):
    """Compile the C twins; return None without a compiler or headers."""
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
