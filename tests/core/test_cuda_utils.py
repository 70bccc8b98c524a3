# SPDX-License-Identifier: Apache-2.0
"""Private helpers that existing code imports."""

import multiprocessing

import pytest
from cuda.bindings import driver, nvrtc, runtime
from cuda.core import CUDAError, NVRTCError
from cuda.core._utils import cuda_utils, version

SUCCESS = driver.CUresult.CUDA_SUCCESS


class TestHandleReturn:
    @pytest.mark.parametrize(
        ("values", "expected"), [((), None), ((5,), 5), ((5, "x"), (5, "x")), ((None,), None)]
    )
    def test_success_returns_the_values(self, values, expected):
        assert cuda_utils.handle_return((SUCCESS, *values)) == expected

    def test_a_driver_error_is_raised(self):
        with pytest.raises(CUDAError, match="^CUDA_ERROR_INVALID_VALUE: "):
            cuda_utils.handle_return((driver.CUresult.CUDA_ERROR_INVALID_VALUE,))

    def test_an_nvrtc_error_is_raised_with_the_log(self):
        error, program = nvrtc.nvrtcCreateProgram(b"no such thing", b"n.cu", 0, [], [])
        assert not error
        result = nvrtc.nvrtcCompileProgram(program, 0, [])
        with pytest.raises(NVRTCError, match="^6: NVRTC_ERROR_COMPILATION") as caught:
            cuda_utils.handle_return(result, program)
        assert "compilation log" in str(caught.value)
        with pytest.raises(NVRTCError) as caught:
            cuda_utils.handle_return(result)
        assert "compilation log" not in str(caught.value)
        nvrtc.nvrtcDestroyProgram(program)

    @pytest.mark.parametrize(
        ("status", "size", "log"), [(0, 0, None), (0, 1, None), (0, 2, "x"), (1, 2, None)]
    )
    def test_a_log_has_a_character_before_its_nul(self, monkeypatch, status, size, log):
        def write(program, buffer):
            buffer[:] = b"x\0"

        monkeypatch.setattr(nvrtc, "nvrtcGetProgramLogSize", lambda program: (status, size))
        monkeypatch.setattr(nvrtc, "nvrtcGetProgramLog", write)
        assert cuda_utils._program_log(7) == log

    def test_every_status_of_nvrtc_but_success_is_an_error(self):
        for status in nvrtc.nvrtcResult:
            if status == nvrtc.nvrtcResult.NVRTC_SUCCESS:
                assert cuda_utils.handle_return((status, 3)) == 3
            else:
                with pytest.raises(CUDAError, match=status.name):
                    cuda_utils.handle_return((status,))

    @pytest.mark.parametrize("name", ["CUresult", "cudaError_t", "nvrtcResult"])
    def test_a_status_is_not_recognized_by_the_name_of_its_class(self, name):
        with pytest.raises(RuntimeError, match="Unknown error type"):
            cuda_utils.handle_return((type(name, (int,), {})(0), 1))

    @pytest.mark.parametrize("status", [0, None, "CUDA_SUCCESS"])
    def test_an_unknown_status_type_is_refused(self, status):
        with pytest.raises(RuntimeError, match="Unknown error type"):
            cuda_utils.handle_return((status,))

    def test_a_runtime_status_is_reported_by_its_class(self):
        assert cuda_utils.handle_return((runtime.cudaError_t.cudaSuccess, 1)) == 1
        status = runtime.cudaError_t.cudaErrorInvalidValue
        with pytest.raises(CUDAError, match="^cudaErrorInvalidValue: ") as caught:
            cuda_utils.handle_return((status,))
        assert (caught.value.code, caught.value.name) == (int(status), status.name)


@pytest.mark.parametrize(
    ("value", "expected"), [(4, (4, 1, 1)), ((), (1, 1, 1)), ((2, 3), (2, 3, 1)), ((1, 2, 3),) * 2]
)
def test_missing_dimensions_are_filled_with_ones(value, expected):
    assert cuda_utils.cast_to_3_tuple("grid", value) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([4], "grid must be an int, or a tuple with up to 3 ints"),
        ((1, 2, 3, 4), "grid must be an int, or a tuple with up to 3 ints"),
        (("1",), "grid must be an int, or a tuple with up to 3 ints"),
        (None, "grid must be an int, or a tuple with up to 3 ints"),
        ((0, 1), "grid values must be >= 1"),
    ],
)
def test_other_sizes_are_refused(value, text):
    with pytest.raises(ValueError, match=text):
        cuda_utils.cast_to_3_tuple("grid", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, (0, 1)),
        (255, (255, 1)),
        (b"a", (97, 1)),
        (b"ab", (0x6261, 2)),
        (b"abcd", (0x64636261, 4)),
    ],
)
def test_fill_values_have_one_two_or_four_bytes(value, expected):
    assert cuda_utils._parse_fill_value(value) == expected


