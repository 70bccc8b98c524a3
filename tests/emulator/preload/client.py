# SPDX-License-Identifier: Apache-2.0
"""A program that uses the driver, NVRTC and nvJitLink by ctypes alone; tests select its cases."""

import _ctypes
import ctypes
import mmap
import os
import sys
import threading
from pathlib import Path

NVRTC, NVJITLINK = (
    os.environ.get(f"CLIENT_{name}", "").split(":") for name in ("NVRTC", "NVJITLINK")
)
SOURCE = b'extern "C" __global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x * 3; }'
CALLS = b'__device__ int three(int); extern "C" __global__ void fill(int* out) '
CALLS += b"{ out[threadIdx.x] = three(threadIdx.x); }"
CALLED = b"__device__ int three(int i) { return i * 3; }"
PTX, CUBIN, LTOIR = 2, 1, 3


class Library:
    """Functions that must succeed; `code` returns the result code of one instead."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def code(self, name, *arguments):
        return getattr(self.library, name)(*arguments)

    def __getattr__(self, name):
        def call(*arguments):
            code = self.code(name, *arguments)
            assert code == 0, f"{name} returned {code}"

        return call

    def content(self, kind, of, size_name=None):
        """Return the bytes that a function writes; `size_name` is the function that returns their
        number."""
        size = ctypes.c_size_t()
        getattr(self, size_name or f"{kind}Size")(of, ctypes.byref(size))
        data = (ctypes.c_char * size.value)()
        getattr(self, kind)(of, data)
        return data.raw


class Compiler(Library):
    def program(self, source, *options):
        handle = ctypes.c_void_p()
        self.nvrtcCreateProgram(ctypes.byref(handle), source, b"fill.cu", 0, None, None)
        words = (ctypes.c_char_p * (len(options) + 1))(b"-arch=sm_90", *options)
        self.nvrtcCompileProgram(handle, len(words), words)
        return handle

    def compiled(self, source, *options, kind="nvrtcGetCUBIN"):
        program = self.program(source, *options)
        data = self.content(kind, program)
        self.nvrtcDestroyProgram(ctypes.byref(program))
        return data


def linked(linker, kind, parts, *options, named="{}"):
    """Return the linked cubin; `named` maps a function's name to the name that is looked up."""
    link = ctypes.c_void_p()
    words = (ctypes.c_char_p * (len(options) + 1))(b"-arch=sm_90", *options)
    linker.__getattr__(named.format("nvJitLinkCreate"))(ctypes.byref(link), len(words), words)
    for part in parts:
        add = linker.__getattr__(named.format("nvJitLinkAddData"))
        add(link, kind, part, ctypes.c_size_t(len(part)), b"part")
    linker.__getattr__(named.format("nvJitLinkComplete"))(link)
    data = linker.content(
        named.format("nvJitLinkGetLinkedCubin"), link, named.format("nvJitLinkGetLinkedCubinSize")
    )
    linker.__getattr__(named.format("nvJitLinkDestroy"))(ctypes.byref(link))
    return data


def start():
    driver = Library("libcuda.so.1")
    context = ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    return driver


def run(driver, image):
    """Load and launch the kernel, then check its output."""
    module, kernel, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    code = driver.code("cuModuleLoadData", ctypes.byref(module), image)
    if code:
        print("load answered", code)
        return
    driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"fill")
    driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(128))
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
    driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None)
    values = (ctypes.c_int * 32)()
    driver.cuMemcpyDtoH_v2(values, memory, ctypes.c_size_t(128))
    driver.cuMemFree_v2(memory)
    driver.cuModuleUnload(module)
    print("ran" if list(values) == [3 * i for i in range(32)] else list(values))


def compile_and_run(*options):
    driver = start()
    run(driver, Compiler(NVRTC[0]).compiled(SOURCE, *map(str.encode, options)))


def compile_before_the_driver():
    image = Compiler(NVRTC[0]).compiled(SOURCE)
    run(start(), image)


def without_querying_the_size():
    compiler = Compiler(NVRTC[0])
    program, data = compiler.program(SOURCE), (ctypes.c_char * (1 << 20))()
    compiler.nvrtcGetCUBIN(program, data)
    compiler.nvrtcDestroyProgram(ctypes.byref(program))
    run(start(), data.raw)


def write(path):
    Path(path).write_bytes(Compiler(NVRTC[0]).compiled(SOURCE))


