# SPDX-License-Identifier: Apache-2.0
"""Build halfwarp: generate -> cythonize -> compile and link, in parallel and incrementally."""

import fcntl
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # a build front end need not have done it
from generator import headers  # noqa: E402

OBJECTS = ROOT / "build" / "objects"
CUDA_LEVEL = "13.5"  # of the headers; generator/api holds the facts of the same
CC, CXX = (shlex.split(os.environ.get(v, c)) for v, c in (("CC", "gcc"), ("CXX", "g++")))
DEBUG = os.environ.get("DEBUG") == "1"
COMMON = ["-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-Wall"]
COMMON += ["-O0", "-g"] if DEBUG else ["-O2", "-g0", "-DNDEBUG"]
COMMON += ["-DCUDA_ENABLE_DEPRECATED"]  # no warnings: the tables name every function
C_ONLY = shlex.split("-fno-exceptions -fno-rtti -fno-threadsafe-statics")
LINK = ["-shared", "-Wl,--gc-sections", "-Wl,--as-needed", *([] if DEBUG else ["-s"])]
OFF = ("embedsignature", "auto_pickle", "allow_none_for_extension_args")
DIRECTIVES = {"freethreading_compatible": True, "binding": True, **dict.fromkeys(OFF, False)}


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

    def files(self):
        return sorted(p for glob in self.sources for p in ROOT.glob(glob))

    def module(self):
        sources = [str(p.relative_to(ROOT)) for p in self.files() if p.suffix == ".pyx"]
        return Extension(self.name, sources, language="c++" if self.cplusplus else "c")

    def folder(self):
        return OBJECTS / (sysconfig.get_config_var("SOABI") if self.python else "any") / self.name


LOADER = ("cuda/bindings/_loader.pyx", "cpp/driver/loader/*.cpp", "build/generated/driver/*.cpp")
LOW = ("cuda/bindings/_low.pyx", "cpp/bindings/**/*.cpp", "build/generated/bindings/*.cpp")
CORE = ("cuda/core/_core.pyx", "cpp/core/**/*.cpp", "cpp/python/**/*.cpp")
EMULATOR = ("cpp/emulator/**/*.cpp", "build/generated/emulator/*.cpp")
# Its inner loops once more for wider vector units, picked when it runs.
VARIANTS = [
    ("exec/handlers/*.cpp", f".{v}", ("-O3", f"-march=x86-64-{v}", f"-DHALFWARP_ISA=x86_64_{v}"))
    for v in ("v3", "v4")
    if platform.machine() == "x86_64"
]
PARTS = [
    Part("cuda.bindings._loader", LOADER, cplusplus=False, libraries=("dl", "pthread")),
    Part("cuda.bindings._low", LOW, cplusplus=False),
    Part("cuda.bindings.cydriver", ("cuda/bindings/cydriver.pyx",), cplusplus=False),
    Part("cuda.bindings.cynvrtc", ("cuda/bindings/cynvrtc.pyx",), cplusplus=False),
    Part("cuda.core._core", CORE),
    Part("cuda.core._compile", ("cuda/core/_compile.pyx",)),
    Part(
        "cuda.bindings.libcuda_emulated",
        EMULATOR,
        python=False,
        libraries=("pthread", "dl"),
        flags=("-ffp-contract=off", "-fno-math-errno"),
        variants=VARIANTS,
    ),
]


def make(target, inputs, command, record=None):
    """Run a command unless its target is newer than the inputs and was made by the same command."""
    record = record or target.with_name(target.name + ".cmd")
    text = shlex.join(command)
    if target.exists() and record.exists() and record.read_text() == text:
        made = target.stat().st_mtime
        if all(p.exists() and p.stat().st_mtime <= made for p in inputs):
            return
    record.parent.mkdir(parents=True, exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    new, start = target.with_name(target.name + ".new"), time.time()
    subprocess.run([*command, "-o", str(new)], check=True)
    os.utime(new, (start, start))  # an input that changes meanwhile is newer
    os.replace(new, target)  # a process that has the old one loaded keeps it
    record.write_text(text)


class Build(build_ext):
    """Compiles all objects of all parts in one pool of processes, then links each part."""

    def run(self):
        (ROOT / "build").mkdir(exist_ok=True)
        with open(ROOT / "build" / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run([sys.executable, "-m", "generator", "emit"], cwd=ROOT, check=True)
            wanted = os.environ.get("HALFWARP_EXTENSIONS", "").split(",")
            parts = [p for p in PARTS if p.name in wanted or wanted == [""]]
            self.build([p for p in parts if p.files()])

    def build(self, parts):
        from Cython.Build import cythonize

        pyx = [p.module() for p in parts if p.python]
        cythonize(pyx, include_path=["."], language_level=3, compiler_directives=DIRECTIVES)
        own = [ROOT / folder for folder in ("cpp", "build/generated", "cpp/driver/foreign", ".")]
        if not (cuda := headers.find(CUDA_LEVEL)):
            sys.exit(f"setup.py: no headers of CUDA {CUDA_LEVEL}; looked in {headers.candidates()}")
        self.includes = [f"-I{folder}" for folder in (*own, cuda)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [(p, [pool.submit(self.compile, p, *j) for j in self.objects(p)]) for p in parts]
            for part, objects in jobs:
                self.link(part, [o.result() for o in objects])

    def objects(self, part):
        suffix = ".cpp" if part.cplusplus else ".c"
        sources = [p.with_suffix(suffix) if p.suffix == ".pyx" else p for p in part.files()]
        yield from ((source, "", ()) for source in sources)
        # Last: of an inline function in several objects, the linker keeps the first, which any
        # processor must be able to run.
        yield from ((s, *v[1:]) for v in part.variants for s in sources if s.match(v[0]))

    def compile(self, part, source, suffix, flags):
        obj = part.folder() / f"{source.relative_to(ROOT)}{suffix}.o"
        dep = obj.with_suffix(".d")
        is_c = source.suffix == ".c"
        command = [*CC, "-std=gnu17"] if is_c else [*CXX, "-std=c++20"]
        command += COMMON + (C_ONLY if not (part.cplusplus or is_c) else [])
        command += [*part.flags, *flags, *self.includes]
        command += [f"-I{sysconfig.get_path('include')}"] if part.python else []
        command += ["-MMD", "-MF", str(dep), "-c", str(source)]
        made_of = dep.read_text().replace("\\\n", " ") if dep.exists() else f":{source}"
        make(obj, [Path(name) for name in made_of.split(":", 1)[1].split()], command)
        return obj

    def link(self, part, objects):
        target = Path(self.get_ext_fullpath(part.name))
        if not part.python:
            target = target.with_name(part.name.rpartition(".")[2] + ".so")
        command = (CXX if part.cplusplus else CC) + LINK + ([] if part.python else ["-Wl,-z,defs"])
        command += [*map(str, objects), *(f"-l{name}" for name in part.libraries)]
        make(target, objects, command, record=part.folder() / "link.cmd")


setup(ext_modules=[Extension(p.name, []) for p in PARTS], cmdclass={"build_ext": Build})
