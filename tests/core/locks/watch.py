# SPDX-License-Identifier: Apache-2.0
"""Stubs in place of all driver functions, which record whether the caller holds the GIL."""

import ctypes

from ...bindings.function_tables import Replacements, slots
from ...context_lock import WAITS


class Watch:
    """Records which driver functions were called with the GIL since `forget`."""

    def __init__(self, library):
        self.library = ctypes.PyDLL(library)
        self.library.watch_stub.restype = ctypes.c_void_p
        self.forget = self.library.watch_forget
        self.replacements = Replacements()
        self.names = list(slots("driver"))
        gil_check = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p)
        self.library.watch_start(gil_check)
        for index, (name, slot) in enumerate(slots("driver").items()):
            self.library.watch_function(index, ctypes.c_void_p(slot.value), name in WAITS)
            self.replacements.put_address(name, self.library.watch_stub(index))

    def called(self, *, with_lock):
        """Return the names of the functions that were called with or without the GIL."""
        count = self.library.watch_calls
        return {name for i, name in enumerate(self.names) if count(i, with_lock)}

    def set_busy(self, is_busy):
        """Make the functions of `WAITS` wait, as they do during a free that waits."""
        self.library.watch_set_busy(is_busy)

    def stop(self):
        self.replacements.undo()
