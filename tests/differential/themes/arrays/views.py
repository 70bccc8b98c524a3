# SPDX-License-Identifier: Apache-2.0
"""StridedMemoryView: properties of arrays, rejected arguments, exports."""

import numpy as np
from cuda.core import Buffer, Device, LegacyPinnedMemoryResource
from cuda.core._dlpack import DLDeviceType
from cuda.core._layout import _StridedLayout as L
from cuda.core._memoryview import _StridedMemoryViewProxy, view_as_array_interface
from cuda.core.utils import StridedMemoryView as V
from cuda.core.utils import args_viewable_as_strided_memory

device = Device(0)
device.set_current()
s = device.create_stream()
pin = LegacyPinnedMemoryResource().allocate(64)
buf = device.allocate(64, stream=s)
a = np.arange(12, dtype=np.float32).reshape(3, 4)
b2 = a[:, ::2]
ro = np.arange(3)
ro.flags.writeable = False
e2 = V()


class CAI:
    """A device array of another library."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {
            "shape": (4,),
            "typestr": "<f4",
            "data": (int(buf.handle), False),
            "version": 3,
            "stream": None,
            **changes,
        }


class Cap:
    """An array of another library that exports NumPy's memory with another device."""

    def __init__(self, device=(1, 0), capsule=None):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None, max_version=None):
        return a.__dlpack__(max_version=max_version) if self.capsule is None else self.capsule


class Cap0(Cap):
    """An exporter of the unversioned protocol."""

    def __dlpack__(self, stream=None):
        return a.__dlpack__()


def f(view):
    location = view.ptr != 0, view.device_id, view.is_device_accessible, view.readonly
    layout_facts = (
        view.shape,
        view.strides,
        view.size,
        view.dtype,
        type(view.exporting_obj).__name__,
    )
    return location, layout_facts, view._layout


def g(view):
    """Without the exporter: for a view of a view, it is a Buffer in the reference."""
    return view.device_id, view.shape, view.strides, view.size, view.dtype, view._layout


def h(view):
    """Without the device, which is the current one in the reference."""
    return view.ptr != 0, view.readonly, view.shape, view.strides, view.size, view.dtype


