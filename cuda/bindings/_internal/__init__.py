# SPDX-License-Identifier: Apache-2.0
"""Private names of the low layer that existing code uses.

``_internal.<library>`` returns the addresses of a library's functions. These modules have no files:
all are rows of one table.
"""

import sys
from importlib import import_module

from cuda.bindings._internal._forwarding import ForwardingTable

LIBRARIES = (
    "cudla",
    "cufile",
    "driver",
    "nvfatbin",
    "nvjitlink",
    "nvml",
    "nvrtc",
    "nvvm",
    "runtime",
)


def _resolve(module, name):
    return getattr(import_module("cuda.bindings._internal._addresses"), name)(module)


sys.meta_path.append(
    ForwardingTable(
        __name__,
        dict.fromkeys(LIBRARIES, "_inspect_function_pointer _inspect_function_pointers"),
        _resolve,
        "Addresses of a library's functions, under the names that existing code uses.",
    )
)
