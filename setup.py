# SPDX-License-Identifier: Apache-2.0
"""Build halfwarp: generate -> cythonize -> compile and link, in parallel and incrementally."""

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # build front ends do not always add it
from build_support import (  # noqa: E402
    compile_commands,
    flags,
    headers,
    precompiled,
    relocations,
    tracebacks,
)
from build_support.make import make  # noqa: E402
from build_support.parts import GENERATED, PARTS  # noqa: E402
from build_support.terminal import terminal  # noqa: E402
from build_support.wheels import normal, sbom  # noqa: E402
from halfwarp import archive  # noqa: E402
from halfwarp.progress import progress  # noqa: E402

CUDA = "13.5"  # the level of generator/api
COPIES = ROOT / "build" / "cuda"  # of headers and static libraries
# Creates methods like CPython's own: faster to call, and they check `self`. The docstring states
# the signature; a function with defaults other than literals needs `binding`.
OFF = ("auto_pickle", "allow_none_for_extension_args", "binding")
# `nonecheck`: an object that is not initialized has None where a class declares another one, and
# Cython would read through it.
# `unraisable_tracebacks` also prints the exception of a destructor, by a function that ends the
# process for SystemExit.
OFF += ("unraisable_tracebacks",)
DIRECTIVES = {"freethreading_compatible": True, "nonecheck": True, **dict.fromkeys(OFF, False)}
DIRECTIVES |= {"embedsignature": True, "embedsignature.format": "clinic"}


