# SPDX-License-Identifier: Apache-2.0
"""The script that builds and runs the public CUDA samples reads their CMake files."""

from pathlib import Path

import pytest

from tests.programs import cuda_samples

DESCRIPTION = """
find_package(CUDAToolkit REQUIRED)
add_executable(copies copies.cu host.cpp)
set_target_properties(copies PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
target_link_libraries(copies PUBLIC CUDA::cuda_driver)
set(CUDA_FATBIN_FILE "${CMAKE_CURRENT_BINARY_DIR}/copies_kernel64.fatbin")
set(CUDA_KERNEL_SOURCE "${CMAKE_CURRENT_SOURCE_DIR}/copies_kernel.cu")
"""


@pytest.fixture
def checkout(tmp_path):
    def checkout(description):
        folder = tmp_path / "Samples" / cuda_samples.THEMES[0] / "copies"
        folder.mkdir(parents=True)
        (folder / "CMakeLists.txt").write_text(description)
        return tmp_path

    return checkout


def test_a_sample_is_built_as_its_description_says(checkout):
    (sample,) = cuda_samples.find_samples(checkout(DESCRIPTION), [])
    code, program = sample.build_commands("/cuda/bin/nvcc", Path("/emulated"))
    assert code[-4:] == ["-fatbin", "-o", "copies_kernel64.fatbin", "copies_kernel.cu"]
    assert {"-rdc=true", "-cudart=shared", "-L/emulated", "-I.", "copies.cu", "host.cpp"} <= set(
        program
    )
    assert program[-2:] == ["-o", "copies"]


@pytest.mark.parametrize(
    "needed", ["find_package(OpenGL)", "target_link_libraries(x CUDA::cublas)"]
)
def test_samples_of_graphics_and_libraries_are_left_out(checkout, needed):
    assert cuda_samples.find_samples(checkout(DESCRIPTION + needed), []) == []
