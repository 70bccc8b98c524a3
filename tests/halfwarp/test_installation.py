# SPDX-License-Identifier: Apache-2.0
"""Lists of files in messages."""

import pytest

from halfwarp import installation


@pytest.mark.parametrize("more", [0, 1, 2])
def test_a_long_list_is_shortened_and_a_list_of_that_length_is_not(more):
    names = [f"file{i}" for i in range(installation.NAMED + more)]
    text = installation.shortened(names)
    assert text == ", ".join(names[: installation.NAMED]) + (f" and {more} more" if more else "")
