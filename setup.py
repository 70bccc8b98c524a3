# SPDX-License-Identifier: Apache-2.0
"""Build halfwarp: generate -> cythonize -> compile and link, in parallel and incrementally."""

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # build front ends do not always add it
from build_support import headers, included_files  # noqa: E402
from build_support.make import make  # noqa: E402
from halfwarp import archive  # noqa: E402
from halfwarp.progress import progress  # noqa: E402

GENERATED = ROOT / "build" / "generated"
CUDA = "13.5"  # the level of generator/api
# Shared libraries that are not extension modules. They export the C names of the driver, the
# runtime and NVML; LD_PRELOAD loads the last library.
EMULATOR, RUNTIME = "cuda.bindings.libcuda_emulated", "cuda.bindings.libcudart_emulated"
MANAGEMENT = "cuda.bindings.libnvml_emulated"
PRELOAD = "cuda.bindings.libcuda_preload"  # for programs that bring their own NVRTC
LIBRARIES = (EMULATOR, RUNTIME, MANAGEMENT, PRELOAD)
CC, CXX = (shlex.split(os.environ.get(v, c)) for v, c in (("CC", "gcc"), ("CXX", "g++")))
# Flags of the environment follow the general flags and precede the flags of single parts.
FLAGS = ("CPPFLAGS", "CFLAGS", "CXXFLAGS", "LDFLAGS")
ENV_FLAGS = {name: shlex.split(os.environ.get(name, "")) for name in FLAGS}
DEBUG = os.environ.get("DEBUG") == "1"
SANITIZE = os.environ.get("HALFWARP_SANITIZE", "")  # "address,undefined": docs/design/robustness.md
COMMON = ["-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-Wall"]
CHECKED = [f"-fsanitize={SANITIZE}", "-fno-sanitize-recover=all"] if SANITIZE else []
# Callers of a C API pass any int as an enum; checks of null keep addresses from being constants.
NULLS = "null,nonnull-attribute,returns-nonnull-attribute"
CHECKED += [f"-fno-sanitize=enum,{NULLS}"] if SANITIZE else []
COMMON += ["-O0", "-g"] if DEBUG else ["-O1", "-g1"] if SANITIZE else ["-O2", "-g0", "-DNDEBUG"]
COMMON += CHECKED
# without deprecation warnings, because the tables name every function
COMMON += ["-DCUDA_ENABLE_DEPRECATED", "-Wno-deprecated-declarations"]
FLOATS = ("-ffp-contract=off", "-fno-math-errno")
C_ONLY = shlex.split("-fno-exceptions -fno-rtti -fno-threadsafe-statics")
# C++ without exceptions needs no unwind tables, which are a twentieth of the size.
TABLES = ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]  # ARM enables both by default
FRAMES = [] if DEBUG or SANITIZE else TABLES
LINK = ["-shared", "-Wl,--gc-sections", "-Wl,--as-needed", "-Wl,--exclude-libs,ALL"]
EXPORTED = ROOT / "cpp" / "exported.map"
LINK += ["-Wl,-z,noseparate-code"]  # no page of padding between code and data
LINK += [] if DEBUG or SANITIZE else ["-s"]
LINK += CHECKED
# Creates methods like CPython's own: faster to call, and they check `self`. The docstring states
# the signature; a function with defaults other than literals needs `binding`.
OFF = ("auto_pickle", "allow_none_for_extension_args", "binding")
# `nonecheck`: an object that is not initialized has None where a class declares another one, and
# Cython would read through it.
DIRECTIVES = {"freethreading_compatible": True, "nonecheck": True, **dict.fromkeys(OFF, False)}
DIRECTIVES |= {"embedsignature": True, "embedsignature.format": "clinic"}


