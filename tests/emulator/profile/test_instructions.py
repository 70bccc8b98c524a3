# SPDX-License-Identifier: Apache-2.0
"""Counters and advice of single instructions, without a run: each number is worked out by hand."""

from types import SimpleNamespace

import pytest
from cuda.core.emulation.profiling import counts
from cuda.core.emulation.profiling.advice import advice_on
from cuda.core.emulation.profiling.counters import opcode_of, values_of
from cuda.core.emulation.profiling.profile import Profile


def instruction(text, counters=None, **fields):
    """Return an instruction that four full warps executed, two of them active together."""
    defaults = {
        "executions": 4,
        "active_executions": 128,
        "active_lanes": 128,
        "branch": None,
        "is_result_unused": False,
        "lane_step": None,
        "counters": counters or {},
    }
    return SimpleNamespace(text=text, **{**defaults, **fields})


def positive(text, **fields):
    return {name: value for name, value in values_of(instruction(text, **fields)).items() if value}


BASE = {"instructions": 4, "thread_instructions": 128}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("add.s32 %r1, %r2, %r3;", ["add", "s32"]),
        ("@%p1 bra $L;", ["bra"]),
        ("@!%p1 ret;", ["ret"]),
        ("exit;", ["exit"]),
    ],
)
def test_parts_of_a_mnemonic(text, parts):
    assert opcode_of(text) == parts


@pytest.mark.parametrize(
    ("text", "name", "elements"),
    [
        ("add.f32 %f1, %f2, %f3;", "single_precision_add", 1),
        ("sub.rn.f64 %d1, %d2, %d3;", "double_precision_add", 1),
        ("mul.f16x2 %h1, %h2, %h3;", "half_precision_mul", 2),
        ("fma.rn.bf16 %h1, %h2, %h3, %h4;", "half_precision_fma", 1),
        ("mad.f32x2 %f1, %f2, %f3, %f4;", "single_precision_fma", 2),
        ("fma.rn.bf16x2 %h1, %h2, %h3, %h4;", "half_precision_fma", 2),
    ],
)
def test_operations_of_floating_numbers_are_counted_by_lanes(text, name, elements):
    expected = {**BASE, "arithmetic_instructions": 4, name: 128 * elements}
    assert positive(text) == expected


@pytest.mark.parametrize(
    "text", ["add.s32 %r1, %r2, %r3;", "cvt.f32.s32 %f, %r;", "neg.f32 %a, %b;"]
)
def test_other_instructions_have_no_operations(text):
    assert not {name for name in positive(text) if "precision" in name}


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%a};", 128 * 2 * 16 * 8 * 16),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%a};", 128 * 2 * 64 * 8 * 16 // 4),
        ("wgmma.fence.sync.aligned;", 0),
    ],
)
def test_operations_of_matrices(text, operations):
    assert positive(text).get("matrix_operations", 0) == operations


@pytest.mark.parametrize(
    ("text", "barriers"),
    [
        ("bar.sync 0;", 128),
        ("barrier.sync.aligned 0;", 128),
        ("bar.warp.sync -1;", 0),
        ("barrier.cluster.wait;", 0),
        ("bar.arrive 1, 64;", 0),
    ],
)
def test_barriers_of_a_block(text, barriers):
    assert positive(text).get("barriers", 0) == barriers


@pytest.mark.parametrize(("is_conditional", "branches"), [(True, 4), (False, 0)])
def test_only_conditional_branches_are_counted(is_conditional, branches):
    branch = SimpleNamespace(is_conditional=is_conditional, divergent=3)
    values = positive("@%p bra $L;", branch=branch)
    assert values.get("branches", 0) == branches
    assert values.get("divergent_branches", 0) == (3 if is_conditional else 0)


@pytest.mark.parametrize(
    ("text", "counter", "is_unused", "name"),
    [
        ("ld.global.u32 %r, [%a];", "global_sectors", False, "global_load_sectors"),
        ("st.shared.u32 [%a], %r;", "shared_bytes", False, "shared_store_bytes"),
        ("cp.async.ca.shared.global [%a], [%b], 4;", "global_bytes", False, "global_copy_bytes"),
        ("atom.global.add.u32 %r, [%a], 1;", "global_bytes", False, "global_atomic_bytes"),
        ("atom.global.add.u32 %r, [%a], 1;", "global_bytes", True, "global_reduction_bytes"),
        ("atom.global.cas.b32 %r, [%a], 1, 2;", "global_bytes", True, "global_atomic_bytes"),
        ("red.global.add.u32 [%a], 1;", "global_bytes", False, "global_reduction_bytes"),
        ("red.shared.add.u32 [%a], 1;", "shared_bytes", False, "shared_atomic_bytes"),
        ("red.global.add.u32 [%a], 1;", "atomic_repeats", False, "atomic_repeats"),
    ],
)
def test_accesses_are_counted_by_space_and_operation(text, counter, is_unused, name):
    values = values_of(instruction(text, {counter: 7}, is_result_unused=is_unused))
    assert values[name] == 7


