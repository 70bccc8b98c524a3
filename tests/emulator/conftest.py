# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the emulator's tests: the driver's C functions called raw, kernels as PTX."""

import ctypes
import os
import subprocess
import sys
import textwrap

import pytest

# A driver that loads a kernel lazily waits for running kernels, and some here wait for the test.
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

HEADER = ".version 8.0\n.target sm_75\n.address_size 64\n"

KERNELS = {
    "empty": ".visible .entry empty() { ret; }",
    # out[i] = value, by one block
    "store": """
        .visible .entry store(.param .u64 out, .param .u32 value) {
            .reg .b32 %r<3>; .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value];
            cvta.to.global.u64 %rd1, %rd1; mov.u32 %r2, %tid.x;
            mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
            st.global.u32 [%rd3], %r1; ret;
        }""",
    # waits until *flag is not 0
    "latch": """
        .visible .entry latch(.param .u64 flag) {
            .reg .b32 %r<2>; .reg .b64 %rd<2>; .reg .pred %p<2>;
            ld.param.u64 %rd1, [flag];
        again:
            nanosleep.u32 100;
            ld.volatile.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;
            ret;
        }""",
    "limited": ".visible .entry limited() .maxntid 64, 1, 1 { ret; }",
    "exact": ".visible .entry exact() .reqntid 32, 2, 1 { ret; }",
    "with_shared": """
        .visible .entry with_shared(.param .u64 out) {
            .shared .align 4 .b8 buffer[1024]; .reg .b32 %r<2>; .reg .b64 %rd<2>;
            ld.param.u64 %rd1, [out]; mov.u32 %r1, 7; st.shared.u32 [buffer], %r1;
            ld.shared.u32 %r1, [buffer]; st.u32 [%rd1], %r1; ret;
        }""",
    "mixed": """
        .visible .entry mixed(.param .u64 a, .param .u8 b, .param .u16 c, .param .f64 d,
                              .param .align 8 .b8 e[24]) { ret; }""",
}


@pytest.fixture
def emulated():
    """Skip the test on a GPU, whose driver lacks the emulator's additions."""
    from cuda.core import emulation

    if not emulation.is_active():
        pytest.skip("this is about what the emulator adds to the driver")
    return emulation


class Driver:
    """The driver's functions by name, called raw.

    They return the CUresult as an int. An int is passed as 64 bits, bytes as text, None as null.
    """

    def __init__(self):
        self.modules = []

    def __getattr__(self, name):
        from cuda.bindings import _low

        address = _low.inspect_function_pointer("driver", name)
        if not address:
            raise AttributeError(f"the driver lacks {name}")
        function = ctypes.CFUNCTYPE(ctypes.c_int)(address)

        def call(*arguments):
            return function(*map(as_c, arguments))

        setattr(self, name, call)
        return call

    def output(self, name, *args, kind=ctypes.c_uint64):
        """The value that a function puts behind its first argument; it must succeed."""
        out = kind()
        code = getattr(self, name)(ctypes.byref(out), *args)
        assert code == 0, f"{name} returned {code}"
        return out.value

    def kernel(self, name, *, entry=None):
        """A kernel of KERNELS, or of PTX text; its module is unloaded at the end of the test."""
        text = HEADER + KERNELS.get(name, name)
        self.modules.append(self.output("cuModuleLoadData", text.encode()))
        return self.output("cuModuleGetFunction", self.modules[-1], (entry or name).encode())

    def launch(self, function, *arguments, grid=(1, 1, 1), block=(1, 1, 1), shared=0, stream=0):
        """Launch with arguments that are ctypes values."""
        pointers = (ctypes.c_void_p * max(1, len(arguments)))(
            *(ctypes.addressof(a) for a in arguments)
        )
        return self.cuLaunchKernel(function, *grid, *block, shared, stream, pointers, None)

    def read(self, address, count=1, kind=ctypes.c_uint32):
        """Values of device memory."""
        values = (kind * count)()
        assert self.cuMemcpyDtoH(values, address, ctypes.sizeof(values)) == 0
        return list(values)


def as_c(value):
    if isinstance(value, int):
        return ctypes.c_uint64(value & 2**64 - 1)
    if isinstance(value, bytes):
        return ctypes.c_char_p(value)
    return ctypes.c_void_p(None) if value is None else value


@pytest.fixture
def driver():
    """The driver, initialized, with the primary context of device 0 current."""
    raw = Driver()
    assert raw.cuInit(0) == 0
    context = raw.output("cuDevicePrimaryCtxRetain", 0)
    assert raw.cuCtxSetCurrent(context) == 0
    raw.context = context
    yield raw
    for module in raw.modules:
        raw.cuModuleUnload(module)
    raw.cuCtxSetCurrent(None)
    raw.cuDevicePrimaryCtxRelease(0)


@pytest.fixture
def flag(driver):
    """A pinned word that the latch kernel waits for; always released at the end."""
    address = driver.output("cuMemAllocHost", 4)
    word = ctypes.c_uint32.from_address(address)
    word.value = 0
    yield word
    word.value = 1
    driver.cuCtxSynchronize()
    driver.cuMemFreeHost(address)


@pytest.fixture
def stream(driver):
    """A non-blocking stream."""
    new_stream = driver.output("cuStreamCreate", 1)
    yield new_stream
    driver.cuStreamDestroy(new_stream)


@pytest.fixture
def run_emulated():
    """Run code in a fresh interpreter on the emulator: the completed process."""

    def run(code, *arguments, status=0, **options):
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_EMULATOR_")
        }
        environment["HALFWARP_BACKEND"] = "emulator"
        environment |= {f"HALFWARP_EMULATOR_{k.upper()}": str(v) for k, v in options.items()}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == status, done.stderr
        return done

    return run
