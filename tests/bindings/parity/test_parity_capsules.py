# SPDX-License-Identifier: Apache-2.0
"""The capsules of the cy* modules carry the strings that clients compare, byte for byte."""

from .suite import CapsuleSuite


class TestCapsules(CapsuleSuite):
    pass
