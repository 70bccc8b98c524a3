# SPDX-License-Identifier: Apache-2.0
"""Record the launches of a process: code, arguments, and the memory that the arguments point to.

The recorder replaces functions in the table of the driver, which all packages on `cuda.bindings`
call. A launch that another process cannot repeat is counted by the reason, and left out.
"""

import collections
import ctypes
import functools
import re
import struct
import threading

from cuda.bindings import _low
from cuda.core import emulation

from tests.emulator.checks.seeds.launches import ATTRIBUTE, WORD, Allocation, Launch

PIECE = 16384  # bytes whose writers `emulation.origin` tells at once
PATIENCE = 1  # seconds until other work counts as waiting for the program
LARGEST = 8 << 20  # bytes of memory for a launch
MOST = 32  # launches of one kernel with one grid and block
NO_MORE = 1  # the status of `cuFuncGetParamInfo` behind the last parameter
NUMBER = re.compile(rb"\b5[2-4]\d{12}\b")  # the decimal digits of such an address, and more
DEVICE_MEMORY = range(0x300000000000, 0x310000000000)
# Attributes of a launch without handles: cooperative, cluster, policies, priority, carveout.
KEPT_ATTRIBUTES = {2, 4, 5, 8, 11, 14, 16}
# Lines of a text that a cubin carries end with a zero.
VARIABLE = re.compile(
    rb"(?:^|\0)\s*(?:\.\w+\s+)*?\.(?:global|const)\b[^;={(]*?([\w$%]+)(?:\[\d*\])*\s*[;=]", re.M
)
FREE = re.compile(rb"\bcall[^;]*\bfree\b")
TEXTURES = re.compile(rb"\b(?:tex|tld4|suld|sust|sured|txq|suq)\.")
LOADS = {
    "cuModuleLoadData": 2,
    "cuModuleLoadDataEx": 5,
    "cuModuleLoadFatBinary": 2,
}
LIBRARY_LOADS = {"cuLibraryLoadData": 8}
LOOKUPS = {"cuModuleGetFunction": 3, "cuLibraryGetKernel": 3, "cuKernelGetFunction": 2}
LAUNCHES = {"cuLaunchKernel": 11, "cuLaunchCooperativeKernel": 10, "cuLaunchKernelEx": 4}
POINTER = ctypes.c_void_p


class LeftOut(Exception):
    """The reason why a launch is left out."""


def table_of(library):
    """Return the address of the table of a library's functions."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = POINTER, [ctypes.py_object, ctypes.c_char_p]
    api = pointer_of(_low._api, b"cuda.bindings._low._api")
    table = ctypes.CFUNCTYPE(POINTER, ctypes.c_char_p)(POINTER.from_address(api).value)
    return table(library.encode())


def replace(library, name, kinds, wrapper):
    """Replace a function in its table by `wrapper(original, *arguments)`; return the callback."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, *kinds)
    address = _low.inspect_function_pointer(library, name)
    original = kind(address)
    callback = kind(lambda *arguments: wrapper(original, *arguments))
    slot = table_of(library)
    while POINTER.from_address(slot).value != address:
        slot += ctypes.sizeof(POINTER)
    POINTER.from_address(slot).value = ctypes.cast(callback, POINTER).value
    return callback


def bytes_of_image(address):
    """Return the bytes of a code image, whose format has its size."""
    magic = ctypes.string_at(address, 4)
    if magic == b"\x7fELF":
        head = ctypes.string_at(address, 64)
        programs, sections = struct.unpack_from("<QQ", head, 32)
        sizes = struct.unpack_from("<4H", head, 54)
        size = max(programs + sizes[0] * sizes[1], sections + sizes[2] * sizes[3])
    elif magic == b"\x50\xed\x55\xba":  # fat binary
        _, _, head_size, size = struct.unpack("<IHHQ", ctypes.string_at(address, 16))
        size += head_size
    else:
        return ctypes.string_at(address)
    return ctypes.string_at(address, size)


