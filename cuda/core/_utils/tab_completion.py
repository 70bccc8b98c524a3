# SPDX-License-Identifier: Apache-2.0
"""Tab completion that does not run the properties of compiled classes.

`rlcompleter` skips what is a `property`, since to read it may run any code. The properties of
compiled classes are descriptors of other types: it reads those, and gives up when one raises.
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
    """What `isinstance` takes for a property, written in Python or compiled."""


def _is_fixed():
    """Whether this Python's completion gets over a compiled property that raises."""
    probe = io.StringIO()
    probe.close()  # from now on its `newlines` raises
    try:
        return "probe.newlines" in rlcompleter.Completer({"probe": probe}).attr_matches("probe.n")
    except ValueError:
        return False


def make_safe():
    """Let completion treat compiled properties as it treats those of Python. Host only."""
    setting = os.environ.get(_OPT_OUT, "0")
    is_wanted = not (setting.lstrip("+-").isdigit() and int(setting) != 0)
    if is_wanted and not _is_fixed():
        rlcompleter.property = _AnyProperty
