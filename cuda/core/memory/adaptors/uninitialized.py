# SPDX-License-Identifier: Apache-2.0
"""Members of objects whose `__init__` did not run."""


class UninitializedMember:
    """A class attribute that raises until `__init__` sets the attribute of the instance.

    A direct `__new__`, and a subclass that does not call `super().__init__()`, leave it.
    """

    def __get__(self, instance, owner):
        if instance is None:
            return self
        raise RuntimeError(
            f"{type(instance).__name__} was not initialized: its __init__ must first call "
            f"super().__init__()"
        )
