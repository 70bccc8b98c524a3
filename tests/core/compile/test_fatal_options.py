# SPDX-License-Identifier: Apache-2.0
"""Option values for which NVRTC or nvJitLink would end the process are errors instead."""

import pytest
from cuda.bindings.nvjitlink import nvJitLinkError
from cuda.core import Linker, LinkerOptions, NVRTCError, ObjectCode, Program, ProgramOptions
from cuda.core.compile import fatal_options

SOURCE = 'extern "C" __global__ void twice(float* x) { *x *= 2; }'
PTX = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"


def compiled(**options):
    return Program(SOURCE, "c++", ProgramOptions(arch="sm_90", **options)).compile("cubin").code


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"ptxas_options": "\t"}, "the value is blank"),
        ({"ptxas_options": ["-v", ""]}, "the value is blank"),
        ({"ofast_compile": ""}, "the value is blank"),
        ({"split_compile": 1 << 33}, "at most 1024 threads are supported"),
        ({"split_compile": 1 << 70}, "at most 1024 threads are supported"),
        ({"split_compile": "1000000"}, "at most 1024 threads are supported"),
        ({"split_compile": -(1 << 63)}, "at most 1024 threads are supported"),
        ({"split_compile": -1}, "at most 1024 threads are supported"),
        ({"split_compile": "0x2000"}, "at most 1024 threads are supported"),
        ({"split_compile": "٩٩٩٩"}, "at most 1024 threads are supported"),
        ({"ptxas_options": "--split-compile=9999"}, "of ptxas: at most 1024 threads"),
        ({"ptxas_options": "-v -split-compile  9999"}, "of ptxas: at most 1024 threads"),
        ({"ptxas_options": ["--split-compile", "9999"]}, "of ptxas: at most 1024 threads"),
    ],
)
def test_a_value_that_ends_nvrtc_is_refused(options, reason):
    with pytest.raises(NVRTCError, match=reason) as caught:
        compiled(**options)
    assert "NVRTC_ERROR_INVALID_OPTION" in str(caught.value)


def test_a_trace_file_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "used.json").mkdir()
    for name in ("missing/trace", "used"):
        with pytest.raises(NVRTCError, match="the trace file '.*' cannot be written"):
            compiled(fdevice_time_trace=tmp_path / name)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "used.json"]


@pytest.mark.parametrize(
    ("number", "is_fatal"),
    [("1", False), ("1024", False), ("00001024", False), ("1025", True), ("-1", True), ("", True)],
)
def test_the_number_of_threads_is_bounded(number, is_fatal):
    for option in (f"--split-compile={number}", f"-Xptxas=-v -split-compile={number}"):
        problem = fatal_options.problem_of([b"-v", option.encode()])
        is_read = number[:1].isdigit() or not option.startswith("-X")  # ptxas refuses other words
        assert bool(problem) == (is_fatal and is_read)


def test_the_check_of_a_trace_file_leaves_the_folder_as_it_was(tmp_path):
    option = f"--fdevice-time-trace={tmp_path / 'trace'}".encode()
    assert fatal_options.problem_of([option]) == "" and list(tmp_path.iterdir()) == []
    (tmp_path / "trace.json").write_text("earlier")
    assert fatal_options.problem_of([option]) == ""
    assert (tmp_path / "trace.json").read_text() == "earlier"


def test_other_values_compile(tmp_path):
    ptxas_options = ["-v", "--split-compile=2"]
    trace = tmp_path / "trace"
    assert compiled(ptxas_options=ptxas_options, split_compile=2, fdevice_time_trace=trace)
    assert (tmp_path / "trace.json").stat().st_size > 0


@pytest.mark.parametrize(
    "options",
    [
        {"ptxas_options": " "},
        {"ptxas_options": "--split-compile=9999"},
        {"split_compile": 9999},
        {"split_compile_extended": 9999},
        {"split_compile_extended": -1},
    ],
)
def test_a_value_that_ends_nvjitlink_is_refused(options):
    options = LinkerOptions(arch="sm_90", **options)
    with pytest.raises(nvJitLinkError, match="blank|at most 1024 threads"):
        Linker(ObjectCode.from_ptx(PTX), options=options)


@pytest.mark.parametrize("kind", ["cubin", "fatbin", "object", "library"])
def test_a_damaged_input_of_a_linker_is_refused(tmp_path, kind):
    image = b"\x7fELF" + bytes(range(3, 250))
    (tmp_path / "damaged").write_bytes(image)
    for source in (image, tmp_path / "damaged"):
        code = getattr(ObjectCode, f"from_{kind}")(source, name="broken")
        with pytest.raises(nvJitLinkError, match="broken: the image is damaged"):
            Linker(code, options=LinkerOptions(arch="sm_90"))


def test_the_name_of_a_linker_has_no_nul():
    with pytest.raises(ValueError, match="the name of the options has a NUL"):
        Linker(ObjectCode.from_ptx(PTX), options=LinkerOptions(arch="sm_90", name="my\0linker"))
