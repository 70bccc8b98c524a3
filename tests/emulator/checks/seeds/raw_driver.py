# SPDX-License-Identifier: Apache-2.0
"""The driver's C functions called raw, and kernels as PTX."""

import ctypes

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
