# SPDX-License-Identifier: Apache-2.0
"""The counters of each kernel of the corpus equal their closed forms."""

import pytest

from .corpus import CASES
from .launching import compiled, run

pytestmark = pytest.mark.usefixtures("emulated")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_counters_equal_their_closed_forms(case):
    kernel = run(compiled(case.source))["kernel"]
    assert {name: getattr(kernel, name) for name in case.expected} == case.totals
