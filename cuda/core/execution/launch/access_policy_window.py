# SPDX-License-Identifier: Apache-2.0
"""The L2 cache policy of a memory range, for launches, kernel nodes and streams."""

import operator
from dataclasses import dataclass
from typing import Any, ClassVar

from cuda.core.arguments.shown import shown


@dataclass(frozen=True)
class AccessPolicyWindow:
    """L2 cache policy of a memory range, for `LaunchConfig.access_policy_window`.

    Host only. The policy is a hint: it accesses no memory and does not keep the memory alive.

    Parameters
    ----------
    base : Buffer or int
        First address of the range.
    num_bytes : int, optional
        Size of the range; the default is the size of the Buffer. 0 means no policy.
    hit_ratio : float
        Fraction of the accesses with the `hit` policy, from 0 to 1; the others have `miss`.
    hit, miss : str
        ``"normal"``, ``"streaming"`` (likely to be evicted first) or ``"persisting"`` (likely to
        stay cached); `miss` cannot be ``"persisting"``.

    Raises
    ------
    ValueError
        If a value is out of range or unknown.
    TypeError
        If `num_bytes` is missing and `base` is not a Buffer.

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
                    f"{shown(getattr(self, name))}"
                )
        for name, value in (("base", base), ("num_bytes", size), ("hit_ratio", ratio)):
            object.__setattr__(self, name, value)


AccessPolicyWindow.__module__ = "cuda.core"
