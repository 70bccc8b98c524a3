# SPDX-License-Identifier: Apache-2.0
"""Names of NVIDIA's private modules that forks and tests import, made of our own.

`cuda/core/_forwarding.py` lists the modules of these names.
"""

import functools
from importlib import import_module


def __getattr__(name):
    value = _VALUES.get(name)
    if value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return value()


def _find_libdevice_path():
    """Return the path of libdevice, NVIDIA's library of mathematical functions."""
    return import_module("cuda.pathfinder").find_bitcode_lib("device")


def _get_int_attr(buffer, attribute):
    """Return an attribute of the memory of a managed buffer that is an int."""
    driver = import_module("cuda.bindings.driver")
    handle_return = import_module("cuda.core._utils.cuda_utils").handle_return
    return handle_return(driver.cuMemRangeGetAttribute(4, attribute, buffer.handle, buffer.size))


def _program_compile_uncached(program, target_type, name_expressions, logs):
    """Compile without a cache."""
    return program.compile(target_type, name_expressions, logs)


def _require_view_device(view, expected_device_id, operation):
    """Raise ValueError if a view of device memory belongs to another device."""
    if view.is_device_accessible and view.device_id not in (-1, expected_device_id):
        raise ValueError(
            f"{operation} expects tensor on device {expected_device_id}, got {view.device_id}"
        )


def assert_type(obj, expected_type):
    """Raise TypeError if an object is not of a type."""
    if not isinstance(obj, expected_type):
        raise TypeError(f"Expected type {expected_type.__name__}, but got {type(obj).__name__}")


def assert_type_str_or_bytes_like(obj):
    """Raise TypeError if an object is none of str, bytes and bytearray."""
    if not isinstance(obj, str | bytes | bytearray):
        raise TypeError(f"Expected type str or bytes or bytearray, but got {type(obj).__name__}")


def raise_code_path_meant_to_be_unreachable():
    """Raise RuntimeError."""
    raise RuntimeError("This code path is meant to be unreachable.")


def _uses_nvjitlink():
    return not import_module("cuda.core._compile")._decide_nvjitlink_or_driver()


def _linking_driver():
    """Return the driver module if the driver links, else None."""
    return None if _uses_nvjitlink() else import_module("cuda.bindings.driver")


def _bfloat16():
    """Return the scalar type of `ml_dtypes`, or None without that package."""
    try:
        return import_module("ml_dtypes").bfloat16
    except ImportError:
        return None


@functools.cache
def _tensor_map_types():
    """Return the dtypes that tensor maps infer a data type from, with these types."""
    numpy = import_module("numpy")
    types = import_module("cuda.core").TensorMapDataType
    names = [member.name.lower() for member in list(types)[:9]]
    known = {numpy.dtype(name): types[name.upper()] for name in names}
    if (bfloat16 := _bfloat16()) is not None:
        known[numpy.dtype(bfloat16)] = types.BFLOAT16
    return known


_VALUES = {  # names whose value is not a function
    "_NUMPY_DTYPE_TO_TMA": _tensor_map_types,
    "_driver": _linking_driver,
    "_use_nvjitlink_backend": _uses_nvjitlink,
    "bfloat16": _bfloat16,
}
