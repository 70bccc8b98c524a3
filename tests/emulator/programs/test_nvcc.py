# SPDX-License-Identifier: Apache-2.0
"""Programs of nvcc. HALFWARP_NVCC names it, else it is found on PATH."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cuda.bindings import driver
from cuda.core import emulation

SHARED = "-cudart=shared", "-arch=sm_90"
OUTPUT = "6 258 15\n1 1 1 cudaSuccess\n1 7"


@pytest.mark.parametrize("mode", ["none", "speed", "balance", "size"])
def test_a_program_runs_with_each_compression(nvcc, run, mode):
    assert run(nvcc("kernels.cu", *SHARED, f"--compress-mode={mode}")) == (OUTPUT, [])


@pytest.mark.parametrize("mode", ["none", "speed", "balance"])
def test_a_program_of_relocatable_objects_runs(nvcc, run, mode):
    options = *SHARED, "-rdc=true", "-DRELOCATABLE", f"--compress-mode={mode}"
    output = OUTPUT.replace("258 15", "257 11")  # without the launch before main
    assert run(nvcc("kernels.cu", "more_kernels.cu", *options)) == (output, [])


def test_a_default_build_finds_the_emulated_runtime_in_the_folder_of_the_linker(nvcc, run):
    """nvcc links with `cudart_static`, for which the folder has a linker script."""
    assert run(nvcc("kernels.cu", "-arch=sm_90")) == (OUTPUT, [])


@pytest.mark.slow  # half a minute of compilation
def test_thrust_and_cub_are_right(nvcc, run):
    assert run(nvcc("algorithms.cu", *SHARED)) == ("5 5 5 5 5 5 0", [])


def test_threads_have_default_streams_of_their_own(nvcc, run):
    program = nvcc("streams.cu", *SHARED, "--default-stream=per-thread")
    assert run(program) == ("2", [])


def test_machine_code_alone_is_refused_with_the_remedy(nvcc, run):
    build = "-cudart=shared", "-gencode=arch=compute_90,code=sm_90"
    output, errors = run(nvcc("streams.cu", *build))
    assert output == "-209"
    assert len(errors) == 1
    assert "streams.cu" in errors[0]
    assert "kernel '" in errors[0]
    assert "-gencode arch=compute_90,code=compute_90" in errors[0]


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_script_gives_ptx_where_machine_code_is_requested(is_linked, tmp_path, nvcc_command):
    """CuPy's backend `nvcc` calls the compiler like this."""
    script = Path(__file__).parents[3] / "docs/guide/cuda_project/nvcc_with_ptx"
    source = shutil.copy(Path(__file__).with_name("streams.cu"), tmp_path)
    common = [script, "-gencode=arch=compute_90,code=sm_90"]
    linked, cubin = tmp_path / "streams.o", tmp_path / "streams.cubin"
    lines = [[*common, "--cubin", source]]
    if is_linked:
        lines = [
            [*common, "-rdc=true", "-c", "-o", linked, source],
            [*common, "--cubin", "-dlink", linked, "-o", cubin],
        ]
    for line in lines:
        subprocess.run(line, env=os.environ | {"HALFWARP_NVCC": nvcc_command}, check=True)
    driver.cuInit(0)
    code, library = driver.cuLibraryLoadData(cubin.read_bytes(), [], [], 0, [], [], 0)
    assert code == driver.CUresult.CUDA_SUCCESS
    assert driver.cuLibraryGetKernelCount(library)[1] == 1
    driver.cuLibraryUnload(library)


def test_relocatable_machine_code_is_refused_with_a_kernel(nvcc, run):
    build = "-cudart=shared", "-rdc=true", "-gencode=arch=compute_90,code=sm_90"
    output, errors = run(nvcc("streams.cu", *build))
    assert output == "-209"
    assert "a relocatable object: kernel 'write(int*, int)': the fat binary" in errors[0]


def test_a_long_name_of_a_kernel_is_cut(nvcc, tmp_path):
    driver.cuInit(0)
    source = tmp_path / "long.cu"
    source.write_text(f'extern "C" __global__ void {"k" * 500}() {{}}')
    image = nvcc(str(source), "-cubin", "-arch=sm_90")
    code, _ = driver.cuLibraryLoadFromFile(str(image).encode(), [], [], 0, [], [], 0)
    assert f"kernel '{'k' * 120}...': the image" in emulation.error_text(code)


def test_a_closed_library_is_named_with_a_kernel_without_ptx(nvcc, compiled, run, tmp_path):
    library_file = tmp_path / "libcurand.so.99"
    shutil.copy(compiled("export_table.cpp", "-ldl"), library_file)
    cubin = nvcc("streams.cu", "-cubin", "-arch=sm_90")
    _, errors = run(library_file, "load", cubin)
    assert len(errors) == 1
    assert "libcurand.so.99 contains kernels without PTX, such as 'write(int*, int)'" in errors[0]


def test_code_for_newer_devices_alone_is_refused_with_the_option(nvcc, run):
    _, errors = run(nvcc("streams.cu", "-cudart=shared", "-arch=compute_100"))
    assert "HALFWARP_EMULATOR_CC=10.0" in errors[0]


def test_code_for_exactly_this_device_is_taken(nvcc, run):
    assert run(nvcc("kernels.cu", "-cudart=shared", "-arch=sm_90a")) == (OUTPUT, [])


@pytest.mark.parametrize("mode", ["none", "speed", "size"])
def test_a_fat_binary_is_loaded_from_its_file(nvcc, mode):
    """The padding at its end belongs to the file."""
    path = nvcc("more_kernels.cu", "-fatbin", "-arch=sm_90", f"--compress-mode={mode}")
    driver.cuInit(0)
    code, library = driver.cuLibraryLoadFromFile(str(path).encode(), [], [], 0, [], [], 0)
    assert code == driver.CUresult.CUDA_SUCCESS
    assert driver.cuLibraryUnload(library) == (driver.CUresult.CUDA_SUCCESS,)