def read(path):
    run(start(), Path(path).read_bytes())


def link_and_run(named="{}"):
    compiler = Compiler(NVRTC[0])
    parts = [compiler.compiled(each, b"-rdc=true") for each in (CALLS, CALLED)]
    run(start(), linked(Library(NVJITLINK[0]), CUBIN, parts, named=named))


def link_ltoir():
    compiler = Compiler(NVRTC[0])
    parts = [
        compiler.compiled(each, b"-rdc=true", b"-dlto", kind="nvrtcGetLTOIR")
        for each in (CALLS, CALLED)
    ]
    run(start(), linked(Library(NVJITLINK[0]), LTOIR, parts, b"-lto"))


def link_ptx():
    compiler = Compiler(NVRTC[0])
    parts = [compiler.compiled(each, b"-rdc=true", kind="nvrtcGetPTX") for each in (CALLS, CALLED)]
    run(start(), linked(Library(NVJITLINK[0]), PTX, parts))


def two_compilers():
    driver = start()
    compilers = [Compiler(path) for path in NVRTC]
    programs = [compiler.program(SOURCE) for compiler in compilers]
    for compiler, program in zip(compilers, programs, strict=True):
        run(driver, compiler.content("nvrtcGetCUBIN", program))
        compiler.nvrtcDestroyProgram(ctypes.byref(program))


def wrong_arguments():
    """Return the result codes of the functions for invalid arguments."""
    compiler, linker = Compiler(NVRTC[0]), Library(NVJITLINK[0])
    program, size, none = compiler.program(SOURCE), ctypes.c_size_t(), ctypes.c_void_p()
    calls = [
        (compiler, "nvrtcGetCUBINSize", None, ctypes.byref(size)),
        (compiler, "nvrtcGetCUBINSize", program, None),
        (compiler, "nvrtcGetCUBIN", None, None),
        (compiler, "nvrtcGetCUBIN", program, None),
        (compiler, "nvrtcDestroyProgram", None),
        (compiler, "nvrtcDestroyProgram", ctypes.byref(none)),
        (linker, "nvJitLinkCreate", None, 0, None),
        (linker, "nvJitLinkCreate", ctypes.byref(none), 1, None),
        (linker, "nvJitLinkComplete", None),
        (linker, "nvJitLinkAddData", None, PTX, None, ctypes.c_size_t(3), None),
        (linker, "nvJitLinkGetLinkedCubinSize", None, ctypes.byref(size)),
        (linker, "nvJitLinkGetLinkedCubin", None, None),
        (linker, "nvJitLinkDestroy", None),
    ]
    print(*(library.code(name, *arguments) for library, name, *arguments in calls))


def in_threads():
    driver, compiler, failed = start(), Compiler(NVRTC[0]), []
    images = [None] * 8

    def work(i):
        try:
            images[i] = compiler.compiled(SOURCE)
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed
    for image in images:
        run(driver, image)


def forked():
    """Fork while a thread compiles: the children look functions up and exit normally."""
    compiler, done = Compiler(NVRTC[0]), threading.Event()
    # The first compilation loads a library. A child that is forked during the load has an
    # inconsistent loader: glibc terminates it, in any program, when it loads a library too.
    compiler.compiled(SOURCE)

    def work():
        while not done.is_set():
            compiler.compiled(SOURCE)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            if (child := os.fork()) == 0:
                program, size = ctypes.c_void_p(), ctypes.c_size_t()
                compiler.code("nvrtcGetCUBINSize", program, ctypes.byref(size))
                compiler.code("nvrtcDestroyProgram", ctypes.byref(program))
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    finally:
        done.set()
        thread.join()
    run(start(), compiler.compiled(SOURCE))


def opened_again():
    """Reopen the library, which has another address after each close."""
    driver, refs = start(), []
    for _ in range(6):
        compiler = Compiler(NVRTC[0])
        run(driver, compiler.compiled(SOURCE))
        _ctypes.dlclose(compiler.library._handle)
        refs.append(mmap.mmap(-1, 50_000_000))


def no_compiler():
    """Look functions up in a process that has neither library."""
    everything = ctypes.CDLL(None)
    result = [name for name in ("nvrtcGetCUBIN", "nvJitLinkCreate") if hasattr(everything, name)]
    print("found", result, hasattr(everything, "getpid"))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
    sys.stdout.flush()
