# SPDX-License-Identifier: Apache-2.0
"""Memory that a launch, a node or a stream asks the L2 cache to keep."""

import operator
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class AccessPolicyWindow:
    """How the L2 cache treats a range of memory, for `LaunchConfig.access_policy_window`.

    Host only. It is a hint: nothing is read or written, and the memory is not kept alive.

    Parameters
    ----------
    base : Buffer or int
        Where the range begins, an address.
    num_bytes : int, optional
        How long it is; the size of the Buffer unless it is given. 0 asks for nothing.
    hit_ratio : float
        The part of the accesses that is treated as `hit`, from 0 to 1; the rest as `miss`.
    hit, miss : str
        ``"normal"``, ``"streaming"`` (likely to be evicted first) or ``"persisting"`` (likely to
        stay); `miss` cannot be ``"persisting"``.

    Raises
    ------
    ValueError
        If a value is none of these.
    TypeError
        If `num_bytes` is missing and `base` is no Buffer.

    See Also
    --------
    cuLaunchKernelEx, cuStreamSetAttribute, cuGraphKernelNodeSetAttribute : the driver functions.
    """

    base: Any
    num_bytes: int | None = None
    hit_ratio: float = 1.0
    hit: str = "persisting"
    miss: str = "streaming"

    _PROPERTIES: ClassVar = ("normal", "streaming", "persisting")  # CUaccessProperty

    def __post_init__(self):
        base, size = self.base, self.num_bytes
        if hasattr(base, "handle"):
            size = base.size if size is None else size
            base = int(base.handle)
        if size is None:
            raise TypeError("AccessPolicyWindow needs num_bytes unless base is a Buffer")
        size, base, ratio = operator.index(size), operator.index(base), float(self.hit_ratio)
        if not 0 <= size < 2**64 or not 0 <= base < 2**64:
            raise ValueError("AccessPolicyWindow.base and num_bytes must be from 0 to 2**64 - 1")
        if not 0 <= ratio <= 1:
            raise ValueError(f"AccessPolicyWindow.hit_ratio must be from 0 to 1, got {ratio}")
        for name, words in (("hit", self._PROPERTIES), ("miss", self._PROPERTIES[:2])):
            if getattr(self, name) not in words:
                raise ValueError(
                    f"AccessPolicyWindow.{name} must be one of {', '.join(map(repr, words))}, got "
                    f"{getattr(self, name)!r}"
                )
        for name, value in (("base", base), ("num_bytes", size), ("hit_ratio", ratio)):
            object.__setattr__(self, name, value)


AccessPolicyWindow.__module__ = "cuda.core"
