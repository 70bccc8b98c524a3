# SPDX-License-Identifier: Apache-2.0
"""Lists of files in messages."""

import pytest

from halfwarp import installation


@pytest.mark.parametrize("extra", [0, 1, 2])
def test_only_lists_longer_than_the_limit_are_shortened(extra):
    names = [f"file{i}" for i in range(installation.NAMED + extra)]
    text = installation.shortened(names)
    assert text == ", ".join(names[: installation.NAMED]) + (f" and {extra} more" if extra else "")
