# SPDX-License-Identifier: Apache-2.0
"""Services of cuda.bindings.utils, and the private names that other packages import."""

import pytest
from cuda.bindings import driver, nvrtc, utils


@pytest.mark.parametrize("handle", [driver.CUstream(7), driver.CUkernel(7), nvrtc.nvrtcProgram(7)])
def test_native_handle_of_an_opaque_handle_is_its_value(handle):
    assert utils.get_cuda_native_handle(handle) == 7


@pytest.mark.parametrize("thing", [driver.CUdeviceptr(7), driver.CUhostFn(7), 7, None])
def test_native_handle_of_anything_else_is_refused(thing):
    with pytest.raises(TypeError, match="Unknown type"):
        utils.get_cuda_native_handle(thing)


def test_a_registered_type_has_a_native_handle():
    class Owner:
        pass

    utils._add_cuda_native_handle_getter(Owner, lambda owner: 42)
    assert utils.get_cuda_native_handle(Owner()) == 42


def test_ptx_version_is_the_first_directive():
    assert utils.get_ptx_ver("// x\n.version 8.8\n.target sm_90\n") == "8.8"


def test_text_without_version_directive_is_refused():
    with pytest.raises(ValueError, match="version"):
        utils.get_ptx_ver(".target sm_90")


@pytest.mark.parametrize(
    ("ptx", "cuda"),
    [("1.0", 1000), ("2.3", 4000), ("6.5", 10020), ("7.8", 11080), ("8.5", 12050), ("8.8", 12090)],
)
def test_cuda_version_that_a_ptx_version_needs(ptx, cuda):
    assert utils.get_minimal_required_cuda_ver_from_ptx_ver(ptx) == cuda


@pytest.mark.parametrize("ptx", ["7.9", "9.6", "5", "x.y", ""])
def test_unknown_ptx_version_is_refused(ptx):
    with pytest.raises(ValueError, match="PTX version"):
        utils.get_minimal_required_cuda_ver_from_ptx_ver(ptx)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", True), ("yes", True), ("0", False), ("00", False), ("", False), ("False", False)],
)
def test_switch_in_the_environment(monkeypatch, text, expected):
    monkeypatch.setenv("HALFWARP_TEST_SWITCH", text)
    assert utils.envvar_bool("HALFWARP_TEST_SWITCH") is expected


def test_switch_that_is_not_set_has_the_default(monkeypatch):
    monkeypatch.delenv("HALFWARP_TEST_SWITCH", raising=False)
    assert utils.envvar_bool("HALFWARP_TEST_SWITCH", default=True) is True


def test_version_names_agree():
    import cuda.bindings
    from cuda.bindings import _version

    assert cuda.bindings.__version__ == _version.__version__ == "13.5.0"
    assert _version.__version_tuple__ == (13, 5, 0)


def test_enumerations_derive_from_the_private_base_that_others_import():
    from cuda.bindings._internal._fast_enum import FastEnum, FastEnumMetaclass

    assert issubclass(driver.CUresult, FastEnum)
    assert type(driver.CUresult) is FastEnumMetaclass
