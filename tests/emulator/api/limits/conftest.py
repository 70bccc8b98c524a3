# SPDX-License-Identifier: Apache-2.0
"""Calls that must be refused for a reason."""

import pytest


@pytest.fixture
def refused(driver, emulated):
    """Call a function, which must return a code for a reason."""

    def call(code, reason, name, *arguments):
        assert getattr(driver, name)(*arguments) == code, name
        assert reason in emulated.error_text(code), emulated.error_text(code)

    return call
