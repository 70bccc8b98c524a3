# SPDX-License-Identifier: Apache-2.0
"""Effects of importing the package, and side effects that it must not have."""

import pathlib

import cuda.core
import pytest

HEAVY = "numpy dataclasses inspect multiprocessing importlib.metadata platform typing enum ctypes"


def test_versions_are_in_the_format_that_clients_parse():
    assert [int(part) for part in cuda.core.__version__.split(".")] == [1, 2, 2]
    assert cuda.core.__implementation__.startswith("halfwarp ")


def test_importing_loads_no_extension_and_no_large_module(run_python):
    code = f"""
import sys
before = set(sys.modules)
import cuda.core
new = set(sys.modules) - before
expected = ("cuda", "cuda.core", "halfwarp")
print([n for n in new if n.startswith("cuda") and n not in expected])
print([n for n in {HEAVY!r}.split() if n in new])
"""
    assert run_python(code).split("\n")[:2] == ["[]", "[]"]


def test_the_common_classes_load_no_large_module(run_python):
    code = f"""
import sys
before = set(sys.modules)
from cuda.core import Device, Stream, Event, Context
print([n for n in {HEAVY!r}.split() if n in sys.modules and n not in before])
print([n for n in sys.modules if n.startswith("cuda.bindings.") and not n.endswith("_low")])
"""
    assert run_python(code).split("\n")[:2] == ["[]", "[]"]


def test_importing_opens_no_library(run_python):
    code = """
from cuda.core import *
from cuda.core import Device, LEGACY_DEFAULT_STREAM
maps = open("/proc/self/maps").read()
libraries = ("libcuda", "libnvrtc", "libnvJitLink", "libnvvm", "libnvidia-ml")
print([name for name in libraries if name in maps])
"""
    assert run_python(code).strip() == "[]"


@pytest.mark.parametrize("name", cuda.core.__all__)
def test_every_public_name_exists(name):
    assert getattr(cuda.core, name) is not None
    assert name in dir(cuda.core)


def test_all_is_sorted_and_dir_shows_only_its_names():
    assert cuda.core.__all__ == sorted(set(cuda.core.__all__))
    unlisted = {"emulation", "get_include", "interop"}  # the reference does not have them
    assert {n for n in dir(cuda.core) if n[0] != "_"} == {*cuda.core.__all__, *unlisted}


def test_private_modules_are_attributes_without_an_import(run_python):
    code = """
import sys
import cuda.core
print(cuda.core._utils.__name__, cuda.core._stream.__name__, cuda.core._device.Device.__name__)
print(cuda.core._utils.version.__name__, cuda.core._utils.handle_return.__name__)
print(hasattr(cuda.core, "_nothing"), hasattr(cuda.core._utils, "nothing"))
"""
    assert run_python(code).splitlines() == [
        "cuda.core._utils cuda.core._stream Device",
        "cuda.core._utils.version handle_return",
        "False False",
    ]


def test_the_headers_are_in_the_package():
    folder = pathlib.Path(cuda.core.get_include())
    assert folder.parent == pathlib.Path(cuda.core.__path__[0])
    assert (folder / "python" / "objects.hpp").is_file()


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'cuda\.core' has no attribute 'Nothing'"):
        _ = cuda.core.Nothing


def test_cuda_stays_a_namespace_package():
    import cuda

    assert getattr(cuda, "__file__", None) is None


def test_every_class_has_a_docstring():
    public = [getattr(cuda.core, name) for name in cuda.core.__all__]
    for cls in [each for each in public if isinstance(each, type)]:
        assert cls.__doc__, cls
        members = {n: m for n, m in vars(cls).items() if not n.startswith("_")}
        undocumented = [n for n, m in members.items() if callable(m) and not m.__doc__]
        assert not undocumented, (cls, undocumented)
