# SPDX-License-Identifier: Apache-2.0
"""Launches as data in a folder, and their repetition."""

import contextlib
import ctypes
import functools
import hashlib
import pickle
from pathlib import Path
from typing import NamedTuple

WORD = 8
ATTRIBUTE = 72  # bytes of a `CUlaunchAttribute`
MOST_STATIC = 48 << 10  # bytes of shared memory that need no attribute
DYNAMIC_SHARED, ODD_CLUSTER = 8, 14  # attributes of a function


class Allocation(NamedTuple):
    """A range of memory, with the bytes that were written, and the pointers among them."""

    kind: str  # "device", "managed" or "host"
    size: int
    pieces: list  # (offset, bytes)
    pointers: list  # (offset, number of an allocation, distance)


class Launch(NamedTuple):
    """The code, the arguments and the memory of a launch."""

    image: bytes
    kernel: bytes
    extents: tuple  # of the grid and of the block
    shared: int
    attributes: bytes
    parameters: list  # bytes
    pointers: list  # of each parameter, as of an allocation
    allocations: list
    variables: dict  # name -> (bytes, pointers)


def without_pointers(start, content, pointers):
    """Return a piece with zeros for its pointers, whose values differ between runs."""
    changed = bytearray(content)
    for offset, *_ in pointers:
        if start <= offset < start + len(content):
            changed[offset - start : offset - start + WORD] = bytes(WORD)
    return start, bytes(changed)


class Store:
    """A folder of launches; equal ones are stored once. Several processes may share it."""

    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "images").mkdir(parents=True, exist_ok=True)

    def _write(self, path, content):
        if path.exists():
            return False
        new = Path(f"{path}.{id(content)}")
        new.write_bytes(content)
        new.replace(path)
        return True

    def add(self, launch):
        """Return whether the launch is new."""
        digest = hashlib.sha256(launch.image).hexdigest()[:32]
        self._write(self.folder / "images" / digest, launch.image)
        allocations = [
            each._replace(pieces=[without_pointers(*piece, each.pointers) for piece in each.pieces])
            for each in launch.allocations
        ]
        parameters = zip(launch.parameters, launch.pointers, strict=True)
        small = launch._replace(
            image=digest,
            parameters=[without_pointers(0, *each)[1] for each in parameters],
            allocations=allocations,
            variables={
                name: (without_pointers(0, *each)[1], each[1])
                for name, each in launch.variables.items()
            },
        )
        content = pickle.dumps(tuple(small), protocol=4)
        name = hashlib.sha256(repr(small).encode()).hexdigest()[:16]
        return self._write(self.folder / f"{name}.launch", content)

    def launches(self):
        """Return the launches by name."""
        image_of = functools.cache(lambda digest: (self.folder / "images" / digest).read_bytes())
        launches = {}
        for path in sorted(self.folder.glob("*.launch")):
            launch = Launch(*pickle.loads(path.read_bytes()))
            launches[path.stem] = launch._replace(image=image_of(launch.image))
        return launches


class Player:
    """Repeats launches in this process."""

    def __init__(self, driver):
        self.driver = driver
        driver.cuInit(0)
        self.context = driver.output("cuDevicePrimaryCtxRetain", 0)
        driver.cuCtxSetCurrent(self.context)
        self.image, self.module = None, None

    def module_of(self, image):
        """Return the module of an image. The previous one is unloaded: its variables cost time."""
        if image != self.image:
            if self.image is not None:
                self.driver.cuModuleUnload(self.module)
            self.module, self.image = self.driver.output("cuModuleLoadData", image), image
        return self.module

    def play(self, launch):
        """Launch, and return the status of the end."""
        driver = self.driver
        module = self.module_of(launch.image)
        function = driver.output("cuModuleGetFunction", module, launch.kernel)
        with contextlib.ExitStack() as stack:
            addresses = [self.allocate(each, stack) for each in launch.allocations]
            for address, each in zip(addresses, launch.allocations, strict=True):
                for offset, content in each.pieces:
                    driver.cuMemcpyHtoD(address + offset, content, len(content))
                self.write_pointers(address, each.pointers, addresses)
            for name, (content, pointers) in launch.variables.items():
                size = ctypes.c_size_t()
                place = driver.output("cuModuleGetGlobal", ctypes.byref(size), module, name)
                driver.cuMemcpyHtoD(place, content, len(content))
                self.write_pointers(place, pointers, addresses)
            return self.start(function, launch, addresses) or driver.cuCtxSynchronize()

    def allocate(self, allocation, stack):
        """Allocate memory that a stack frees."""
        call, *flags = {
            "device": ("cuMemAlloc",),
            "managed": ("cuMemAllocManaged", 1),
            "host": ("cuMemHostAlloc", 0),
        }[allocation.kind]
        address = self.driver.output(call, allocation.size, *flags)
        is_host = allocation.kind == "host"
        stack.callback(self.driver.cuMemFreeHost if is_host else self.driver.cuMemFree, address)
        return address

    def write_pointers(self, address, pointers, addresses):
        for offset, number, distance in pointers:
            value = (addresses[number] + distance).to_bytes(WORD, "little")
            self.driver.cuMemcpyHtoD(address + offset, value, WORD)

    def start(self, function, launch, addresses):
        values = []
        for content, pointers in zip(launch.parameters, launch.pointers, strict=True):
            value = bytearray(content)
            for offset, number, distance in pointers:
                pointer = addresses[number] + distance
                value[offset : offset + WORD] = pointer.to_bytes(WORD, "little")
            values.append((ctypes.c_char * max(1, len(value))).from_buffer_copy(value or b"\0"))
        if launch.shared > MOST_STATIC:
            self.driver.cuFuncSetAttribute(function, DYNAMIC_SHARED, launch.shared)
        if launch.attributes:
            self.driver.cuFuncSetAttribute(function, ODD_CLUSTER, 1)
        attributes = ctypes.create_string_buffer(launch.attributes, max(1, len(launch.attributes)))
        count = len(launch.attributes) // ATTRIBUTE
        config = Config(launch.extents, launch.shared, None, ctypes.addressof(attributes), count)
        places = (ctypes.c_void_p * max(1, len(values)))(*map(ctypes.addressof, values))
        return self.driver.cuLaunchKernelEx(ctypes.byref(config), function, places, None)


class Config(ctypes.Structure):
    """`CUlaunchConfig`."""

    _fields_ = [
        ("extents", ctypes.c_uint * 6),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]
