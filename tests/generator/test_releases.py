# SPDX-License-Identifier: Apache-2.0
"""Releases and variants, from headers of function pointer types."""

import pytest

from generator import releases
from generator.decisions import FunctionDecision
from generator.facts import FactFunction
from generator.model import Function
from generator.resolution.resolve import older_variant

HEADER = """
typedef CUresult (CUDAAPI *PFN_cuTime_v2000)(float *ms, CUevent first,
                                             CUevent last);
typedef CUresult (CUDAAPI *PFN_cuTime_v12080)(float *pMilliseconds, CUevent hStart, CUevent hEnd);
typedef CUresult (CUDAAPI *PFN_cuTime_v11000)(float *ms, CUevent first);
typedef CUresult (CUDAAPI *PFN_cuTime_v7000_ptsz)(float *ms);
typedef CUresult (CUDAAPI *PFN_cuSync_v2000)(void);
"""


def test_each_release_has_the_types_of_its_variant():
    releases_by_name = releases.read([HEADER])
    assert (
        releases_by_name["cuTime"][2000]
        == releases_by_name["cuTime"][12080]
        == ("float *", "CUevent", "CUevent")
    )
    assert releases_by_name["cuTime"][11000] == ("float *", "CUevent")
    assert releases_by_name["cuSync"] == {2000: ("void",)}


def test_per_thread_stream_variants_are_no_separate_releases():
    assert 7000 not in releases.read([HEADER])["cuTime"]


def test_only_older_variants_of_equal_types_are_equal_and_older():
    variants = releases.read([HEADER])["cuTime"]
    assert releases.equal_and_older(variants, 12080) == [2000]
    assert releases.equal_and_older(variants, 11000) == []
    assert releases.equal_and_older({}, 5) == []


@pytest.mark.parametrize("number", [2000, 3020, 11040, 12080, 13050])
def test_releases_convert_to_numbers_and_back(number):
    assert releases.number(releases.release(number)) == number


def function(*flags):
    fact = FactFunction("cuTime", "cuTime_v2", "CUresult", [], "cuda.h", "12.8", flags)
    return Function(fact.name, fact.c_name, fact.ret, [], fact.header, fact.since, 12080, flags)


CHOSEN = FunctionDecision(older_variants=True)


def test_the_newest_older_variant_is_used_if_decided():
    assert older_variant(function("also 2.0", "also 3.2"), CHOSEN) == 3020


def test_a_decision_without_the_fact_is_an_error():
    with pytest.raises(ValueError, match="cuTime has no older variant of the same C type"):
        older_variant(function(), CHOSEN)


def test_without_a_decision_no_variant_is_used():
    assert older_variant(function("also 2.0"), FunctionDecision()) == 0


def test_every_decision_about_the_driver_has_its_fact():
    from generator import libraries

    driver = libraries.load("driver")
    chosen = {name for name, one in driver.decisions.functions.items() if one.older_variants}
    assert chosen == {f.name for f in driver.functions if f.older} != set()
