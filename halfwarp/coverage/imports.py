# SPDX-License-Identifier: Apache-2.0
"""Change modules of other packages when a program imports them."""

import sys
from importlib.util import find_spec

_patches = {}  # name of a module -> function that changes it


def patch(name, function):
    """Change a module now if the program has imported it, else when it does."""
    if name in sys.modules:
        function(sys.modules[name])
        return
    _patches[name] = function
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Patches modules after their import."""

    def find_spec(self, name, path=None, target=None):
        function = _patches.pop(name, None)
        if function is None:
            return None
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_patch(module):
                execute(module)
                function(module)

            spec.loader.exec_module = execute_and_patch
        return spec
