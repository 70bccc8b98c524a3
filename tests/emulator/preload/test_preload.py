# SPDX-License-Identifier: Apache-2.0
"""Cubins of programs with their own NVRTC and nvJitLink run on the emulator."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ...libraries import open_or_skip

HERE = Path(__file__).parent
NO_BINARY = "load answered 209"
PTX_SECTION = b".nv_debug_ptx_txt"


def library_path(name):
    """Return the path of a library; skip the test if it is missing."""
    from cuda.pathfinder import load_nvidia_dynamic_lib

    open_or_skip(name.lower())
    return load_nvidia_dynamic_lib(name).abs_path


COMMAND = (sys.executable, "-m", "cuda.core.emulation")


@pytest.fixture
def run(tmp_path):
    """Run a program by `exec`, with the folder of `path`, or without either; return the completed
    process."""
    own = ("HALFWARP_", "LD_LIBRARY_PATH", "LD_PRELOAD")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    clean |= {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    def run(*program, by="exec", **variables):
        before = [*COMMAND, "exec"] if by == "exec" else []
        if by == "path":
            folder = subprocess.check_output([*COMMAND, "path"], env=clean, text=True)
            variables["LD_LIBRARY_PATH"] = folder.strip()
        done = subprocess.run(
            [*before, *map(str, program)],
            env=clean | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def client(run):
    """Return the output of a case of client.py."""

    def client(case, *arguments, nvrtc=(), linker=False, **options):
        paths = [str(path) for path in nvrtc] or [library_path("nvrtc")]
        options |= {"CLIENT_NVRTC": ":".join(paths)}
        options |= {"CLIENT_NVJITLINK": library_path("nvJitLink")} if linker else {}
        done = run(sys.executable, HERE / "client.py", case, *arguments, **options)
        return done.stdout.strip()

    return client


@pytest.fixture
def compile_c(tmp_path):
    """Compile one of the C files here; skip the test without a compiler."""

    def compile_c(name, *options):
        if not (compiler := shutil.which("gcc") or shutil.which("cc")):
            pytest.skip("there is no C compiler")
        binary = tmp_path / Path(name).stem
        subprocess.run([compiler, HERE / name, "-o", binary, *map(str, options)], check=True)
        return binary

    return compile_c


class TestCompiled:
    def test_a_cubin_runs(self, client):
        assert client("compile_and_run") == "ran"

    def test_a_cubin_does_not_run_without_the_library(self, client):
        """This proves that the other tests here depend on the library."""
        assert client("compile_and_run", by="path") == NO_BINARY

    @pytest.mark.parametrize("option", ["-lineinfo", "-G"])
    def test_a_cubin_that_contains_its_ptx_runs(self, client, option):
        assert client("compile_and_run", option) == "ran"

    def test_a_cubin_compiled_before_the_driver_started_runs(self, client):
        assert client("compile_before_the_driver") == "ran"

    def test_a_cubin_whose_size_was_not_queried_runs(self, client):
        assert client("without_querying_the_size") == "ran"

    def test_a_cubin_from_a_file_runs_in_another_process(self, client, tmp_path):
        client("write", tmp_path / "cubin")
        assert PTX_SECTION in (tmp_path / "cubin").read_bytes()
        assert client("read", tmp_path / "cubin", by="path") == "ran"

    def test_two_releases_of_the_compiler_in_one_process(self, client, tmp_path):
        own = Path(library_path("nvrtc")).resolve()
        for file in own.parent.glob("libnvrtc*"):
            shutil.copy(file, tmp_path)
        assert client("two_compilers", nvrtc=[own, tmp_path / own.name]).split() == ["ran"] * 2

    def test_a_program_that_is_linked_with_the_compiler(self, run, compile_c):
        compiler = Path(library_path("nvrtc"))
        folder = run(*COMMAND, "path", by="itself").stdout.strip()
        libraries = [f"{folder}/libcuda.so.1", compiler, f"-Wl,-rpath,{compiler.parent}"]
        program = compile_c("linked.c", *libraries, "-Wl,--allow-shlib-undefined")
        assert run(program).stdout.strip() == "loaded"
        assert run(program, by="path").stdout.strip() == NO_BINARY


class TestLinked:
    @pytest.mark.parametrize("case", ["link_and_run", "link_ltoir", "link_ptx"])
    def test_a_linked_cubin_runs(self, client, case):
        assert client(case, linker=True) == "ran"

    def test_functions_are_found_by_their_versioned_names(self, client):
        open_or_skip("nvjitlink")
        from cuda.bindings import nvjitlink

        release = f"__{{}}_{nvjitlink.version()[0]}_0"
        assert client("link_and_run", release, linker=True) == "ran"


class TestHarmless:
    def test_wrong_arguments_give_the_same_codes_as_without_the_library(self, client):
        codes = client("wrong_arguments", linker=True)
        assert codes == client("wrong_arguments", linker=True, by="path")
        assert len(codes.split()) == 13 and "0" not in codes.split()[:4]

    def test_threads_compile_concurrently(self, client):
        assert client("in_threads").split() == ["ran"] * 8

    def test_a_process_that_compiles_may_fork(self, client):
        assert client("forked") == "ran"

    def test_no_function_is_found_without_a_compiler(self, run):
        done = run(sys.executable, HERE / "client.py", "no_compiler")
        assert done.stdout.strip() == "found [] True"

    def test_a_compiler_may_be_closed_and_reopened(self, client):
        assert client("opened_again").split() == ["ran"] * 6

    def test_rtld_next_starts_at_the_calling_library(self, run, compile_c):
        """RTLD_NEXT in a library that is loaded later searches the libraries behind it."""
        library = compile_c("next.c", "-shared", "-fPIC")
        code = "import os; print(os.getppid() > 0)"
        behind = f'LD_PRELOAD="$LD_PRELOAD:{library}" exec "$0" "$@"'
        done = run("sh", "-c", behind, sys.executable, "-c", code)
        assert done.stdout.strip() == "True"

    def test_earlier_preloads_remain(self, run, compile_c):
        library = compile_c("next.c", "-shared", "-fPIC")
        done = run("sh", "-c", 'echo "$LD_PRELOAD"', LD_PRELOAD=str(library))
        assert done.stdout.startswith(f"{library}:")

    def test_a_missing_emulator_is_reported_in_one_line(self, run, tmp_path):
        from cuda.core.emulation import library

        alone, cubin = shutil.copy(library.preload_path(), tmp_path), tmp_path / "cubin"
        variables = {"LD_PRELOAD": alone, "CLIENT_NVRTC": library_path("nvrtc")}
        done = run(sys.executable, HERE / "client.py", "write", cubin, by="itself", **variables)
        assert done.stderr.count("finds no emulated driver") == 1
        assert PTX_SECTION not in cubin.read_bytes()

    def test_cuda_core_runs_with_it(self, run):
        open_or_skip("nvrtc")
        code = """if True:
            from cuda.core import Device, LaunchConfig, Program, launch
            device = Device()
            device.set_current()
            stream = device.create_stream()
            code = Program('extern "C" __global__ void f() {}', "c++").compile("cubin")
            launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("f"))
            stream.sync()
            print("ran")
        """
        assert run(sys.executable, "-c", code).stdout.strip() == "ran"