@dataclass(frozen=True)
class Part:
    """A shared object: the `.pyx` of its name, if any, and all C++ below its folders."""

    name: str
    folders: str = ""  # relative to the root or to the generated sources
    is_c: bool = False  # links no C++ runtime, so that it imports faster
    libraries: str = ""
    archives: str = ""  # static libraries beside the CUDA headers
    flags: tuple = ()
    variants: tuple = ()  # (glob, suffix, flags): an additional object for each match
    small: str = ""  # folders and files that are optimized for size instead of speed
    modules: str = ""  # further modules in the same object, which share its C++ state
    soname: str = ""  # the name, and the version of each symbol, that programs are linked with

    def pyx(self):
        names = [] if self.name in LIBRARIES else [self.name, *self.modules.split()]
        return [f"{name.replace('.', '/')}.pyx" for name in names]

    def sources(self):
        suffix = ".c" if self.is_c else ".cpp"
        cython_sources = [(ROOT / name).with_suffix(suffix) for name in self.pyx()]
        paths = [ROOT / f if "/" in f else GENERATED / f for f in self.folders.split()]
        return cython_sources + sorted(p for path in paths for p in path.rglob("*.cpp"))

    def optimization(self, source):
        is_small = not set(self.small.split()).isdisjoint(source.relative_to(ROOT).parts)
        return "-Os" if is_small and not (DEBUG or SANITIZE) else ""

    def objects(self):
        abi = sysconfig.get_config_var("SOABI") if self.pyx() else "any"
        return ROOT / "build" / f"objects{SANITIZE and '-sanitized'}" / abi / self.name


# The emulator's inner loops, also compiled for wider vector units and selected at run time.
HANDLERS = "exec/handlers/*.cpp"
VECTORS = ("v3", "v4") if sysconfig.get_platform().endswith("x86_64") else ()
WIDER = [(HANDLERS, v, f"-march=x86-64-{v} -DHALFWARP_ISA=x86_64_{v}") for v in VECTORS]
# Cython's output has many rarely taken jumps, whose padding would be a twentieth of the size.
UNPADDED = ("-falign-jumps=1", "-falign-loops=1")
BASELINE_HANDLERS = " handlers" if VECTORS else ""  # few machines lack wider vector units
CUDART = "libcudart_static.a"
PARTS = [
    Part(
        "cuda.bindings._low",
        "cpp/driver/loader driver cpp/interpreter cpp/bindings bindings",
        True,
        "dl pthread",
        small="_low.c exceptions module numpy_structs enum_class.cpp struct_arrays.cpp "
        "typed_array.cpp ctypes_values.cpp nvml_functions.cpp",
    ),
    Part("cuda.bindings._runtime", "cpp/runtime runtime", True, "dl pthread rt", CUDART),
    Part("cuda.bindings.cydriver", is_c=True),
    Part("cuda.bindings.cynvrtc", is_c=True),
    Part("cuda.bindings.cyruntime", is_c=True),
    Part("cuda.bindings.cynvjitlink", is_c=True),
    Part("cuda.bindings.cynvvm", is_c=True),
    Part("cuda.bindings.cynvfatbin", is_c=True),
    Part("cuda.bindings.cynvml", is_c=True),
    Part("cuda.bindings.cycufile", is_c=True),
    Part("cuda.bindings.cycudla", is_c=True),
    Part(
        "cuda.core._core",
        "cpp/core cpp/python",
        libraries="pthread",  # a separate library before glibc 2.34
        flags=UNPADDED,
        modules="cuda.core._graph cuda.core._texture cuda.core._sharing",
        small="_texture.cpp _sharing.cpp texture attachments.cpp reuse.cpp launch_plan.cpp "
        "ptx_signature.cpp",
    ),
    Part("cuda.core._compile", libraries="pthread", small="_compile.cpp"),
    Part("cuda.core._views", "cpp/views", flags=UNPADDED, small="copies layout tensor_maps"),
    Part("cuda.core._located_memory", small="_located_memory.cpp"),
    Part("cuda.core._resources", small="_resources.cpp"),
    Part(
        EMULATOR,
        "cpp/emulator emulator",
        libraries="pthread dl",
        flags=FLOATS,
        variants=WIDER,
        small="api async builtin control decode device driver graph image link module object "
        "observation ptx report scalar settings sharing stream work cycle_report.cpp "
        "executable.cpp exports.cpp wait_graph.cpp" + BASELINE_HANDLERS,
    ),
    Part(
        RUNTIME,
        "cpp/emulated_runtime emulated_runtime",
        libraries="pthread dl",
        small="emulated_runtime",
        soname="libcudart.so.13",
    ),
    Part(MANAGEMENT, "cpp/emulated_nvml emulated_nvml", True, "dl pthread"),
    Part(PRELOAD, "cpp/preload", True, "dl"),
]


