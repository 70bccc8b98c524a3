# SPDX-License-Identifier: Apache-2.0
"""Profiles as objects, tables, HTML and JSON, and the advice that the counters prove."""

import json
import re

import pytest
from cuda.core import Program, ProgramOptions, emulation
from cuda.core.emulation.profiling.counters import DEFINITIONS, SUMMANDS
from cuda.core.emulation.profiling.page import page_of
from cuda.core.emulation.profiling.text import table_of_lines

from .corpus import CASES
from .launching import compiled, launch_with_arrays, run

pytestmark = pytest.mark.usefixtures("emulated")
SOURCES = {case.name: case.source for case in CASES}
FUNCTION = """template <class T> __device__ T next(const T* a, int i) {
    return a[2 * i];
}
namespace inner {
template <class T> __global__ void scale(const T* a, T* b, int* c) {
    b[threadIdx.x] = 2 * next(a, threadIdx.x);
}
}
template __global__ void inner::scale<float>(const float*, float*, int*);
"""


@pytest.fixture
def saved(tmp_path):
    """Save a source and return the profile of its kernel."""

    def profile_of(source, name="kernel", **options):
        path = tmp_path / "saved.cu"
        path.write_text(source)
        return run(compiled(source, path, name), **options)

    return profile_of


def test_a_kernel_is_found_by_its_short_and_its_full_name(saved):
    mangled = "_ZN5inner5scaleIfEEvPKT_PS1_Pi"
    profile = saved(FUNCTION, mangled)
    assert profile["scale"].full_name == profile[mangled].full_name == mangled
    assert [each.name for each in profile] == ["scale"]


def test_texts_of_counters_name_kernel_and_line(saved):
    kernel = saved(SOURCES["load_neighbors"], launches=2)["kernel"]
    assert repr(kernel) == f"<kernel, 2 launches: {kernel.as_dict()}>"
    line = kernel.at(3)
    assert repr(line) == f"<{line.file}:3 {line.as_dict()}>"
    assert "'global_load_requests': 16" in repr(line)


def test_the_last_line_of_a_source_is_found(saved):
    source = 'extern "C" __global__ void kernel(float* a, float* b, int* c) { b[0] = a[0]; }'
    assert saved(source)["kernel"].at(1).source == source


def test_an_unknown_kernel_is_an_error_that_lists_the_launched_ones(saved):
    with pytest.raises(KeyError, match=r"no kernel 'scal' .* launched kernels: kernel"):
        saved(SOURCES["load_neighbors"])["scal"]


def test_an_unknown_counter_is_an_attribute_error(saved):
    kernel = saved(SOURCES["load_neighbors"])["kernel"]
    with pytest.raises(AttributeError, match="no counter 'cycles'"):
        _ = kernel.cycles
    assert set(dir(kernel)) >= {*DEFINITIONS, *SUMMANDS, "lines", "advice"}


def test_launches_add_up_or_stay_separate(saved):
    source = SOURCES["load_neighbors"]
    assert saved(source, launches=3)["kernel"].global_load_requests == 3 * 8
    separate = saved(source, launches=3, per_launch=True)
    assert [each.global_load_requests for each in separate] == [8, 8, 8]
    assert separate.kernels[0].grid == (2, 1, 1)
    assert separate.kernels[0].block == (128, 1, 1)
    with pytest.raises(KeyError, match="several kernels or launches"):
        separate["kernel"]


def test_lines_belong_to_the_code_of_inlined_functions(saved):
    kernel = saved(FUNCTION, "_ZN5inner5scaleIfEEvPKT_PS1_Pi", grid=1, block=32)["scale"]
    load, store = kernel.at(2), kernel.at(6)
    assert (load.global_load_sectors, load.global_store_sectors) == (8, 0)
    assert (store.global_load_sectors, store.global_store_sectors) == (0, 4)
    assert load.source == "    return a[2 * i];"
    with pytest.raises(KeyError, match="no such line has code"):
        kernel.at(3)


def test_a_program_that_is_compiled_during_a_profile_gets_lines():
    options = ProgramOptions(arch="sm_90", name="compiled.cu")
    with emulation.profile() as profile:
        code = Program(SOURCES["load_stride_2"], "c++", options).compile("cubin")
        launch_with_arrays(code.get_kernel("kernel"))
    assert profile["kernel"].at(3, "compiled.cu").global_load_sectors == 64


def test_code_without_line_information_has_the_lines_of_the_ptx():
    from cuda.core import ObjectCode

    ptx = """.version 8.0
.target sm_75
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 c) {
  .reg .b64 %rd<2>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [c];
  st.global.u32 [%rd1], 1;
  ret;
}"""
    kernel = run(ObjectCode.from_ptx(ptx.encode()).get_kernel("kernel"))["kernel"]
    assert kernel.at(7, "PTX").global_store_requests == 8
    assert kernel.at(7).source == "  st.global.u32 [%rd1], 1;"


