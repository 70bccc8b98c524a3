# SPDX-License-Identifier: Apache-2.0
"""Build halfwarp: generate -> cythonize -> compile and link, in parallel and incrementally."""

import fcntl
import os
import shlex
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
GENERATED = ROOT / "build" / "generated"
DEBUG = os.environ.get("DEBUG") == "1"
C_ONLY = [
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-fno-asynchronous-unwind-tables",
]


@dataclass(frozen=True)
class Part:
    """One shared object. `sources` are globs below the root; `variants` recompile some of them."""

    name: str
    sources: tuple
    cplusplus: bool = True  # False: links no C++ runtime, so that it imports faster
    python: bool = True
    libraries: tuple = ()
    variants: tuple = ()  # (glob, suffix, flags): one more object of each match
    flags: tuple = ()


PARTS = [
    Part(
        "cuda.bindings._loader",
        ("cuda/bindings/_loader.pyx", "cpp/driver/loader/*.cpp", "build/generated/driver/*.cpp"),
        cplusplus=False,
        libraries=("dl",),
    ),
    Part(
        "cuda.bindings._low",
        ("cuda/bindings/_low.pyx", "cpp/bindings/*.cpp", "build/generated/bindings/*.cpp"),
        cplusplus=False,
    ),
    Part("cuda.bindings.cydriver", ("cuda/bindings/cydriver.pyx",), cplusplus=False),
    Part("cuda.bindings.cynvrtc", ("cuda/bindings/cynvrtc.pyx",), cplusplus=False),
    Part("cuda.core._core", ("cuda/core/_core.pyx", "cpp/core/*.cpp", "cpp/python/*.cpp")),
    Part("cuda.core._compile", ("cuda/core/_compile.pyx",)),
    Part(
        "cuda.bindings.libcuda_emulated",
        ("cpp/emulator/**/*.cpp", "build/generated/emulator/*.cpp"),
        python=False,
        libraries=("pthread", "dl"),
        flags=("-ffp-contract=off", "-fno-math-errno"),
    ),
]


@cache
def cuda_include_dirs():
    """The CUDA headers of the version that the facts were taken from."""
    sys.path.insert(0, str(ROOT))
    from generator import headers, model

    version = model.load("driver").version
    if not (folder := headers.find(version)):
        sys.exit(
            f"setup.py: no cuda.h of CUDA {version} found; install the build requirements of "
            f"pyproject.toml, or set CUDA_PATH to a CUDA {version} toolkit"
        )
    return [folder]


def is_stale(target, depfile):
    """Whether a target is older than any file that its dependency file names."""
    if not target.exists() or not depfile.exists():
        return True
    names = depfile.read_text().replace("\\\n", " ").split(":", 1)[1].split()
    made = target.stat().st_mtime
    return any(not Path(n).exists() or Path(n).stat().st_mtime > made for n in names)


class Build(build_ext):
    """Compiles all objects of all parts in one pool of processes, then links each part."""

    def run(self):
        (ROOT / "build").mkdir(exist_ok=True)
        with open(ROOT / "build" / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run([sys.executable, "-m", "generator", "emit"], cwd=ROOT, check=True)
            wanted = os.environ.get("HALFWARP_EXTENSIONS")
            parts = [p for p in PARTS if not wanted or p.name in wanted.split(",")]
            self.build_parts([p for p in parts if self.sources_of(p)])

    def sources_of(self, part):
        return sorted(p for glob in part.sources for p in ROOT.glob(glob))

    def build_parts(self, parts):
        from Cython.Build import cythonize

        modules = [
            Extension(
                p.name,
                [str(p.relative_to(ROOT)) for p in self.sources_of(part) if p.suffix == ".pyx"],
                language="c++" if part.cplusplus else "c",
            )
            for part in parts
            if part.python
            for p in [part]
        ]
        cythonize(
            modules,
            nthreads=os.cpu_count(),
            include_path=[str(ROOT)],
            language_level=3,
            compiler_directives={
                "freethreading_compatible": True,
                "embedsignature": False,
                "binding": True,
                "auto_pickle": False,
                "allow_none_for_extension_args": False,
            },
        )
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [
                (part, [pool.submit(self.compile, part, *job) for job in self.objects_of(part)])
                for part in parts
            ]
            for part, objects in jobs:
                self.link(part, [o.result() for o in objects])

    def objects_of(self, part):
        for source in self.sources_of(part):
            if source.suffix == ".pyx":
                source = source.with_suffix(".cpp" if part.cplusplus else ".c")
            yield source, "", ()
            for glob, suffix, flags in part.variants:
                if source.match(glob):
                    yield source, suffix, flags

    def compile(self, part, source, suffix, flags):
        tag = sysconfig.get_config_var("SOABI") if part.python else "any"
        out = ROOT / "build" / "objects" / tag / part.name / source.relative_to(ROOT)
        obj, dep = out.with_name(out.name + suffix + ".o"), out.with_name(out.name + suffix + ".d")
        if not self.force and not is_stale(obj, dep):
            return obj
        obj.parent.mkdir(parents=True, exist_ok=True)
        includes = [ROOT / "cpp", GENERATED, ROOT / "cpp" / "driver" / "foreign", ROOT, *cuda_include_dirs()]
        if part.python:
            includes.append(sysconfig.get_path("include"))
        is_c = source.suffix == ".c"
        command = shlex.split(os.environ.get("CC", "gcc") if is_c else os.environ.get("CXX", "g++"))
        command += ["-std=gnu17"] if is_c else ["-std=c++20"]
        command += ["-O0", "-g"] if DEBUG else ["-O2", "-g0", "-DNDEBUG"]
        command += [
            "-fPIC",
            "-fvisibility=hidden",
            "-ffunction-sections",
            "-fdata-sections",
            "-Wall",
        ]
        command += C_ONLY if not part.cplusplus and not is_c else []
        command += [*part.flags, *flags, *(f"-I{i}" for i in includes)]
        command += ["-MMD", "-MF", str(dep), "-c", str(source), "-o", str(obj)]
        subprocess.run(command, check=True)
        return obj

    def link(self, part, objects):
        target = Path(self.get_ext_fullpath(part.name))
        if not part.python:
            target = target.with_name(part.name.rpartition(".")[2] + ".so")
        newest = max(o.stat().st_mtime for o in objects)
        if target.exists() and target.stat().st_mtime >= newest and not self.force:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        command = shlex.split(
            os.environ.get("CXX", "g++") if part.cplusplus else os.environ.get("CC", "gcc")
        )
        command += ["-shared", "-Wl,--gc-sections", "-Wl,--as-needed", *([] if DEBUG else ["-s"])]
        command += [
            *map(str, objects),
            *(f"-l{name}" for name in part.libraries),
            "-o",
            str(target) + ".new",
        ]
        subprocess.run(command, check=True)
        os.replace(str(target) + ".new", target)  # a process that has the old one loaded keeps it


setup(ext_modules=[Extension(p.name, []) for p in PARTS], cmdclass={"build_ext": Build})
