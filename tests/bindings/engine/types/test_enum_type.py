# SPDX-License-Identifier: Apache-2.0
"""Enumerations: ints with a name."""

import copy
import importlib
import inspect
import pickle

import pytest
from cuda.bindings import driver, nvrtc
from cuda.bindings._internal._fast_enum import FastEnum, FastEnumMetaclass

from generator import libraries

Flags = driver.CUctx_flags
Result = driver.CUresult


def test_a_value_is_its_member():
    assert Flags(4) is Flags.CU_CTX_SCHED_BLOCKING_SYNC
    assert Flags(value=4) is Flags(4)
    assert Flags(Flags(4)) is Flags(4)


@pytest.mark.parametrize("value", [3, -1, 2**40, 2**70, "a", 1.0, None])
def test_an_unknown_value_is_a_value_error(value):
    with pytest.raises(ValueError, match=f"{value} is not a valid CUctx_flags"):
        Flags(value)


@pytest.mark.parametrize(
    ("args", "keywords"), [((), {}), ((1, 2), {}), ((), {"x": 1}), ((1,), {"value": 1})]
)
def test_the_class_accepts_one_value(args, keywords):
    with pytest.raises(TypeError, match=r"CUctx_flags\(\) takes one value"):
        Flags(*args, **keywords)
    assert str(inspect.signature(Flags)) == str(inspect.signature(FastEnum)) == "(value)"


def test_name_and_value():
    member = Result.CUDA_ERROR_INVALID_VALUE
    assert (member.name, member.value) == ("CUDA_ERROR_INVALID_VALUE", 1)
    assert type(member.value) is int


def test_text_of_a_member():
    member = Result.CUDA_SUCCESS
    assert repr(member) == str(member) == f"{member}" == "<CUresult.CUDA_SUCCESS: 0>"
    assert f"{Result.CUDA_ERROR_OUT_OF_MEMORY:03d}" == "002"


def test_text_of_a_class():
    assert repr(Result) == "<enum 'CUresult'>"
    assert (Result.__name__, Result.__module__) == ("CUresult", "cuda.bindings.driver")


def test_a_member_is_an_int():
    assert Result(2) == 2
    assert type(Result(2) + 1) is int
    assert hash(Result(2)) == hash(2)
    assert not Result(0)
    assert Result(2)
    assert [10, 20, 30][Result(2)] == 30


def test_members_are_iterated_in_declaration_order_without_aliases():
    names = [m.name for m in Flags]
    policies = ("AUTO", "SPIN", "YIELD", "BLOCKING_SYNC")
    assert names[:4] == [f"CU_CTX_SCHED_{policy}" for policy in policies]
    assert len(names) == len(set(names)) == len(Flags)
    assert "CU_CTX_BLOCKING_SYNC" not in names


def test_the_first_name_of_a_value_is_the_member_and_later_names_are_aliases():
    assert Flags.CU_CTX_BLOCKING_SYNC is Flags.CU_CTX_SCHED_BLOCKING_SYNC
    assert Flags.CU_CTX_BLOCKING_SYNC.name == "CU_CTX_SCHED_BLOCKING_SYNC"
    assert Flags.__members__["CU_CTX_BLOCKING_SYNC"] is Flags(4)


def test_members_mapping_is_read_only():
    with pytest.raises(TypeError):
        Flags.__members__["X"] = 1


def test_containment_compares_values():
    assert 0 in Result
    assert Flags(4) in Result
    assert 12345 not in Result
    assert "CUDA_SUCCESS" not in Result
    assert 2**80 not in Result


def test_members_by_name():
    assert Result["CUDA_SUCCESS"] is Result.CUDA_SUCCESS
    with pytest.raises(KeyError):
        Result["NOTHING"]
    with pytest.raises(AttributeError):
        _ = Result.NOTHING


@pytest.mark.parametrize("member", [Result(2), nvrtc.nvrtcResult(6), Flags(4)])
def test_members_survive_pickling_and_copying_as_themselves(member):
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(member, protocol)) is member
    assert copy.copy(member) is member
    assert copy.deepcopy([member])[0] is member


def test_classes_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(Result)) is Result


def test_negative_and_wide_values_are_found():
    assert driver.CUshared_carveout(-1).name == "CU_SHAREDMEM_CARVEOUT_DEFAULT"
    for cls in (driver.CUmemAllocationHandleType, driver.CUmemLocationType, driver.CUjit_target):
        for member in cls:
            assert cls(int(member)) is member


def test_members_of_the_result_explain_themselves():
    for member in Result:
        assert member.__doc__, member
        assert member.__doc__[0].isupper()


def test_members_have_no_dictionary_and_classes_cannot_change():
    with pytest.raises(AttributeError):
        Result(0).extra = 1
    with pytest.raises(TypeError, match="immutable"):
        Result.CUDA_SUCCESS = 1


def test_bases_are_the_public_ones():
    assert Result.__mro__ == (Result, FastEnum, int, object)
    assert type(Result) is FastEnumMetaclass
    assert isinstance(Result(0), FastEnum)


class Color(FastEnum):
    """Colors of paint."""

    RED = 1
    GREEN = (2, "Like grass.")
    CRIMSON = 1
    _private = 5


class TestUserDefined:
    """A class statement creates an enumeration like the tables do."""

    def test_members(self):
        assert [m.name for m in Color] == ["RED", "GREEN"]
        assert Color.CRIMSON is Color.RED is Color(1)
        assert Color._private == 5
        assert len(Color) == 2

    def test_documentation(self):
        assert Color.__doc__ == "Colors of paint."
        assert Color.GREEN.__doc__ == "Like grass."

    def test_base_has_no_members(self):
        assert list(FastEnum) == []
        assert len(FastEnum) == 0
        with pytest.raises(ValueError):
            FastEnum(1)


@pytest.mark.parametrize("library", libraries.library_names())
def test_every_value_is_its_first_member(library):
    model = libraries.load(library)
    module = importlib.import_module(f"{model.package}.{model.module}")
    for enum in model.enums:
        cls, first = getattr(module, enum.name), {}
        for member in enum.members:
            first.setdefault(member.value, getattr(cls, member.name))
        for value, member in first.items():
            assert cls(value) is member and int(member) == value, enum.name
        for outside in (max(first) + 1, min(first) - 1, -(2**63) - 1, 2**64):
            with pytest.raises(ValueError, match=f"{outside} is not a valid {enum.name}"):
                cls(outside)