def test_ratios_divide_the_counters(saved):
    halves = saved(SOURCES["pairs_of_halves"])["kernel"]
    assert halves.operations_per_byte == 128 / 256
    odd = saved(SOURCES["load_odd_lanes"])["kernel"]
    assert odd.sectors_per_request == 4
    assert odd.global_efficiency == 16 * 4 / (4 * 32)
    assert 16 < odd.lanes_per_instruction < 32
    assert saved(SOURCES["two_barriers"])["kernel"].operations_per_byte == 0


def test_a_profile_is_used_once():
    profile = emulation.profile()
    with pytest.raises(RuntimeError, match="in a with statement"):
        profile.kernels  # noqa: B018
    with profile:
        assert len(profile) == 0
    assert str(profile) == "no kernel was launched"
    with pytest.raises(RuntimeError, match="used already"), profile:
        pass


def test_launches_outside_of_the_block_are_not_counted():
    kernel = compiled(SOURCES["load_neighbors"])
    launch_with_arrays(kernel)
    with emulation.profile() as profile:
        launch_with_arrays(kernel)
        assert profile["kernel"].launches == 1
    launch_with_arrays(kernel)
    assert profile["kernel"].launches == 1


def test_the_table_has_a_row_for_each_kernel_and_only_used_columns(saved):
    head, row, *advice = str(saved(SOURCES["load_stride_2"])).splitlines()
    assert head.split() == [
        "kernel", "launches", "instructions", "lanes", "requests", "sectors", "efficiency",
    ]  # fmt: skip
    assert row.split()[:2] == ["kernel", "1"] and row.split()[3:] == ["32", "16", "96", "67%"]
    assert len(advice) == 1


def test_the_lines_of_a_kernel_are_a_table(saved):
    text = table_of_lines(saved(SOURCES["shared_stride_2"])["kernel"])
    assert "conflicts" in text.splitlines()[0]
    assert any(row.split()[0] == "3" and "s[2 * t]" in row for row in text.splitlines()[1:])


def test_the_page_shows_the_source_beside_the_counts(saved):
    profile = saved(SOURCES["load_stride_2"].replace("lane = t % 32;", "lane = t % 32; // <a&b>"))
    page = page_of(profile.kernels, profile.advice)
    assert "&lt;a&amp;b&gt;" in page and "<a&b>" not in page
    assert '<td class="line">3</td>' in page and "linear-gradient" in page
    assert profile._repr_html_() in page


def test_the_record_is_json(saved):
    record = json.loads(json.dumps(saved(SOURCES["load_stride_2"]).as_dict()))
    (kernel,) = record["kernels"]
    assert kernel["counters"]["global_load_sectors"] == 64
    (line,) = (each for each in kernel["lines"] if each["line"] == 3)
    assert line["counters"]["global_load_sectors"] == 64


ADVICE = {
    "load_stride_2": r"load 4 bytes at a distance of 8 bytes, which needs 8 sectors .* of 4;",
    "load_after_one_element": r"loads of a warp start inside a sector, which needs 5 .* of 4;",
    "store_stride_32": r"store 4 bytes at a distance of 128 bytes, which needs 32 sectors",
    "shared_stride_32": r"32 lanes share a bank, .*; a padded row of 33 words has none",
    "shared_stride_2": r"2 lanes share a bank, .*; a padded row of 3 words has none",
    "reduction_to_one_float": r"update one address: 256 operations, of which 8 remain",
}
SILENT = {
    "load_neighbors",
    "load_one_word",
    "load_reversed",
    "load_pairs",
    "load_half_of_the_lanes",
    "load_one_lane",
    "store_neighbors",
    "shared_neighbors",
    "shared_stride_33",
    "shared_broadcast",
    "shared_double",
    "shared_float4",
    "reduction_of_neighbors",
    "reduction_to_four_floats",
    "atomic_with_result",
    "two_barriers",
    "local_array",
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_names_the_line_and_the_remedy(saved, name):
    advice = saved(SOURCES[name]).advice
    assert advice
    for text in advice:
        assert ".cu:3: " in text
    assert any(re.search(ADVICE[name], text) for text in advice)


@pytest.mark.parametrize("name", sorted(SILENT))
def test_a_kernel_that_nothing_is_wrong_with_gets_no_advice(saved, name):
    assert saved(SOURCES[name]).advice == []


def test_a_padded_row_as_advised_removes_the_conflicts(saved):
    source = SOURCES["shared_stride_32"]
    padded = source.replace("32 * ", "33 * ").replace("4096", "4224")
    assert saved(source)["kernel"].bank_conflicts == 2 * 8 * 31
    assert saved(padded)["kernel"].bank_conflicts == 0