@contextmanager
def generated_sources():
    """Run the generator, and lock the tree against other builds."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([sys.executable, "-m", "generator", "emit"], cwd=ROOT, check=True)
        yield


class CollectFiles(build_py):
    """Collects files after the generator ran, without files of an earlier build."""

    def run(self):
        with generated_sources():
            shutil.rmtree(self.build_lib, ignore_errors=True)
            super().run()


class Build(build_ext):
    """Compiles all objects of all parts in one pool of processes, then links each part."""

    def run(self):
        with generated_sources():
            names = os.environ.get("HALFWARP_EXTENSIONS", "").split(",")
            self.build([p for p in PARTS if p.name in names or names == [""]])
        if not self.inplace:
            archive.pack(Path(self.build_lib))

    def build(self, parts):
        from Cython.Build import cythonize

        languages = [(name, "c" if p.is_c else "c++") for p in parts for name in p.pyx()]
        pyx = [
            Extension(n[:-4].replace("/", "."), [n], language=language) for n, language in languages
        ]
        cythonize(pyx, include_path=["."], language_level=3, compiler_directives=DIRECTIVES)
        for part in parts:
            for output in part.sources()[: len(part.pyx())]:
                included_files.distinguish_files(output)
        cuda = headers.collect(CUDA, ROOT / "build" / "cuda")
        folders = ("cpp", "cpp/driver/foreign", "cpp/runtime/headers", ".")
        project_folders = (*(ROOT / f for f in folders), GENERATED)
        self.includes = [f"-I{folder}" for folder in (*project_folders, cuda)]
        todo = [(p, list(self.jobs(p))) for p in parts]
        total = sum(len(jobs) for _, jobs in todo)
        with ThreadPoolExecutor(os.cpu_count()) as pool, progress("compiled", total) as counted:

            def compiled(*job):
                obj = self.compile(*job)
                counted.step()
                return obj

            jobs = [[pool.submit(compiled, p, *j) for j in jobs_of] for p, jobs_of in todo]
            for part, objects in zip(parts, jobs, strict=True):
                self.link(part, [o.result() for o in objects])

    def jobs(self, part):
        yield from ((s, "", part.optimization(s)) for s in part.sources())
        # Variants come last: the linker keeps the first copy of an inline function, which must run
        # on any processor.
        for glob, suffix, flags in part.variants:
            yield from ((s, f".{suffix}", flags) for s in part.sources() if s.match(glob))

    def compile(self, part, source, suffix, flags):
        obj = part.objects() / f"{source.relative_to(ROOT)}{suffix}.o"
        dep, is_c = obj.with_suffix(".d"), source.suffix == ".c"
        command = [*CC, "-std=gnu17"] if is_c else [*CXX, "-std=c++20"]
        command += COMMON + (C_ONLY if part.is_c and not is_c else [])
        command += FRAMES if part.is_c else []
        command += ENV_FLAGS["CPPFLAGS"] + ENV_FLAGS["CFLAGS"]
        command += [] if is_c else ENV_FLAGS["CXXFLAGS"]
        command += [*part.flags, *flags.split(), *self.includes]
        command += [f"-I{sysconfig.get_path('include')}"] if part.pyx() else []
        command += ["-MMD", "-MF", str(dep), "-c", str(source)]
        dependencies = dep.read_text().replace("\\\n", " ") if dep.exists() else f":{source}"
        make(obj, [Path(name) for name in dependencies.split(":", 1)[1].split()], command)
        return obj

    def link(self, part, objects):
        target = Path(self.get_ext_fullpath(part.name))
        if not part.pyx():
            target = target.with_name(part.name.rpartition(".")[2] + ".so")
        exported = EXPORTED.with_name(f"{part.soname}.map") if part.soname else EXPORTED
        command = (CC if part.is_c else CXX) + LINK + ([] if part.pyx() else ["-Wl,-z,defs"])
        command += [f"-Wl,--version-script={exported}"]
        command += [f"-Wl,-soname,{part.soname}"] if part.soname else []
        inputs = [*objects, *(headers.archive(name, CUDA) for name in part.archives.split())]
        command += [*map(str, inputs), *(f"-l{name}" for name in part.libraries.split())]
        command += ENV_FLAGS["LDFLAGS"]
        if not self.inplace:  # build_py copies libraries linked in the tree
            target.unlink(missing_ok=True)
        make(target, [*inputs, exported], command, record=part.objects() / "link.cmd")


COMMANDS = {"build_ext": Build, "build_py": CollectFiles}
setup(ext_modules=[Extension(p.name, []) for p in PARTS], cmdclass=COMMANDS)
