# SPDX-License-Identifier: Apache-2.0
"""Driver functions that may be called while the GIL is held: `waits` in `generator/overrides`.

A call that waits for the device, such as cuMemFree, holds the context lock, and calls of `WAITS` on
other threads wait for that lock. `core/locks/measure.py` measured this on an H200 with a CUDA 13.0
driver.
"""

from generator import decisions
from generator.libraries import HERE, overrides_of


def functions(library, waits):
    """Return the functions of a library that wait, or that were measured to return at once."""
    decided = decisions.read(overrides_of(library, HERE)).functions
    return frozenset(name for name, function in decided.items() if function.waits is waits)


WAITS = functions("driver", True)
RETURNS_AT_ONCE = functions("driver", False)
RUNTIME_WAITS = functions("runtime", True)  # they call functions of `WAITS`
