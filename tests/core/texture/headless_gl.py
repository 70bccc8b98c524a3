# SPDX-License-Identifier: Apache-2.0
"""OpenGL without a screen: a context on a GPU through EGL's device platform, with ctypes.

GLVND's loaders are required: ``libEGL.so.1`` and ``libGLdispatch.so.0``, of the system or unpacked
below ``.gl`` in the repository, and the vendor's library, which a driver includes.
"""

import contextlib
import ctypes
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
VENDOR = "/usr/local/nvidia/share/glvnd/egl_vendor.d/10_nvidia.json"

PLATFORM_DEVICE, CUDA_DEVICE, OPENGL_API, NONE = 0x313F, 0x323A, 0x30A2, 0x3038
SURFACE_TYPE, PBUFFER, RENDERABLE_TYPE, OPENGL = 0x3033, 0x0001, 0x3040, 0x0008
ARRAY_BUFFER, DYNAMIC_DRAW, TEXTURE_2D = 0x8892, 0x88E8, 0x0DE1
RGBA32F, RGBA, FLOAT = 0x8814, 0x1908, 0x1406
MIN_FILTER, NEAREST, MAX_LEVEL = 0x2801, 0x2600, 0x813D


class NoOpenGL(Exception):
    """The reason for the missing context."""


def _library(name):
    for place in [name, *map(str, sorted(ROOT.glob(f".gl/**/{name}*")))]:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(place, ctypes.RTLD_GLOBAL)
    raise NoOpenGL(f"{name} is not here")


class Context:
    """An OpenGL context that is current on its thread until `close`."""

    def __init__(self, ordinal=0):
        if Path(VENDOR).exists():
            os.environ.setdefault("__EGL_VENDOR_LIBRARY_FILENAMES", VENDOR)
        _library("libGLdispatch.so.0")
        self.egl = _library("libEGL.so.1")
        self.egl.eglGetProcAddress.restype = ctypes.c_void_p
        self.display = self.display_of(ordinal)
        if not self.call("eglInitialize", self.display, None, None):
            raise NoOpenGL("EGL does not begin on the device")
        self.context = self.create_context()
        self.make_current(True)

    def function(self, name, result=ctypes.c_uint):
        address = self.egl.eglGetProcAddress(name.encode())
        if not address:
            raise NoOpenGL(f"there is no {name}")
        return ctypes.CFUNCTYPE(result)(address)

    def call(self, name, *arguments, result=ctypes.c_uint):
        """Call a function of EGL or OpenGL; pass integers as int, other arguments as pointers."""
        return self.function(name, result)(
            *(ctypes.c_int(a) if isinstance(a, int) else a for a in arguments)
        )

    def display_of(self, ordinal):
        devices, count = (ctypes.c_void_p * 16)(), ctypes.c_int()
        if not self.call("eglQueryDevicesEXT", 16, devices, ctypes.byref(count)):
            raise NoOpenGL("EGL lists no devices")
        for each in devices[: count.value]:
            number = ctypes.c_ssize_t(-1)
            at = ctypes.c_void_p(each)
            self.call("eglQueryDeviceAttribEXT", at, CUDA_DEVICE, ctypes.byref(number))
            if number.value == ordinal:
                return ctypes.c_void_p(
                    self.call(
                        "eglGetPlatformDisplayEXT", PLATFORM_DEVICE, at, None,
                        result=ctypes.c_void_p,
                    )
                )  # fmt: skip
        raise NoOpenGL(f"none of the {count.value} devices of EGL is device {ordinal} of CUDA")

    def create_context(self):
        self.call("eglBindAPI", OPENGL_API)
        attributes = (ctypes.c_int * 5)(SURFACE_TYPE, PBUFFER, RENDERABLE_TYPE, OPENGL, NONE)
        config, count = ctypes.c_void_p(), ctypes.c_int()
        self.call(
            "eglChooseConfig",
            self.display,
            attributes,
            ctypes.byref(config),
            1,
            ctypes.byref(count),
        )
        context = self.call(
            "eglCreateContext", self.display, config, None, None, result=ctypes.c_void_p
        )
        if not context:
            raise NoOpenGL(f"no context: error 0x{self.call('eglGetError'):x} of EGL")
        return ctypes.c_void_p(context)

    def make_current(self, is_current):
        """Make the context current on this thread, without a surface."""
        context = self.context if is_current else None
        if not self.call("eglMakeCurrent", self.display, None, None, context):
            raise NoOpenGL(f"no current context: error 0x{self.call('eglGetError'):x} of EGL")

    def close(self):
        self.make_current(False)
        self.call("eglDestroyContext", self.display, self.context)
        self.call("eglTerminate", self.display)

    def gl(self, name, *arguments):
        """Call a function of OpenGL, and check that it sets no error."""
        self.call(name, *arguments)
        error = self.call("glGetError")
        assert error == 0, f"{name}: error 0x{error:x} of OpenGL"

    def new_name(self, function):
        name = ctypes.c_uint()
        self.gl(function, 1, ctypes.byref(name))
        return name.value

    def buffer(self, data):
        """Return a new buffer with the bytes of an array; it stays bound."""
        name = self.new_name("glGenBuffers")
        self.gl("glBindBuffer", ARRAY_BUFFER, name)
        size = ctypes.c_ssize_t(data.nbytes)
        self.gl("glBufferData", ARRAY_BUFFER, size, ctypes.c_void_p(data.ctypes.data), DYNAMIC_DRAW)
        return name

    def copy_buffer(self, function, data):
        address, size = ctypes.c_void_p(data.ctypes.data), ctypes.c_ssize_t(data.nbytes)
        self.gl(function, ARRAY_BUFFER, ctypes.c_ssize_t(0), size, address)
        return data

    def read_buffer(self, target):
        """Read the bound buffer after its pending operations."""
        return self.copy_buffer("glGetBufferSubData", target)

    def write_buffer(self, data):
        """Write the bound buffer."""
        return self.copy_buffer("glBufferSubData", data)

    def texture(self, data):
        """Return a new texture of four floats per element of a plane; it stays bound."""
        name = self.new_name("glGenTextures")
        height, width, _ = data.shape
        self.gl("glBindTexture", TEXTURE_2D, name)
        self.gl("glTexParameteri", TEXTURE_2D, MIN_FILTER, NEAREST)
        self.gl("glTexParameteri", TEXTURE_2D, MAX_LEVEL, 0)
        address = ctypes.c_void_p(data.ctypes.data)
        self.gl("glTexImage2D", TEXTURE_2D, 0, RGBA32F, width, height, 0, RGBA, FLOAT, address)
        return name

    def read_texture(self, target):
        address = ctypes.c_void_p(target.ctypes.data)
        self.gl("glGetTexImage", TEXTURE_2D, 0, RGBA, FLOAT, address)
        return target

    def delete(self, function, name):
        self.gl(function, 1, ctypes.byref(ctypes.c_uint(name)))
