# SPDX-License-Identifier: Apache-2.0
"""The comparison of the emulator with OpenMP: each kernel computes what its twin computes."""

import pytest

from benchmarks import emulator_speed, environments


def test_each_kernel_has_a_time_beside_its_twin():
    pytest.importorskip("numpy", reason="NumPy is not installed")
    if not environments.find_compiler():
        pytest.skip("there is no C compiler")
    rows = emulator_speed.measure(threads=1, rounds=1)
    assert [row["kernel"] for row in rows] == ["saxpy", "matmul", "reduction"]
    assert all(row["emulated"] > 0 < row["openmp"] for row in rows)


@pytest.mark.parametrize("option", ["--threads", "--rounds"])
@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_a_number_below_one_is_refused(option, text, capsys):
    with pytest.raises(SystemExit):
        emulator_speed.main([f"{option}={text}"])
    message = f"argument {option}: a number from 1 on is needed, not {text!r}"
    assert message in capsys.readouterr().err