class TestAdvice:
    @staticmethod
    def on(text, counters, **fields):
        return list(advice_on("f.cu", 3, [instruction(text, counters, **fields)]))

    @staticmethod
    def sectors(count, size=4, requests=4):
        return {"global_requests": requests, "global_bytes": 128 * size, "global_sectors": count}

    def test_distant_lanes(self):
        (text,) = self.on("ld.global.u32 %r, [%a];", self.sectors(64), lane_step=-16)
        assert text == (
            "f.cu:3: neighboring lanes load 4 bytes at a distance of 16 bytes, which needs 16 "
            "sectors of 32 bytes for each request instead of 4; let neighboring lanes access "
            "neighboring elements"
        )

    def test_a_shifted_warp(self):
        (text,) = self.on("st.global.u32 [%a], %r;", self.sectors(20), lane_step=4)
        assert text == (
            "f.cu:3: the stores of a warp start inside a sector, which needs 5 sectors of 32 bytes "
            "for each request instead of 4; a start at a multiple of 32 bytes avoids it"
        )

    @pytest.mark.parametrize(
        ("counters", "fields"),
        [
            ((16, 4, 4), {"lane_step": 4}),  # the fewest sectors
            ((64, 4, 4), {"lane_step": None}),  # no constant distance
            ((64, 4, 3), {"lane_step": 16}),  # other requests
            ((64, 4, 4), {"lane_step": 16, "active_lanes": 127}),
            ((17, 4, 4), {"lane_step": 2}),  # lanes overlap
        ],
    )
    def test_other_sectors_are_not_explained(self, counters, fields):
        assert self.on("ld.global.u32 %r, [%a];", self.sectors(*counters), **fields) == []

    @pytest.mark.parametrize(
        ("step", "distance", "lanes", "end"),
        [
            (128, 32, 32, "; a padded row of 33 words has none"),
            (-8, 2, 2, "; a padded row of 3 words has none"),
            (12, 3, 1, ""),
        ],
    )
    def test_conflicts_of_banks(self, step, distance, lanes, end):
        counters = {"shared_conflicts": 9, "shared_bytes": 4 * 128}
        (text,) = self.on("ld.shared.u32 %r, [%a];", counters, lane_step=step)
        assert text == (
            f"f.cu:3: neighboring lanes load words of shared memory at a distance of {distance} "
            f"words: {lanes} lanes share a bank, and the loads have 9 conflicts{end}"
        )

    @pytest.mark.parametrize(
        ("counters", "step"),
        [
            ({"shared_conflicts": 0, "shared_bytes": 512}, 128),
            ({"shared_conflicts": 9, "shared_bytes": 1024}, 128),  # of 8 bytes
            ({"shared_conflicts": 9, "shared_bytes": 512}, 6),
            ({"shared_conflicts": 9, "shared_bytes": 512}, None),
        ],
    )
    def test_other_conflicts_are_not_explained(self, counters, step):
        assert self.on("ld.shared.u32 %r, [%a];", counters, lane_step=step) == []

    def test_one_address_of_a_warp(self):
        counters = {"atomic_addresses": 128, "atomic_repeats": 5}
        (text,) = self.on("red.global.add.u32 [%a], 1;", counters)
        assert text.startswith("f.cu:3: all lanes of a warp update one address: 128 operations, ")
        for text, wrong in (
            ("atom.global.cas.b32 %r, [%a], 1, 2;", {}),
            ("red.global.add.u32 [%a], 1;", {"atomic_addresses": 127}),
            ("red.global.add.u32 [%a], 1;", {"atomic_repeats": 0}),
        ):
            assert self.on(text, {**counters, **wrong}) == []

    def test_instructions_without_accesses_have_none(self):
        assert self.on("add.s32 %r1, %r2, %r3;", self.sectors(64), lane_step=16) == []
        assert self.on("ld.global.u32 %r, [%a];", {}, lane_step=16) == []

    def test_equal_advice_of_a_line_is_given_once(self):
        load = instruction("ld.global.u32 %r, [%a];", self.sectors(64), lane_step=16)
        assert len(list(advice_on("f.cu", 3, [load, load]))) == 1


def test_the_last_line_of_a_source_has_its_text():
    assert [counts._line_of(["a", "b"], line) for line in (1, 2, 3)] == ["a", "b", ""]


def test_a_profile_is_used_once(emulated):
    profile = Profile()
    with profile:
        with pytest.raises(RuntimeError, match="this profile was used already"):
            profile.__enter__()
    for used in (profile, Profile.from_records([])):
        with pytest.raises(RuntimeError, match="this profile was used already"):
            used.__enter__()
    assert profile.kernels == []