@pytest.mark.parametrize(
    ("value", "error"),
    [(256, OverflowError), (-1, OverflowError), (b"abc", ValueError), ("x", TypeError)],
)
def test_other_fill_values_are_refused(value, error):
    with pytest.raises(error):
        cuda_utils._parse_fill_value(value)


def test_sequences_and_nested_ones():
    assert cuda_utils.is_sequence([])
    assert not cuda_utils.is_sequence({})
    assert cuda_utils.is_nested_sequence([1, (2,)])
    assert not cuda_utils.is_nested_sequence([1, 2])


def test_flags_are_formatted_for_compilers():
    assert cuda_utils._handle_boolean_option(True) == "true"
    assert cuda_utils._handle_boolean_option(None) == "false"


def test_a_precondition_runs_first_with_the_same_arguments():
    calls = []

    def checker(*args, what, **kwargs):
        calls.append((args, kwargs, what))

    @cuda_utils.precondition(checker, "thing")
    def method(self, x, y=2):
        """Add."""
        return x + y

    assert method(None, 1, y=3) == 4
    assert calls == [((None, 1), {"y": 3}, "thing")]
    assert (method.__name__, method.__doc__) == ("method", "Add.")


class TestTransaction:
    def test_leaving_without_commit_undoes_steps_in_reverse_order(self):
        log = []
        with cuda_utils.Transaction() as steps:
            steps.append(log.append, 1)
            steps.append(log.append, 2)
        assert log == [2, 1]

    def test_commit_keeps_the_steps(self):
        log = []
        with cuda_utils.Transaction() as steps:
            steps.append(log.append, 1)
            steps.commit()
        assert log == []

    def test_an_exception_propagates_after_undoing(self):
        log = []
        with pytest.raises(KeyError), cuda_utils.Transaction() as steps:
            steps.append(log.append, 1)
            raise KeyError
        assert log == [1]

    def test_a_failed_undo_does_not_skip_the_others(self):
        log = []
        with pytest.raises(ValueError), cuda_utils.Transaction() as steps:
            steps.append(log.append, 1)
            steps.append(int, "x")
            steps.append(log.append, 2)
            raise KeyError
        assert log == [2, 1]


class TestForkWarning:
    @pytest.fixture(autouse=True)
    def fresh(self):
        cuda_utils.reset_fork_warning()
        yield
        cuda_utils.reset_fork_warning()

    @pytest.mark.parametrize("method", ["fork", None])
    def test_forking_warns_once(self, monkeypatch, method):
        monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none=False: method)
        monkeypatch.setattr("sys.version_info", (3, 12))
        with pytest.warns(UserWarning, match="fork.*undefined behavior.*spawn") as caught:
            cuda_utils.check_multiprocessing_start_method()
            cuda_utils.check_multiprocessing_start_method()
        assert len(caught) == 1

    @pytest.mark.parametrize(("platform", "release"), [("darwin", (3, 12)), ("linux", (3, 14))])
    def test_other_defaults_do_not_warn(self, monkeypatch, recwarn, platform, release):
        monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none=False: None)
        monkeypatch.setattr("sys.platform", platform)
        monkeypatch.setattr("sys.version_info", release)
        cuda_utils.check_multiprocessing_start_method()
        assert not recwarn

    def test_spawning_does_not_warn(self, monkeypatch, recwarn):
        monkeypatch.setattr(multiprocessing, "get_start_method", lambda allow_none=False: "spawn")
        cuda_utils.check_multiprocessing_start_method()
        assert not recwarn


def test_versions_have_three_numbers(device):
    assert version.binding_version() == (13, 5, 0)
    major, minor, patch = version.driver_version()
    assert (SUCCESS, 1000 * major + 10 * minor + patch) == driver.cuDriverGetVersion()
    assert 0 <= minor < 100 and 0 <= patch < 10
    assert cuda_utils.get_binding_version is version.binding_version
    assert cuda_utils.get_driver_version is version.driver_version


def test_the_digits_of_the_version_of_a_driver(monkeypatch):
    monkeypatch.setattr("cuda.core._core.cuda_driver_version", lambda: 12047)
    assert version.driver_version.__wrapped__() == (12, 4, 7)


def test_the_bindings_are_reachable():
    assert cuda_utils.driver is driver
    assert cuda_utils.nvrtc is nvrtc
    assert cuda_utils.runtime is runtime
    with pytest.raises(AttributeError):
        _ = cuda_utils.nothing
