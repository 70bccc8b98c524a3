# SPDX-License-Identifier: Apache-2.0
"""DLPack tensors built by hand, with values that no library would export."""

import ctypes

import numpy as np

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
NO_CHANGE = ()


class Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Plain(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("content", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("content", Tensor),
    )


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype = ctypes.c_void_p
capsule_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


def content_of(capsule):
    """Return the tensor in a capsule of either kind; it is valid as long as the capsule."""
    if "versioned" in repr(capsule):
        return Versioned.from_address(capsule_pointer(capsule, b"dltensor_versioned")).content
    return Plain.from_address(capsule_pointer(capsule, b"dltensor")).content


class Producer:
    """Exports twelve host floats, with changes to the tensor; counts calls of the deleter."""

    def __init__(self, device=(1, 0), is_versioned=True, flags=0, version=(1, 0), **changes):
        self.device = device
        self.array = np.arange(12, dtype=np.float32).reshape(3, 4)
        self.deleted = 0
        self.requests = []
        self.numbers = {
            name: (ctypes.c_int64 * 70)(*changes.pop(name, default))
            for name, default in {"shape": (3, 4), "strides": (4, 1)}.items()
        }
        self.managed = Versioned() if is_versioned else Plain()
        if is_versioned:
            self.managed.major, self.managed.minor = version
            self.managed.flags = flags
        self.deleter = DELETER(self.delete)
        self.managed.deleter = changes.pop("deleter", self.deleter)
        tensor = self.managed.content
        tensor.data = self.array.ctypes.data
        tensor.device_type, tensor.device_id = device
        tensor.ndim, tensor.code, tensor.bits, tensor.lanes = 2, 2, 32, 1
        tensor.shape, tensor.strides = self.numbers["shape"], self.numbers["strides"]
        for name, value in changes.items():
            setattr(tensor, name, value)

    def delete(self, _):
        self.deleted += 1

    def capsule(self):
        name = b"dltensor_versioned" if isinstance(self.managed, Versioned) else b"dltensor"
        return new_capsule(ctypes.addressof(self.managed), name, None)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        self.requests.append(options)
        return self.capsule()
