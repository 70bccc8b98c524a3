# SPDX-License-Identifier: Apache-2.0
"""Lists of a struct that share a count are set together."""

import pytest
from cuda.bindings import driver


@pytest.fixture
def params():
    return driver.CUDA_MEMCPY_BATCH_NODE_PARAMS()


def pointers(*values):
    return [driver.CUdeviceptr(v) for v in values]


def test_both_lists_and_their_count_are_set(params):
    params.set_dsts_srcs(pointers(1, 2), pointers(3, 4))
    assert params.count == 2
    assert [int(p) for p in params.dsts] == [1, 2]
    assert [int(p) for p in params.srcs] == [3, 4]


def test_the_lists_can_be_named(params):
    params.set_dsts_srcs(srcs=pointers(3), dsts=pointers(1))
    assert (params.count, int(params.dsts[0]), int(params.srcs[0])) == (1, 1, 3)


def test_empty_lists_clear_all(params):
    params.set_dsts_srcs(pointers(1), pointers(2))
    params.set_dsts_srcs([], [])
    assert (params.count, params.dsts, params.srcs) == (0, [], [])


def test_lists_of_different_length_change_nothing(params):
    params.set_dsts_srcs(pointers(1), pointers(2))
    with pytest.raises(ValueError, match="dsts has 2, srcs has 0"):
        params.set_dsts_srcs(pointers(5, 6), [])
    assert (params.count, int(params.dsts[0])) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [((), {}), (([],), {}), (([], [], []), {}), (([],), {"other": []}), ((1, 2), {})],
    ids=["none", "one", "three", "unknown keyword", "numbers"],
)
def test_wrong_arguments_are_type_errors(params, arguments, keywords):
    with pytest.raises(TypeError):
        params.set_dsts_srcs(*arguments, **keywords)


@pytest.mark.parametrize("name", ["dsts", "srcs"])
def test_a_list_alone_cannot_be_written(params, name):
    params.set_dsts_srcs(pointers(1, 2), pointers(3, 4))
    with pytest.raises(AttributeError, match=rf"{name} shares its count .*use set_dsts_srcs\(\)"):
        setattr(params, name, pointers(5))
    with pytest.raises(AttributeError, match=rf"{name} cannot be deleted"):
        delattr(params, name)
    with pytest.raises(AttributeError, match=rf"{name} shares its count"):
        type(params)(**{name: pointers(5)})
    assert (params.count, len(params.dsts), len(params.srcs)) == (2, 2, 2)


def test_the_signature_names_the_lists(params):
    assert params.set_dsts_srcs.__text_signature__ == "($self, dsts, srcs)"


def test_other_structs_have_no_such_method():
    assert not hasattr(driver.CUmemLocation, "set_dsts_srcs")