class Recorder:
    """Records launches to a store until the process ends."""

    def __init__(self, store, driver):
        self.store, self.driver = store, driver
        self.counts = collections.Counter()
        self.images = {}  # handle of a module or library -> image, function that finds variables
        self.kernels = {}  # handle -> (handle of the module or library, name, sizes of parameters)
        self.texts = {}  # cubin -> PTX text
        self.launched = collections.Counter()
        self.callbacks = []
        self.waiter = None
        self.lock = threading.Lock()

    def install(self):
        """Replace the functions that load, find and launch."""
        for name in ("cuMemcpyDtoH", "cuStreamIsCapturing", "cuFuncGetParamInfo"):
            getattr(self.driver, name)  # before any is replaced
        for names, wrapper in (
            (LOADS, functools.partial(self.load, "cuModuleGetGlobal")),
            (LIBRARY_LOADS, functools.partial(self.load, "cuLibraryGetGlobal")),
            (LOOKUPS, self.look_up),
        ):
            for name, count in names.items():
                kinds = [POINTER] * count
                self.callbacks.append(replace("driver", name, kinds, wrapper))
        number = ctypes.c_uint
        grid = [number] * 7
        for name, kinds, wrapper in (
            ("cuLaunchKernel", [POINTER, *grid, POINTER, POINTER, POINTER], self.launch),
            ("cuLaunchCooperativeKernel", [POINTER, *grid, POINTER, POINTER], self.launch_together),
            ("cuLaunchKernelEx", [POINTER] * 4, self.launch_configured),
        ):
            self.callbacks.append(replace("driver", name, kinds, wrapper))
        self.callbacks.append(replace("nvrtc", "nvrtcGetCUBIN", [POINTER] * 2, self.compile))

    def compile(self, original, program, cubin):
        """Keep the PTX of a cubin, which only its process could execute."""
        status = original(program, cubin)
        size = ctypes.c_size_t()
        if status == 0 and _nvrtc("nvrtcGetPTXSize")(program, ctypes.byref(size)) == 0:
            text = ctypes.create_string_buffer(size.value)
            if _nvrtc("nvrtcGetPTX")(POINTER(program), text) == 0:
                self.texts[bytes_of_image(cubin)] = text.raw
        return status

    def load(self, finder, original, out, image, *options):
        status = original(out, image, *options)
        if status == 0:
            content = bytes_of_image(image)
            content = self.texts.get(content, content)
            self.images[POINTER.from_address(out).value] = (content, finder)
        return status

    def look_up(self, original, out, owner, *names):
        status = original(out, owner, *names)
        if status == 0:
            handle = POINTER.from_address(out).value
            if names:
                self.kernels[handle] = (owner, ctypes.string_at(names[0]), [])
            elif owner in self.kernels:
                self.kernels[handle] = self.kernels[owner]
        return status

    def launch(self, original, function, *arguments):
        *extents, shared, stream, values, extra = arguments
        launch = self.recorded(function, extents, shared, b"", stream, values, extra)
        return self.add(launch, original(function, *arguments))

    def launch_together(self, original, function, *arguments):
        *extents, shared, stream, values = arguments
        attribute = struct.pack("<II64s", 2, 0, (1).to_bytes(64, "little"))
        launch = self.recorded(function, extents, shared, attribute, stream, values, None)
        return self.add(launch, original(function, *arguments))

    def launch_configured(self, original, config, function, values, extra):
        *extents, shared, stream, first, count = struct.unpack(
            "<7I4xQQI", ctypes.string_at(config, 52)
        )
        attributes = (ctypes.string_at(first + ATTRIBUTE * i, ATTRIBUTE) for i in range(count))
        text = b"".join(each for each in attributes if each[0] in KEPT_ATTRIBUTES)
        launch = self.recorded(function, extents, shared, text, stream, values, extra)
        return self.add(launch, original(config, function, values, extra))

    def recorded(self, *arguments):
        """Return a launch that has not begun, or None and count why it is left out."""
        with self.lock:
            try:
                return self.launch_of(*arguments)
            except LeftOut as reason:
                self.counts[str(reason)] += 1
            except Exception as error:  # the program under test must not notice
                self.counts[f"{type(error).__name__}: {error}"] += 1

    def add(self, launch, status):
        """Store a launch unless the driver refused it, and return its status."""
        with self.lock:
            if launch and status:
                self.counts["left out: refused"] += 1
            elif launch:
                self.counts["new" if self.store.add(launch) else "repeated"] += 1
        return status

    def launch_of(self, function, extents, shared, attributes, stream, values, extra):
        state = ctypes.c_int()
        self.driver.cuStreamIsCapturing(POINTER(stream), ctypes.byref(state))
        if state.value:
            raise LeftOut("left out: captured")
        if function not in self.kernels:
            raise LeftOut("left out: kernel of another loader")
        owner, name, sizes = self.kernels[function]
        if owner not in self.images:
            raise LeftOut("left out: module of another loader")
        image, finder = self.images[owner]
        if TEXTURES.search(image):
            raise LeftOut("left out: textures or surfaces")
        if any(int(each) in DEVICE_MEMORY for each in NUMBER.findall(image)):
            raise LeftOut("left out: address in the code")
        self.launched[image, name, *extents] += 1
        if self.launched[image, name, *extents] > MOST:
            raise LeftOut(f"left out: more than {MOST} launches of a kernel")
        self.settle()
        parameters = self.parameters(function, sizes, values, extra)
        memory = Memory(self.driver)
        pointers = [memory.pointers_in(each) for each in parameters]
        variables = memory.variables(image, finder, owner)
        if FREE.search(image) and any(each.pointers for each in memory.allocations):
            raise LeftOut("left out: may free memory of an earlier kernel")
        extents = tuple(extents)
        code = (image, name, extents, shared, attributes)
        return Launch(*code, parameters, pointers, memory.allocations, variables)

    def settle(self):
        """Wait for other work. Some of it may wait for what the program does after the launch."""
        if self.waiter is None:
            self.waiter = threading.Thread(target=emulation.settle, daemon=True)
            self.waiter.start()
        self.waiter.join(PATIENCE)
        if self.waiter.is_alive():
            raise LeftOut("left out: other work waits for the program")
        self.waiter = None

    def parameters(self, function, sizes, values, extra):
        """Return the bytes of each parameter."""
        if not sizes:
            offset, size = ctypes.c_size_t(), ctypes.c_size_t()
            places = (ctypes.byref(offset), ctypes.byref(size))
            while not (end := self.driver.cuFuncGetParamInfo(function, len(sizes), *places)):
                sizes.append((offset.value, size.value))
            if end != NO_MORE:
                sizes.clear()
                raise LeftOut(f"left out: unknown parameters ({end})")
        if values:
            addresses = (POINTER * len(sizes)).from_address(values)
            return [
                ctypes.string_at(address, size)
                for address, (_, size) in zip(addresses, sizes, strict=True)
            ]
        if not sizes:
            return []
        entries = (POINTER * 5).from_address(extra)
        named = dict(zip(entries[:4:2], entries[1:4:2], strict=True))
        return [ctypes.string_at(named[1] + offset, size) for offset, size in sizes]


