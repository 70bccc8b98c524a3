# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the C++ tests, which pytest does nowhere else."""

import os

import pytest

from .. import cpp_programs


@pytest.fixture(scope="module")
def built():
    output = cpp_programs.build_shared()
    if cpp_programs.NO_GTEST in output:
        pytest.skip("the C++ tests did not run: GoogleTest cannot be had (Debian: libgtest-dev)")
    return cpp_programs.FOLDER


def run_tests(folder, *options):
    # Other tests set CUDA_MODULE_LOADING, which decides when programs load their code.
    environment = {name: v for name, v in os.environ.items() if not name.startswith("CUDA_")}
    command = ["ctest", "--test-dir", folder, "--output-on-failure", "--timeout", "900", *options]
    return cpp_programs.run(command, env=environment)


@pytest.mark.timeout(1800)  # compiles the sources, also on a busy machine with one core
def test_the_cpp_tests_pass(built):
    output = run_tests(built, f"-j{os.cpu_count()}")
    assert "No tests were found" not in output


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_threads_that_share_a_pool_have_no_data_race():
    """Run ThreadSanitizer over cpp/core; the emulator's library below it is not instrumented."""
    folder = cpp_programs.ROOT / "build" / "tests-threads"
    options = {"HALFWARP_TEST_FOLDERS": "core_on_driver", "HALFWARP_SANITIZE": "thread"}
    if cpp_programs.NO_GTEST in cpp_programs.configure(folder, **options):
        pytest.skip("GoogleTest cannot be had (Debian: libgtest-dev)")
    cpp_programs.build(folder)
    for _ in range(5):
        assert "100% tests passed" in run_tests(folder)
