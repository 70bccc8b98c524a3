# SPDX-License-Identifier: Apache-2.0
"""No C function that a compiled client of `cimport` looks up was removed, and none has a new type.

A change of `cuda.core` raises HALFWARP_CORE_ABI, which clients compare at import. Afterwards,
`python -m tests.data.record_abi` writes the functions again.
"""

import json

import pytest

from ..data import record_abi

RECORDED = json.loads(record_abi.FILE.read_text())


@pytest.fixture(scope="module")
def current():
    return record_abi.current()


@pytest.mark.parametrize("module", RECORDED["functions"])
def test_functions_of_compiled_clients_remain(module, current):
    if module == record_abi.CORE and record_abi.core_number() > RECORDED["HALFWARP_CORE_ABI"]:
        pytest.skip("clients are compiled again: HALFWARP_CORE_ABI is higher")
    recorded = RECORDED["functions"][module]
    assert {n: d for n, d in recorded.items() if current[module].get(n) != d} == {}


def test_every_function_is_recorded(current):
    assert {m: set(functions) for m, functions in current.items()} == {
        m: set(functions) for m, functions in RECORDED["functions"].items()
    }


def test_a_changed_type_has_another_digest():
    before, after = ({"f": f"void ({text})"} for text in ("int", "long"))
    assert record_abi.digests(before) != record_abi.digests(after)
