# SPDX-License-Identifier: Apache-2.0
"""Registration and launch as in nvcc's host code, by programs that need no nvcc."""

import shutil

import pytest
from cuda.core.emulation import library

OUTPUTS = {
    "launches": "115 117",
    "symbols": "0 0 0 4 40 1 13 21 21",
    "errors": "98 0 98 98 9 9 9 9 0",
    "configurations": "2 22 52 1 11",
    "reset": "6 8 7 9 1",
    "unregistered": "98 7",
    "registered_twice": "15 0 6 135",
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_a_registered_program_runs(compiled, run, case):
    assert run(compiled("registered.cpp"), case) == (OUTPUTS[case], [])


def test_devices_have_variables_of_their_own_and_share_managed_ones(compiled, run):
    output, errors = run("--devices", "2", compiled("registered.cpp"), "devices")
    assert (output, errors) == ("7 6 10", [])


def test_a_failed_load_is_repeated(compiled, run):
    program = compiled("registered.cpp")
    output, _ = run(program, "retried", HALFWARP_EMULATOR_FAIL="cuLibraryLoadData:1=2")
    assert output == "2 0"


def test_an_invalid_stream_is_no_invalid_function(compiled, run):
    output, errors = run(compiled("registered.cpp"), "streams")
    assert (output, len(errors)) == ("400", 1)


def test_eager_loading_reports_code_that_is_never_used(compiled, run):
    program = compiled("linked.cpp")
    _, errors = run(program, "none", "unused")
    assert errors == []
    _, errors = run(program, "none", "unused", CUDA_MODULE_LOADING="EAGER")
    assert "compute_121" in errors[0]


def test_registration_does_not_open_the_driver(compiled, run):
    """The option is not valid, which the first call of the driver reports."""
    _, errors = run(compiled("registered.cpp"), "unused", HALFWARP_EMULATOR_MODE="wrong")
    assert errors == []


def test_relocatable_objects_are_linked_without_those_for_newer_devices(compiled, run):
    assert run(compiled("linked.cpp")) == ("0 42", [])


def test_objects_without_code_for_the_device_are_no_kernel_image(compiled, run):
    output, errors = run(compiled("linked.cpp"), "none")
    assert output == "209 0"
    assert "compute_121" in errors[0]


def test_a_program_with_a_search_path_of_its_own_gets_the_emulated_runtime(compiled, run, tmp_path):
    """An RPATH precedes LD_LIBRARY_PATH; the library there has no function."""
    (tmp_path / "libcudart.so.13").write_text("no library")
    options = f"-Wl,-rpath,{tmp_path}", "-Wl,--disable-new-dtags"
    assert run(compiled("registered.cpp", *options), "launches")[0] == OUTPUTS["launches"]


def test_a_program_with_a_search_path_of_its_own_gets_the_emulated_nccl(compiled, run, tmp_path):
    """PyTorch's libraries have such an RPATH."""
    (tmp_path / "libnccl.so.2").write_text("no library")
    options = f"-Wl,-rpath,{tmp_path}", "-Wl,--disable-new-dtags"
    program = compiled("version_of_nccl.cpp", library.communication_path(), *options)
    assert run(program) == ("0 23203", [])


def test_a_program_with_nvidias_runtime_inside_is_named_once(compiled, run):
    program = compiled("export_table.cpp", "-ldl")
    output, errors = run(program)
    assert output == "500 500 500"
    assert len(errors) == 1
    assert f"{program.name} contains NVIDIA's CUDA runtime" in errors[0]
    assert "-cudart shared" in errors[0]


def test_a_program_is_not_named_for_a_table_that_the_runtime_can_do_without(compiled, run):
    assert run(compiled("export_table.cpp", "-ldl"), "other") == ("", [])


def test_a_closed_library_is_named_at_the_first_table_that_it_asks_for(compiled, run, tmp_path):
    """cuFFT queries another table than the runtime does, and then fails."""
    library_file = tmp_path / "libcufft.so.99"
    shutil.copy(compiled("export_table.cpp", "-ldl"), library_file)
    _, errors = run(library_file, "other")
    assert len(errors) == 1
    assert "libcufft.so.99 contains NVIDIA's CUDA runtime and kernels without PTX" in errors[0]


def test_a_closed_library_is_named_that_loads_code_without_ptx(compiled, run, tmp_path):
    """Without NVIDIA's runtime, cuRAND comes as far as that."""
    program = compiled("export_table.cpp", "-ldl")
    library_file = tmp_path / "libcurand.so.99"
    shutil.copy(program, library_file)
    _, errors = run(library_file, "load", "code")
    assert len(errors) == 1
    assert "libcurand.so.99 contains kernels without PTX" in errors[0]
    assert run(program, "load", "code") == ("", [])


def test_the_bindings_of_nvidia_are_named_with_their_replacement(compiled, run, tmp_path):
    module = tmp_path / "cuda" / "bindings" / "runtime.so"
    module.parent.mkdir(parents=True)
    shutil.copy(compiled("export_table.cpp", "-ldl"), module)
    _, errors = run(module)
    assert len(errors) == 1
    assert "runtime.so of the package cuda-bindings" in errors[0]
    assert "install halfwarp in this environment" in errors[0]


def test_a_program_of_cuda_12_gets_the_functions_and_structures_of_that_release(compiled, run):
    program = compiled("earlier.cpp", library.runtime_12_path())
    assert run(program) == ("12090 0\n1 1 9 1 1\n0 0 0 1 1\n0 1 1 0", [])


def test_a_registered_program_of_cuda_12_runs(compiled, run, tmp_path):
    """Most symbols are in libcudart.so.13; the RPATH is not searched."""
    (tmp_path / "libcudart.so.12").write_text("no library")
    path = f"-Wl,-rpath,{tmp_path}", "-Wl,--disable-new-dtags", "-Wl,--no-as-needed"
    program = compiled("registered.cpp", *path, library.runtime_12_path())
    assert run(program, "launches") == (OUTPUTS["launches"], [])


@pytest.mark.parametrize(
    "name, version",
    [("libcudart.so.12", 12090), ("libcudart.so.13", 13050), ("libcudart.so.12.9.79", 12090)],
)
def test_a_runtime_library_that_is_opened_by_its_path_is_the_emulated_one(
    compiled, run, tmp_path, name, version
):
    path = tmp_path / name
    path.write_text("no library")
    assert run(compiled("opened.cpp", "-ldl"), path) == (f"{version} 1", [])


def test_other_libraries_are_opened_at_their_paths(compiled, run, tmp_path):
    path = tmp_path / "libother.so"
    path.write_text("no library")
    output, _ = run(compiled("opened.cpp", "-ldl"), path, status=1)
    assert str(path) in output