CASES = [
    lambda: [(kind.name, int(kind)) for kind in DLDeviceType],
    lambda: f(V.from_dlpack(a, stream_ptr=-1)),
    lambda: f(V.from_dlpack(a, -1)),
    lambda: f(V.from_dlpack(a)),
    lambda: f(V.from_dlpack(a, 0)),
    lambda: f(V.from_dlpack(a, 5)),
    lambda: f(V.from_dlpack(a, "x")),
    lambda: f(V.from_dlpack(a, None)),
    lambda: f(V.from_dlpack(b2, -1)),
    lambda: f(V.from_dlpack(a[::-1], -1)),
    lambda: f(V.from_dlpack(ro, -1)),
    lambda: f(V.from_dlpack(np.float32(3), -1)),
    lambda: f(V.from_dlpack(np.array(3.0), -1)),
    lambda: f(V.from_dlpack(np.zeros((0, 3)), -1)),
    lambda: f(V.from_dlpack(np.zeros(3, bool), -1)),
    lambda: f(V.from_dlpack(np.zeros(3, "c8"), -1)),
    lambda: f(V.from_dlpack(np.zeros(3, ">f4"), -1)),
    lambda: f(V.from_dlpack(np.zeros(3, "f4,i4"), -1)),
    lambda: f(V.from_dlpack(np.zeros(3, "f4,i4")["f0"], -1)),
    lambda: f(V.from_dlpack(np.zeros(3, "f2"), -1)),
    lambda: f(V.from_dlpack(np.zeros(3, "g"), -1)),
    lambda: f(V.from_dlpack(buf, -1)),
    lambda: f(V.from_dlpack(buf, 0)),
    lambda: f(V.from_dlpack(buf, int(s.handle))),
    lambda: f(V.from_dlpack(buf, s.handle)),
    lambda: f(V.from_dlpack(buf, s)),
    lambda: f(V.from_dlpack(buf)),
    lambda: f(V.from_dlpack(pin)),
    lambda: f(V.from_dlpack(pin, -1)),
    lambda: f(V.from_dlpack(pin, 3)),
    lambda: f(V.from_dlpack(3, -1)),
    lambda: f(V.from_dlpack(None, -1)),
    lambda: f(V.from_dlpack(Cap(), -1)),
    lambda: f(V.from_dlpack(Cap(), 0)),
    lambda: f(V.from_dlpack(Cap(), 7)),
    lambda: f(V.from_dlpack(Cap0(), -1)),
    lambda: f(V.from_dlpack(Cap((2, 0)), -1)),
    lambda: f(V.from_dlpack(Cap((2, 0)), 0)),
    lambda: f(V.from_dlpack(Cap((2, 0)), 7)),
    lambda: f(V.from_dlpack(Cap((2, 0)))),
    lambda: f(V.from_dlpack(Cap((3, 0)))),
    lambda: f(V.from_dlpack(Cap((3, 0)), 0)),
    lambda: f(V.from_dlpack(Cap((3, 0)), -1)),
    lambda: f(V.from_dlpack(Cap((3, 0)), 7)),
    lambda: f(V.from_dlpack(Cap((13, 0)))),
    lambda: f(V.from_dlpack(Cap((4, 0)), -1)),
    lambda: f(V.from_dlpack(Cap((2,)), -1)),
    lambda: f(V.from_dlpack(Cap(3), -1)),
    lambda: f(V.from_dlpack(Cap((1, 0), 3), -1)),
    lambda: f(V.from_dlpack(Cap((1, 0), None), -1)),
    lambda: f(V.from_dlpack(Cap((2, 5)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(version=2), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(mask=1), -1)),
    lambda: f(V.from_cuda_array_interface(CAI())),
    lambda: f(V.from_cuda_array_interface(CAI(mask=None), 0)),
    lambda: f(V.from_cuda_array_interface(CAI(strides=(8,)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(strides=(6,)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(strides=(0,)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(strides=(-4,)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(strides=None), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(shape=[4]), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(shape=(-4,)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(shape=(0,), data=(0, False)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(data=(0, True)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(typestr="|V2"), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(typestr=">f4"), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(typestr="zz"), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(typestr="<f4", descr=[("", "<f4")]), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(stream=int(s.handle)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(stream=int(s.handle)), 1)),
    lambda: f(V.from_cuda_array_interface(CAI(stream=1), 1)),
    lambda: f(V.from_cuda_array_interface(CAI(stream=0), 2)),
    lambda: f(V.from_cuda_array_interface(CAI(data=3), -1)),
    lambda: f(V.from_cuda_array_interface(3, -1)),
    lambda: f(V.from_cuda_array_interface(a, -1)),
    lambda: f(V.from_cuda_array_interface(buf, -1)),
    lambda: f(V.from_cuda_array_interface(CAI(data=(a.ctypes.data, False)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(strides=(4, 4)), -1)),
    lambda: f(V.from_cuda_array_interface(CAI(strides=[4]), -1)),
    lambda: h(V.from_array_interface(a)),
    lambda: h(V.from_array_interface(b2)),
    lambda: h(V.from_array_interface(ro)),
    lambda: h(V.from_array_interface(np.zeros(3, "f4,i8"))),
    lambda: h(V.from_array_interface(np.zeros(3, ">f4"))),
    lambda: h(V.from_array_interface(np.zeros(3, "M8[s]"))),
    lambda: h(V.from_array_interface(3)),
    lambda: h(V.from_array_interface(buf)),
    lambda: h(V.from_array_interface(np.zeros(3, "U5"))),
    lambda: h(V.from_array_interface(np.zeros(2, object))),
    lambda: h(V.from_array_interface(np.ma.masked_array([1, 2], [0, 1]))),
    lambda: f(V.from_any_interface(a, -1)),
    lambda: f(V.from_any_interface(a)),
    lambda: f(V.from_any_interface(CAI(), -1)),
    lambda: f(V.from_any_interface(3)),
    lambda: f(V.from_any_interface(buf, -1)),
    lambda: f(V.from_buffer(buf, (4,), dtype=np.dtype("f4"))),
    lambda: f(V.from_buffer(buf, (4,), itemsize=4)),
    lambda: f(V.from_buffer(buf, (4,))),
    lambda: f(V.from_buffer(buf, (4,), itemsize=4, dtype=np.dtype("f8"))),
    lambda: f(V.from_buffer(buf, (4,), itemsize=3)),
    lambda: f(V.from_buffer(buf, (17,), itemsize=4)),
    lambda: f(V.from_buffer(buf, (4,), (-1,), itemsize=4)),
    lambda: f(V.from_buffer(buf, (4,), (4,), itemsize=4)),
    lambda: f(V.from_buffer(buf, (4,), (5,), itemsize=4)),
    lambda: f(V.from_buffer(buf, 4, itemsize=4)),
    lambda: f(V.from_buffer(buf, (4,), dtype="f4")),
    lambda: f(V.from_buffer(buf, (4,), dtype=np.float32)),
    lambda: f(V.from_buffer(pin, (4,), itemsize=4, is_readonly=True)),
    lambda: f(V.from_buffer(Buffer.from_handle(a.ctypes.data, 48), (400,), itemsize=4)),
    lambda: f(V.from_buffer(Buffer.from_handle(a.ctypes.data, 48), (4,), (-1,), itemsize=4)),
    lambda: f(V.from_buffer(3, (4,), itemsize=4)),
    lambda: f(V.from_buffer(buf, (4,), [1], itemsize=4)),
    lambda: f(V.from_buffer(buf, [4], itemsize=4)),
    lambda: f(V.from_buffer(buf, (2, 3), itemsize=0)),
    lambda: f(V(a, -1)),
    lambda: f(V(a)),
    lambda: f(V(CAI(), -1)),
    lambda: f(V(3)),
    lambda: f(V()),
    lambda: V(),
    lambda: e2.ptr,
    lambda: e2.shape,
    lambda: e2.strides,
    lambda: e2.size,
    lambda: e2.dtype,
    lambda: e2.device_id,
    lambda: e2.is_device_accessible,
    lambda: e2.readonly,
    lambda: e2.exporting_obj,
    lambda: e2._layout,
    lambda: e2.__dlpack__(),
    lambda: e2.__dlpack_device__(),
    lambda: e2.view(),
    lambda: repr(V.from_dlpack(a, -1)).split()[1:],
    lambda: repr(V.from_buffer(buf, (4,), itemsize=4)).split()[1:-1],
    lambda: V.from_buffer(buf, (4,), itemsize=4).__dlpack__(),
    lambda: V.from_array_interface(np.zeros(3, "f4,i8")).__dlpack__(),
    lambda: V.from_array_interface(np.zeros(3, ">f4")).__dlpack__(),
    lambda: V.from_array_interface(np.zeros(3, "M8[s]")).__dlpack__(),
    lambda: V.from_array_interface(a).__dlpack_device__(),
    lambda: V.from_array_interface(a).__dlpack__(),
    lambda: V.from_dlpack(a, -1).__dlpack__(max_version=(1, 0)),
    lambda: V.from_dlpack(a, -1).__dlpack__(max_version=(1,)),
    lambda: V.from_dlpack(a, -1).__dlpack__(max_version=[1, 0]),
    lambda: V.from_dlpack(a, -1).__dlpack__(max_version=3),
    lambda: V.from_dlpack(a, -1).__dlpack__(copy=True),
    lambda: V.from_dlpack(a, -1).__dlpack__(copy=False),
    lambda: V.from_dlpack(a, -1).__dlpack__(dl_device=(1, 0)),
    lambda: V.from_dlpack(a, -1).__dlpack__(stream=3),
    lambda: V.from_dlpack(a, -1).__dlpack__(stream="x"),
    lambda: V.from_dlpack(ro, -1).__dlpack__(),
    lambda: V.from_dlpack(buf, -1).__dlpack_device__(),
    lambda: V.from_dlpack(pin, -1).__dlpack_device__(),
    lambda: V.from_cuda_array_interface(CAI(), -1).__dlpack_device__(),
    lambda: V.from_buffer(pin, (4,), itemsize=4).__dlpack_device__(),
    lambda: V.from_buffer(buf, (4,), itemsize=4).__dlpack_device__(),
    lambda: V.from_buffer(
        Buffer.from_handle(a.ctypes.data, 48), (4,), itemsize=4
    ).__dlpack_device__(),
    lambda: g(V.from_dlpack(a, -1).view(L((2,), (1,), 4))),
    lambda: g(V.from_dlpack(a, -1).view(L((2,), (1,), 2))),
    lambda: g(V.from_dlpack(a, -1).view(dtype="i4")),
    lambda: g(V.from_dlpack(a, -1).view(dtype="i8")),
    lambda: g(V.from_dlpack(a, -1).view(L((6,), None, 8), dtype="i8")),
    lambda: g(V.from_dlpack(a, -1).view(dtype=3)),
    lambda: g(V.from_dlpack(a, -1).view(L((100,), None, 4))),
    lambda: g(V.from_buffer(buf, (4,), itemsize=4).view(L((100,), None, 4))),
    lambda: g(V.from_buffer(buf, (4,), itemsize=4).view(L((4,), (-1,), 4))),
    lambda: g(V.from_dlpack(a, -1).view(L((4,), (-1,), 4))),
    lambda: g(V.from_dlpack(a, -1).view(3)),
    lambda: g(V.from_buffer(buf, (4,), itemsize=4).view(dtype="f4")),
    lambda: setattr(V.from_dlpack(a, -1), "ptr", 3),
    lambda: view_as_array_interface(a, view=V()).shape,
    lambda: V.from_array_interface(a).device_id,
    lambda: _StridedMemoryViewProxy(a).has_dlpack,
    lambda: _StridedMemoryViewProxy(CAI()).has_dlpack,
    lambda: _StridedMemoryViewProxy(3),
    lambda: _StridedMemoryViewProxy(a).view(-1).shape,
    lambda: _StridedMemoryViewProxy(a).view(),
    lambda: args_viewable_as_strided_memory((0,))(lambda x, y=2: (type(x).__name__, y))(a, y=5),
    lambda: args_viewable_as_strided_memory((1,))(lambda x, y=2: (type(x).__name__, y))(a, y=5),
    lambda: args_viewable_as_strided_memory((0,))(lambda x: x.view(-1).shape)(3),
    lambda: args_viewable_as_strided_memory(0)(lambda x: x)(a),
    lambda: args_viewable_as_strided_memory([0])(lambda x: x.obj is a)(a),
    lambda: V.__dlpack_c_exchange_api__,
    lambda: V.__c_dlpack_exchange_api__ is V.__dlpack_c_exchange_api__,
    lambda: __import__("weakref").ref(V.from_dlpack(a, -1)),
]
