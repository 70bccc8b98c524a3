# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays, and the textures and surfaces through which kernels access them.

A name is imported when it is first used.
"""

from importlib import import_module

_HOMES = {
    "cuda.core._texture": (
        "MipmappedArray OpaqueArray ResourceDescriptor SurfaceObject TextureObject"
    ),
    "cuda.core.texture.options": ("MipmappedArrayOptions OpaqueArrayOptions TextureObjectOptions"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*(name for name in globals() if name.startswith("__")), *__all__])