def _nvrtc(name):
    return ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER)(
        _low.inspect_function_pointer("nvrtc", name)
    )


class Memory:
    """The allocations that a launch reaches."""

    def __init__(self, driver):
        self.driver = driver
        self.bases = {}  # address -> number
        self.allocations = []

    def pointers_in(self, content, is_argument=True):
        """Return (offset, number of an allocation, distance) for each word that is a pointer."""
        pointers = []
        for offset in range(0, len(content) - WORD + 1, WORD):
            value = int.from_bytes(content[offset : offset + WORD], "little")
            if value not in DEVICE_MEMORY:
                continue
            number = self.number_of(value)
            if number is not None:
                pointers.append((offset, number, value - [*self.bases][number]))
            elif is_argument:
                raise LeftOut("left out: unknown pointer")
        return pointers

    def number_of(self, address):
        """Return the number of the allocation with an address, or None."""
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        places = (ctypes.byref(base), ctypes.byref(size))
        if self.driver.cuMemGetAddressRange(*places, address):
            return None
        if base.value not in self.bases:
            self.bases[base.value] = len(self.bases)
            self.allocations.append(None)
            self.allocations[self.bases[base.value]] = self.read(base.value, size.value)
        return self.bases[base.value]

    def read(self, base, size):
        """Return an allocation with the bytes that were written."""
        if size + sum(each.size for each in self.allocations if each) > LARGEST:
            raise LeftOut("left out: more memory than the limit")
        kind, is_managed = ctypes.c_uint(), ctypes.c_uint()
        self.driver.cuPointerGetAttribute(ctypes.byref(kind), 2, base)
        self.driver.cuPointerGetAttribute(ctypes.byref(is_managed), 8, base)
        if is_managed.value or kind.value == 1:  # the host writes unnoticed
            runs, name = [(0, size)], "managed" if is_managed.value else "host"
        else:
            runs, name = written_runs(base, size), "device"
        pieces = [(offset, self.copied(base + offset, count)) for offset, count in runs]
        pointers = [
            (offset + inner, *target)
            for offset, content in pieces
            for inner, *target in self.pointers_in(content, False)
        ]
        return Allocation(name, size, pieces, pointers)

    def copied(self, address, size):
        content = ctypes.create_string_buffer(size)
        if status := self.driver.cuMemcpyDtoH(content, address, size):
            raise LeftOut(f"left out: memory is not readable ({status})")
        return content.raw

    def variables(self, image, finder, owner):
        """Return the contents of a module's variables by name."""
        contents = {}
        for name in sorted(set(VARIABLE.findall(image))):
            address, size = ctypes.c_uint64(), ctypes.c_size_t()
            places = (ctypes.byref(address), ctypes.byref(size))
            if getattr(self.driver, finder)(*places, owner, name):
                continue  # a variable of this name inside a function
            if size.value > LARGEST:
                raise LeftOut("left out: more memory than the limit")
            content = self.copied(address.value, size.value)
            contents[name] = (content, self.pointers_in(content, False))
        return contents


def written_runs(base, size):
    """Return (offset, size) of the runs of words that something wrote."""
    runs = []
    for start in range(0, size, PIECE):
        for word in emulation.origin(base, offset=start, size=min(PIECE, size - start)):
            offset = start + word.offset
            if runs and sum(runs[-1]) == offset:
                runs[-1] = (runs[-1][0], runs[-1][1] + 4)
            else:
                runs.append((offset, 4))
    return [(offset, min(count, size - offset)) for offset, count in runs]
