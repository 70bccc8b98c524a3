# SPDX-License-Identifier: Apache-2.0
"""Tab completion that does not run the properties of compiled classes.

`rlcompleter` skips a `property`, since reading it can run any code. The properties of compiled
classes have other descriptor types: `rlcompleter` reads them, and fails when one raises.
"""

import builtins
import io
import os
import rlcompleter
from types import GetSetDescriptorType, MemberDescriptorType

_OPT_OUT = "CUDA_CORE_DONT_FIX_TAB_COMPLETION"


class _AnyPropertyType(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, (builtins.property, GetSetDescriptorType, MemberDescriptorType))


class _AnyProperty(metaclass=_AnyPropertyType):
    """A type whose `isinstance` check accepts Python and compiled properties."""


def _is_fixed():
    """Return whether this Python's completion tolerates a compiled property that raises."""
    probe = io.StringIO()
    probe.close()  # its `newlines` raises after this
    try:
        return "probe.newlines" in rlcompleter.Completer({"probe": probe}).attr_matches("probe.n")
    except ValueError:
        return False


def make_safe():
    """Make completion skip compiled properties like Python properties. Host only."""
    setting = os.environ.get(_OPT_OUT, "0")
    is_enabled = not (setting.lstrip("+-").isdigit() and int(setting) != 0)
    if is_enabled and not _is_fixed():
        rlcompleter.property = _AnyProperty
