# SPDX-License-Identifier: Apache-2.0
"""LinkerOptions: the options of each field for nvJitLink and for the driver."""

import copy
import pickle
import warnings

import pytest
from cuda.bindings.driver import CUjit_option, CUjit_target
from cuda.core import LinkerOptions
from cuda.core.link import link_rows


def native(**fields):
    first, *texts = LinkerOptions(arch="sm_90", **fields).as_bytes()
    assert first == b"-arch=sm_90"
    return texts


def of_driver(**fields):
    options = LinkerOptions(**{"arch": "sm_90", **fields})
    return {CUjit_option(n).name: v for n, v in link_rows.for_driver(options, lambda: "sm_75")}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"max_register_count": 32}, [b"-maxrregcount=32"]),
        ({"time": True}, [b"-time"]),
        ({"time": False}, []),
        ({"verbose": True, "link_time_optimization": True}, [b"-verbose", b"-lto"]),
        ({"ptx": True, "optimization_level": 0}, [b"-ptx", b"-O0"]),
        ({"debug": True, "lineinfo": True}, [b"-g", b"-lineinfo"]),
        ({"debug": False, "lineinfo": False, "ptx": False}, []),
        ({"ftz": True, "prec_div": False}, [b"-ftz=true", b"-prec-div=false"]),
        ({"prec_sqrt": False, "fma": True}, [b"-prec-sqrt=false", b"-fma=true"]),
        ({"kernels_used": "k"}, [b"-kernels-used=k"]),
        ({"kernels_used": ("a", "b")}, [b"-kernels-used=a", b"-kernels-used=b"]),
        ({"variables_used": ["a", "b"]}, [b"-variables-used=a", b"-variables-used=b"]),
        ({"optimize_unused_variables": True}, [b"-optimize-unused-variables"]),
        ({"optimize_unused_variables": False}, []),
        ({"ptxas_options": ["-v", "-O3"]}, [b"-Xptxas=-v", b"-Xptxas=-O3"]),
        ({"split_compile": 0}, [b"-split-compile=0"]),
        ({"split_compile_extended": 2}, [b"-split-compile-extended=2"]),
        ({"no_cache": True}, [b"-no-cache"]),
        ({"incremental": True}, [b"-r"]),
    ],
)
def test_options_of_nvjitlink(fields, expected):
    assert native(**fields) == expected


def test_the_architecture_of_the_device_comes_first(device):
    assert LinkerOptions(verbose=True).as_bytes() == [
        f"-arch=sm_{device.arch}".encode(),
        b"-verbose",
    ]


def test_options_require_the_device_only_on_use():
    assert LinkerOptions().arch is None


def test_only_nvjitlink_has_option_texts():
    assert LinkerOptions(arch="sm_90").as_bytes("nvJitLink") == [b"-arch=sm_90"]
    with pytest.raises(ValueError, match="only supports 'nvjitlink' backend, got 'driver'"):
        LinkerOptions(arch="sm_90").as_bytes("driver")


def test_no_name_is_the_default_name():
    assert LinkerOptions(name=None) == LinkerOptions()


def test_they_are_compared_copied_and_pickled_by_value():
    options = LinkerOptions(arch="sm_90", ftz=True)
    assert options == copy.copy(options) == pickle.loads(pickle.dumps(options)) != LinkerOptions()
    assert "ftz=True" in repr(options)
    with pytest.raises(TypeError, match="unhashable"):
        hash(options)


def test_an_architecture_of_the_device_precedes_converted_options(device):
    options = LinkerOptions(optimization_level=3)
    assert options.as_bytes() == [f"-arch=sm_{device.arch}".encode(), b"-O3"]


def test_fields_that_were_set_again_keep_the_order_of_the_options():
    options = LinkerOptions(arch="sm_90", ptx=True)
    del options.arch
    options.arch = "sm_80"
    assert options.as_bytes() == [b"-arch=sm_80", b"-ptx"]


def test_fields_of_a_subclass_have_no_options():
    class Options(LinkerOptions):
        def __init__(self, **fields):
            self.extra = object()
            super().__init__(**fields)

    assert Options(arch="sm_90", fma=True).as_bytes() == [b"-arch=sm_90", b"-fma=true"]


