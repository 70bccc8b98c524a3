# SPDX-License-Identifier: Apache-2.0
"""Names of the API level that are still to come: what is said of them."""

import importlib
import importlib.util

import cuda.core
import pytest
from cuda.core import _inventory

MISSING = _inventory.missing()


def test_the_level_has_its_public_names_once():
    names = _inventory.names()
    assert len(names) == len(set(names)) == 45
    assert set(cuda.core.__all__) - set(names) == {  # our own
        "CUDAError",
        "NVRTCError",
        "OutOfMemoryError",
        "PreparedLaunch",
        "TensorMapDataType",
        "TensorMapIm2ColWideMode",
        "TensorMapInterleave",
        "TensorMapL2Promotion",
        "TensorMapOOBFill",
        "TensorMapSwizzle",
        "host_launch",
        "recent_launches",
    }


def test_the_table_has_each_name_on_one_side():
    rows = _inventory.table()
    assert [name for _, here, to_come in rows for name in [*here, *to_come]] != []
    for _, here, to_come in rows:
        assert all(hasattr(cuda.core, name) for name in here)
        assert not any(hasattr(cuda.core, name) for name in to_come)
    assert sum(len(here) + len(to_come) for _, here, to_come in rows) == 45


@pytest.mark.parametrize("name", MISSING)
def test_a_name_to_come_is_said_to_be_so(name):
    said = rf"^cuda\.core\.{name} is not there yet: .* 1\.2\.2, halfwarp .* has \d+: Buffer|Context"
    with pytest.raises(AttributeError, match=said):
        getattr(cuda.core, name)
    with pytest.raises(ImportError, match=said):
        exec(f"from cuda.core import {name}", {})
    with pytest.raises(ImportError, match=said):
        importlib.import_module(f"cuda.core.{name}")
    assert name not in dir(cuda.core)
    assert not hasattr(cuda.core, name)


@pytest.mark.parametrize("name", sorted(_inventory.MODULES.intersection(MISSING)))
def test_a_module_to_come_is_a_module_not_found(name):
    with pytest.raises(ModuleNotFoundError, match="is not there yet"):
        importlib.import_module(f"cuda.core.{name}")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", MISSING[:1])
def test_it_is_said_below_experimental_as_well(name):
    with pytest.raises(ImportError, match="is not there yet"):
        exec(f"from cuda.core.experimental import {name}", {})


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, row in _inventory.PRIVATE_LATER.items() for name in row.split()],
)
def test_private_names_to_come_are_said_to_be_so(module, name):
    found = importlib.import_module(f"cuda.core.{module}")
    with pytest.raises(AttributeError, match=rf"^cuda\.core\.{module}\.{name} is not there yet"):
        getattr(found, name)
