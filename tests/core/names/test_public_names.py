# SPDX-License-Identifier: Apache-2.0
"""The public names of the API level: all exist, and each can be imported."""

import importlib
import importlib.util

import cuda.core
import pytest

from tests.docs import public_names

NAMES = public_names.names()


def test_the_level_lists_its_public_names_once():
    assert len(NAMES) == len(set(NAMES)) == 45
    assert set(NAMES) <= set(cuda.core.__all__)
    assert set(cuda.core.__all__) - set(NAMES) == {  # names of halfwarp
        "AccessPolicyWindow",
        "CUDAError",
        "CUDAWarning",
        "CallbackMemoryResource",
        "LimitingMemoryResource",
        "LoggingMemoryResource",
        "NVRTCError",
        "OutOfMemoryError",
        "PoolMemoryResource",
        "PreparedLaunch",
        "StatisticsMemoryResource",
        "TensorMapDataType",
        "TensorMapIm2ColWideMode",
        "TensorMapInterleave",
        "TensorMapL2Promotion",
        "TensorMapOOBFill",
        "TensorMapSwizzle",
        "TrackingMemoryResource",
        "host_launch",
        "recent_launches",
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_can_be_imported_and_is_listed(name):
    scope = {}
    exec(f"from cuda.core import {name}", scope)
    assert scope[name] is getattr(cuda.core, name)
    assert name in dir(cuda.core)


@pytest.mark.parametrize("module", ["cuda.core", "cuda.core.utils", "cuda.core._event"])
def test_an_unknown_name_is_no_attribute(module):
    imported = importlib.import_module(module)
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nonsense'"):
        _ = imported.nonsense
    with pytest.raises(ImportError, match="nonsense"):
        exec(f"from {module} import nonsense", {})


def test_an_unknown_module_is_not_found():
    assert importlib.util.find_spec("cuda.core.nonsense") is None
    with pytest.raises(ModuleNotFoundError, match="cuda.core.nonsense"):
        importlib.import_module("cuda.core.nonsense")


MODULES = (
    "core core.graph core.system core.system.exceptions core.system.typing core.texture "
    "core.typing core.utils"
)


@pytest.mark.parametrize("module", MODULES.split())
def test_dir_lists_the_names_that_are_created_on_first_use(run_python, module):
    code = f"""
import cuda.{module} as module
names = dir(module)
print(sorted(set(module.__all__) - set(names)), all(hasattr(module, name) for name in names))
"""
    assert run_python(code).strip() == "[] True"