@contextmanager
def generated_sources():
    """Run the generator, and lock the tree against other builds."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        emit()
        yield


@cache
def emit():
    """Run the generator once, although several commands of an installation need its output."""
    subprocess.run([sys.executable, "-m", "generator", "emit"], cwd=ROOT, check=True)


@contextmanager
def workers():
    """Yield a thread for each processor; after an error, what is queued does not start."""
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


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
        cuda = headers.collect(CUDA, COPIES)
        folders = ("cpp", "cpp/driver/foreign", "cpp/runtime/headers", ".")
        self.folders = (*(ROOT / f for f in folders), GENERATED, cuda)
        self.includes = [f"-I{folder}" for folder in self.folders]
        self.commands, self.common = [], {}  # by source: the precompiled header of its part
        # The parts of C come last: their files are short, so that all cores end together.
        parts = sorted(parts, key=lambda part: (bool(part.pyx()), part.is_c))
        todo = [(part, list(self.jobs(part))) for part in parts]
        total = sum(len(jobs) for _, jobs in todo)
        with (
            workers() as pool,
            precompiled.Headers(ROOT / "build" / "precompiled") as self.precompiled,
            progress("compiled", total, terminal()) as counted,
        ):

            def compiled(*job):
                obj = self.compile(*job)
                counted.step()
                return obj

            def submit(part, jobs):
                return part, [pool.submit(compiled, part, *job) for job in jobs]

            list(pool.map(lambda item: self.precompiled.add(*item), self.precompilations(todo)))
            # Cython takes one core for half a minute; the emulator needs none of its output.
            started = [submit(part, jobs) for part, jobs in todo if not part.pyx()]
            self.cythonize(parts)
            started += [submit(part, jobs) for part, jobs in todo if part.pyx()]
            for part, objects in started:
                self.link(part, [o.result() for o in objects])
        compile_commands.write(ROOT / "build" / "compile_commands.json", self.commands)

    def cythonize(self, parts):
        from Cython.Build import cythonize

        languages = [(name, "c" if p.is_c else "c++") for p in parts for name in p.pyx()]
        pyx = [
            Extension(n[:-4].replace("/", "."), [n], language=language) for n, language in languages
        ]
        cythonize(pyx, include_path=["."], language_level=3, compiler_directives=DIRECTIVES)
        for part in parts:
            for output in part.sources()[: len(part.pyx())]:
                tracebacks.correct(output)

    def precompilations(self, todo):
        """Return sets of flags with the number of missing objects and their common header.

        Wheels are built without, so that their sources name each header that they use.
        """
        commands, included = Counter(), headers.Included(self.folders)
        for part, jobs in todo:
            if part.is_c or not self.inplace:  # parts in C include few of the headers
                continue
            for source, suffix, options in jobs:
                if not part.object_of(source, suffix).exists():
                    if part.common and ROOT / part.common in included.by(source):
                        self.common[source] = str(ROOT / part.common)
                    commands[(*self.flags(part, False, options),), self.common.get(source, "")] += 1
        largest_first = sorted(commands.items(), key=lambda item: not item[0][1])
        return [(command, number, common) for (command, common), number in largest_first]

    def jobs(self, part):
        yield from ((s, "", part.optimization(s)) for s in part.sources())
        # Variants come last: the linker keeps the first copy of an inline function, which must run
        # on any processor.
        for source in part.sources():
            yield from ((source, *variant) for variant in part.variants_of(source))

    def flags(self, part, is_c, options):
        command = [*flags.CC, "-std=gnu17"] if is_c else [*flags.CXX, "-std=c++20"]
        command += flags.COMMON + (flags.C_ONLY if part.is_c and not is_c else [])
        command += flags.FRAMES if part.is_c else []
        command += flags.ENV_FLAGS["CPPFLAGS"] + flags.ENV_FLAGS["CFLAGS"]
        command += [] if is_c else flags.ENV_FLAGS["CXXFLAGS"]
        command += [*part.flags, *options.split(), *self.includes]
        return command + ([f"-I{sysconfig.get_path('include')}"] if part.pyx() else [])

    def compile(self, part, source, suffix, options):
        obj = part.object_of(source, suffix)
        dep, is_c = obj.with_suffix(".d"), source.suffix == ".c"
        command = self.flags(part, is_c, options)
        header = self.precompiled.header(command, self.common.get(source, ""))
        command += ["-MMD", "-MF", str(dep), "-c", str(source)]
        inputs = precompiled.dependencies(dep) if dep.exists() else [source]
        make(
            obj,
            [Path(name) for name in inputs],
            command,
            unrecorded=precompiled.options(header),
            finish=lambda _: precompiled.complete(dep, header),
        )
        entry = {"directory": str(ROOT), "file": str(source), "output": str(obj)}
        self.commands.append({**entry, "arguments": command})
        return obj

    def target_of(self, name, is_module):
        """Path of a shared object; a plain library's has no tag of the interpreter."""
        target = Path(self.get_ext_fullpath(name))
        return target if is_module else target.with_name(name.rpartition(".")[2] + ".so")

    def link(self, part, objects):
        target = self.target_of(part.name, bool(part.pyx()))
        exported = flags.EXPORTED.with_name(f"{part.soname}.map") if part.soname else flags.EXPORTED
        command = (
            (flags.CC if part.is_c else flags.CXX)
            + flags.LINK
            + list(part.linking)
            + ([] if part.pyx() else ["-Wl,-z,defs"])
        )
        command += [f"-Wl,--version-script={exported}"]
        command += [f"-Wl,-soname,{part.soname}"] if part.soname else []
        archives = [headers.archive(name, CUDA, COPIES) for name in part.archives.split()]
        inputs = [*objects, *archives]
        inputs += [self.target_of(part.linked, False)] if part.linked else []
        command += [*map(str, inputs), *(f"-l{name}" for name in part.libraries.split())]
        command += flags.ENV_FLAGS["LDFLAGS"]
        if not self.inplace:  # build_py copies libraries linked in the tree
            target.unlink(missing_ok=True)
        make(
            target,
            [*inputs, exported],
            command,
            record=part.objects() / "link.cmd",
            finish=relocations.clear_addends,
        )


class Wheel(bdist_wheel):
    """Adds the list of contents, and compresses the wheel as well as the format allows."""

    def run(self):
        super().run()
        epoch = normal.epoch_of(ROOT)
        for *_, path in self.distribution.dist_files:
            files = sbom.added(normal.read_wheel(Path(path)), ROOT / "pyproject.toml")
            normal.write_wheel(Path(path), files, epoch)


COMMANDS = {"bdist_wheel": Wheel, "build_ext": Build, "build_py": CollectFiles}
setup(ext_modules=[Extension(p.name, []) for p in PARTS], cmdclass=COMMANDS)