@pytest.mark.parametrize("value", [True, False])
def test_numba_debug_is_ignored_with_a_warning(value):
    with pytest.warns(DeprecationWarning, match="numba_debug is not supported by any linking"):
        options = LinkerOptions(arch="sm_90", numba_debug=value)
    with pytest.warns(DeprecationWarning, match="numba_debug") as caught:
        assert options.as_bytes() == [b"-arch=sm_90"]
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:numba_debug")
def test_numba_debug_leaves_other_options():
    options = LinkerOptions(arch="sm_90", numba_debug=True, no_cache=True, incremental=True)
    assert options.as_bytes() == [b"-arch=sm_90", b"-no-cache", b"-r"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {}),
        (
            {"max_register_count": 32, "optimization_level": 2},
            {"CU_JIT_MAX_REGISTERS": 32, "CU_JIT_OPTIMIZATION_LEVEL": 2},
        ),
        (
            {"verbose": True, "link_time_optimization": True},
            {"CU_JIT_LOG_VERBOSE": 1, "CU_JIT_LTO": 1},
        ),
        (
            {"debug": True, "lineinfo": True},
            {"CU_JIT_GENERATE_DEBUG_INFO": 1, "CU_JIT_GENERATE_LINE_INFO": 1},
        ),
        ({"no_cache": True}, {"CU_JIT_CACHE_MODE": 0}),
        ({"debug": False, "no_cache": False, "ptx": False, "incremental": False}, {}),
    ],
)
def test_options_of_the_driver(fields, expected):
    assert of_driver(**fields) == {
        "CU_JIT_TARGET": int(CUjit_target.CU_TARGET_COMPUTE_90),
        **expected,
    }


def test_the_driver_identifies_architectures_by_name():
    assert of_driver(arch="sm_90a")["CU_JIT_TARGET"] == CUjit_target.CU_TARGET_COMPUTE_90A
    assert of_driver(arch=None)["CU_JIT_TARGET"] == CUjit_target.CU_TARGET_COMPUTE_75
    with pytest.raises(AttributeError, match="no target CU_TARGET_COMPUTE_XX: arch='sm_xx'"):
        of_driver(arch="sm_xx")


@pytest.mark.parametrize(
    "field", ["time", "ptxas_options", "split_compile", "split_compile_extended"]
)
@pytest.mark.parametrize("value", [False, "x"])
def test_options_missing_in_the_driver_are_refused(field, value):
    with pytest.raises(ValueError, match=f"^{field} option is not supported by the driver API"):
        of_driver(**{field: value})


@pytest.mark.parametrize("field", ["ptx", "incremental"])
def test_outputs_missing_in_the_driver_are_refused(field):
    with pytest.raises(ValueError, match=f"^{field} option is not supported by the driver API"):
        of_driver(**{field: True})


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("ftz", "ftz option is"),
        ("prec_div", "prec_div option is"),
        ("fma", "fma options is"),
        ("kernels_used", "kernels_used is"),
        ("variables_used", "variables_used is"),
        ("optimize_unused_variables", "optimize_unused_variables is"),
    ],
)
def test_options_ignored_by_the_driver_warn(field, message):
    with pytest.warns(DeprecationWarning, match=f"{message} deprecated in the driver API"):
        assert of_driver(**{field: False}).keys() == {"CU_JIT_TARGET"}


def test_other_options_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_driver(verbose=True)
        native(verbose=True)


class _Rival:
    """A key that removes all options when it is compared with `arch`."""

    is_active = False

    def __init__(self, fields):
        self.fields = fields

    def __hash__(self):
        return hash("arch")

    def __eq__(self, other):
        if self.is_active:
            self.fields.clear()
        return False


def test_a_key_that_removes_the_options():
    options = LinkerOptions(arch="sm_90", max_register_count=int("4" * 3))
    fields = vars(options)
    rival = _Rival(fields)
    fields[rival] = "text" * 100
    rival.is_active = True
    assert all(isinstance(each, bytes) for each in options.as_bytes())
