# SPDX-License-Identifier: Apache-2.0
"""Every kernel of the corpus survives the PTX front end of the emulator."""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .. import cpp_programs

ROOT = Path(__file__).resolve().parents[2]
BUILD = cpp_programs.FOLDER
PROGRAMS = ("ptx_round_trip", "ptx_fuzz")  # they need no GoogleTest
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.cu"))
SAMPLES = sorted((ROOT / "cpp" / "tests" / "ptx" / "data").glob("*.ptx"))
ARCHITECTURES = ("75", "80", "90", "100")


def library(name):
    """Return the path of a library of NVIDIA's packages, such as nvrtc."""
    for entry in sys.path:
        matches = sorted(Path(entry, "nvidia", "cu13", "lib").glob(f"lib{name}.so.*"))
        if matches:
            return matches[0]
    pytest.skip(f"lib{name} is not installed (package nvidia-{name.lower()})")


class Compiler:
    """NVRTC through ctypes, without our bindings between the source and the PTX."""

    def __init__(self):
        path = library("nvrtc")
        self.library = ctypes.CDLL(path)
        self.include = path.parents[1] / "include"

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name} returned {code}: {self.log(arguments[0])}"

    def log(self, program):
        size = ctypes.c_size_t()
        self.library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        self.library.nvrtcGetProgramLog(program, text)
        return text.value.decode(errors="replace")

    def result(self, program, kind):
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{kind}", program, data)
        return data.raw

    def compile(self, source, *options, kind="PTX"):
        program = ctypes.c_void_p()
        text = source.read_text()
        options = [f"-I{self.include}", "-std=c++17", *options]
        self.call(
            "nvrtcCreateProgram",
            ctypes.byref(program),
            text.encode(),
            source.name.encode(),
            0,
            None,
            None,
        )
        try:
            array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
            self.call("nvrtcCompileProgram", program, len(options), array)
            return self.result(program, kind)
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))


@pytest.fixture(scope="module")
def compiler():
    return Compiler()


@pytest.fixture(scope="module")
def round_trip():
    """Return a function that runs the parse-print-compare program, which is built on demand."""
    cpp_programs.build_shared(*PROGRAMS)

    def run(*arguments):
        return subprocess.run(
            [BUILD / "ptx" / "ptx_round_trip", *arguments], capture_output=True, text=True
        )

    return run


def assert_survives(result, count):
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == count
    unknown = [line for line in lines if not re.search(r", 0 unknown,", line)]
    assert not unknown, "\n".join(unknown)


def write_ptx(compiler, folder, *options):
    """Compile the corpus to PTX files in a folder."""
    paths = []
    for source in CORPUS:
        path = folder / f"{source.stem}.ptx"
        path.write_bytes(compiler.compile(source, *options).rstrip(b"\0"))
        paths.append(path)
    return paths


def test_the_corpus_has_sixty_kernels():
    kernels = sum(source.read_text().count("__global__ void") for source in CORPUS)
    assert kernels >= 60


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_printing_ptx_does_not_change_it(architecture, compiler, round_trip, tmp_path):
    paths = write_ptx(compiler, tmp_path, f"-arch=compute_{architecture}")
    assert_survives(round_trip(*paths), len(CORPUS))


@pytest.mark.parametrize("option", ["-lineinfo", "-rdc=true", "-use_fast_math"])
def test_printing_ptx_of_other_options_does_not_change_it(option, compiler, round_trip, tmp_path):
    paths = write_ptx(compiler, tmp_path, "-arch=sm_90", option)
    assert_survives(round_trip(*paths), len(CORPUS))


def test_printing_hand_written_ptx_does_not_change_it(round_trip):
    result = round_trip(*SAMPLES)
    assert result.returncode == 0, result.stdout


def test_malformed_ptx_is_reported_with_its_line(round_trip, tmp_path):
    path = tmp_path / "malformed.ptx"
    path.write_text(".version 8.0\n.target sm_90\n.entry k {\n  add.s32 %r1, ;\n}\n")
    result = round_trip(path)
    assert result.returncode == 1
    assert "line 4; error: expected an operand, found ';'" in result.stdout


class Assembler:
    """nvJitLink as a judge of PTX: equal machine code means equal PTX."""

    def __init__(self):
        self.library = ctypes.CDLL(library("nvJitLink"))
        self.suffix = next(
            (
                f"_{major}_{minor}"
                for major in (13,)
                for minor in range(9, -1, -1)
                if hasattr(self.library, f"__nvJitLinkCreate_{major}_{minor}")
            ),
            None,
        )

    def call(self, name, *arguments):
        function = getattr(self.library, f"__nvJitLink{name}{self.suffix}", None)
        function = function or getattr(self.library, f"nvJitLink{name}")
        return function(*arguments)

    def machine_code(self, ptx):
        linker, options = ctypes.c_void_p(), [b"-arch=sm_90"]
        array = (ctypes.c_char_p * len(options))(*options)
        assert self.call("Create", ctypes.byref(linker), len(options), array) == 0
        try:
            kind_ptx = 2
            code = self.call("AddData", linker, kind_ptx, ptx, ctypes.c_size_t(len(ptx)), b"text")
            assert code == 0 and self.call("Complete", linker) == 0, self.log(linker)
            size = ctypes.c_size_t()
            assert self.call("GetLinkedCubinSize", linker, ctypes.byref(size)) == 0
            data = ctypes.create_string_buffer(size.value)
            assert self.call("GetLinkedCubin", linker, data) == 0
            return data.raw
        finally:
            self.call("Destroy", ctypes.byref(linker))

    def log(self, linker):
        size = ctypes.c_size_t()
        self.call("GetErrorLogSize", linker, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        self.call("GetErrorLog", linker, text)
        return text.value.decode(errors="replace")


def test_printed_ptx_assembles_to_the_same_machine_code(compiler, round_trip, tmp_path):
    assembler = Assembler()
    paths = write_ptx(compiler, tmp_path, "-arch=compute_90")
    assert_survives(round_trip("--print", *paths), len(CORPUS))
    for path in paths:
        printed = path.with_name(path.name + ".printed")
        codes = [assembler.machine_code(p.read_bytes()) for p in (path, printed)]
        assert codes[0] == codes[1], f"{path.stem}: printed PTX assembles to other machine code"


def fuzz(build, count, seed):
    command = [build / "ptx" / "ptx_fuzz", str(count), str(seed), *SAMPLES]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:2000]


def test_mutated_ptx_never_crashes_the_parser(round_trip, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # folder in which a crash leaves its input
    fuzz(BUILD, 20_000, 11)


@pytest.mark.slow
def test_a_million_mutated_texts_never_crash_the_parser_under_sanitizers(tmp_path, monkeypatch):
    build = ROOT / "build" / "tests-ptx-sanitized"
    cpp_programs.configure(build, HALFWARP_TEST_FOLDERS="ptx", HALFWARP_SANITIZE="ON")
    cpp_programs.build(build, *PROGRAMS)
    monkeypatch.chdir(tmp_path)
    fuzz(build, 1_000_000, 0)
